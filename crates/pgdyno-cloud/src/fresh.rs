//! The file that `pgdyno cloud init` writes: everything that lab.toml may say, with what a module has for it.

use std::fmt::Write as _;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_plan::recipe;
use pgdyno_text::wrap;

use crate::fresh_sizes;
use crate::lab_file::quoted;
use crate::module::Module;

/// Returns a file for a module, or for a recipe and the module of its guide. `instead` is the module to take for a recipe.
///
/// # Errors
/// When there is no such module or recipe, or no module is for the recipe.
pub fn initial_file(what: &str, instead: Option<&str>) -> Result<String> {
    let (module, recipe) = match Module::all()?.get(what) {
        Some(module) => (module, None),
        None => of_recipe(Module::aliased(what)?.unwrap_or(what), instead)?,
    };
    let name = recipe.map_or(module.name.as_str(), |_| what.rsplit('/').next().unwrap_or(what));
    let about = [comment(&module.title), comment(&format!("Verified: {}", module.verified.line()))].concat();
    let mut text = about.replace("\n\n", "\n").trim_start().to_owned();
    // Memory takes every line.
    let _ = write!(
        text,
        "name = {}                    # a part of every name in the cloud\nmodule = {}\nttl = \"6h\"                        # everything may be deleted after it\n",
        quoted(&short_name(name)),
        quoted(&module.name)
    );
    let _ = write!(
        text,
        "# max_cost = \"60USD\"              # prices of the sizes for the ttl must stay below it\nparallel = 1                      # sizes that exist at a time\n\n[run]\n"
    );
    // A recipe may be for one of the sizes only.
    let has_all = recipe.is_none() || Module::aliased(what)?.is_some();
    let recipe = recipe.or_else(|| module.guide.first().map(String::as_str));
    match recipe {
        Some(recipe) => {
            let _ = writeln!(text, "recipe = {}", quoted(recipe));
            let on = if module.is_local() { "" } else { "# " };
            let _ = writeln!(
                text,
                "{on}fit = true                      # scaled to the size: its CPUs, and memory = \"128GB\" in each [[size]]\n{on}short = true                    # a shorter window\n# args = [\"-w\", \"100\"]             # options that depart from the recipe"
            );
        }
        None => {
            let _ = writeln!(text, "command = [\"run\", \"tproc-c\", \"-w\", \"1\", \"-c\", \"4\", \"-T\", \"10\"]");
        }
    }
    let _ = writeln!(
        text,
        "# suite = \"suite.toml\"            # instead: a suite whose targets are [\"lab\"]\n\n[variables]"
    );
    for variable in &module.variables {
        let about = &variable.about;
        let _ = match (&variable.default, variable.required) {
            (_, true) => writeln!(text, "{} = \"\"    # required: {about}", variable.name),
            (Some(default), _) => writeln!(text, "# {} = {}    # {about}", variable.name, inline(default)),
            (None, _) => writeln!(text, "# {} =    # {about}", variable.name),
        };
    }
    let price = match module.is_local() {
        true => "this machine costs nothing more; with a price, reports have price per performance".to_owned(),
        false => format!("what everything of the size costs an hour, together; see {}", module.price),
    };
    text += &comment(&format!("price_per_hour: {price}"));
    let sizes = fresh_sizes::sizes(module, recipe, has_all);
    if sizes.iter().any(|size| size.contains_key("recipe_size")) {
        text += &comment("recipe_size: the size of the recipe whose numbers are taken as they are");
    }
    for size in &sizes {
        text += "\n[[size]]\n";
        // Its name first.
        let is_name = |(key, _): &(&String, &toml::Value)| key.as_str() == "name";
        for (key, value) in size.iter().filter(is_name).chain(size.iter().filter(|entry| !is_name(entry))) {
            let _ = writeln!(text, "{key} = {}", inline(value));
        }
        let _ = writeln!(text, "{}", if module.is_local() { "price_per_hour = 0" } else { "# price_per_hour =" });
    }
    Ok(text)
}

/// Returns lines of a comment.
fn comment(words: &str) -> String {
    let mut lines = Vec::new();
    // Memory takes every line.
    let _ = wrap::hanging(&mut lines, "# ", 2, words);
    let lines = String::from_utf8_lossy(&lines).into_owned();
    format!("\n# {}\n", lines.trim_start_matches("# ").trim_end().replace("\n  ", "\n# "))
}

/// Returns true if [`initial_file`] knows a recipe of this name.
///
/// # Errors
/// When a description of this program is wrong.
pub fn is_recipe(name: &str) -> Result<bool> {
    Ok(recipe::find(name).is_some() || Module::aliased(name)?.is_some())
}

fn of_recipe<'a>(name: &'a str, instead: Option<&str>) -> Result<(&'static Module, Option<&'a str>)> {
    if recipe::find(name).is_none() {
        let error = CommandError::new(Code::Start, format!("there is no module and no recipe {name}"));
        let near = recipe::nearest(name).map_or_else(String::new, |near| format!("the nearest recipe is {near}; "));
        return Err(error.hint(format!("{near}`pgdyno cloud list` has the modules, `pgdyno list recipes` the recipes")));
    }
    let module = match instead {
        Some(module) => Some(Module::named(module)?),
        None => Module::of_recipe(name)?,
    };
    let module = module.ok_or_else(|| {
        CommandError::new(Code::Start, format!("no module is for recipe {name}"))
            .hint("give --module; `pgdyno cloud list` has them")
    })?;
    Ok((module, Some(name)))
}

/// Returns a name that a lab may have.
fn short_name(name: &str) -> String {
    let name: String =
        name.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').take(20).collect();
    name.trim_matches('-').to_owned()
}

/// Returns a value as TOML in one line.
fn inline(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => quoted(text),
        toml::Value::Array(values) => format!("[{}]", values.iter().map(inline).collect::<Vec<_>>().join(", ")),
        toml::Value::Table(table) if table.is_empty() => "{}".to_owned(),
        toml::Value::Table(table) => {
            let entries: Vec<_> = table.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => format!("{number:?}"),
        toml::Value::Boolean(flag) => flag.to_string(),
        toml::Value::Datetime(time) => time.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::lab_file::LabFile;

    #[test]
    fn the_file_of_every_module_is_one_that_can_be_read_once_it_is_filled_in() {
        for name in Module::all().unwrap().keys() {
            let text = initial_file(name, None).unwrap().replace(" = \"\" ", " = \"x\" ");
            let lab =
                LabFile::read("lab.toml", &text, Path::new("/")).unwrap_or_else(|error| panic!("{}", error.text()));
            assert_eq!(&lab.module.name, name);
            assert!(!lab.sizes.is_empty());
        }
    }

    #[test]
    fn a_recipe_brings_its_module_and_its_sizes() {
        let Some(module) = Module::of_recipe("citus/tproc-c-250").unwrap() else { return };
        let text = initial_file("citus/tproc-c-250", None).unwrap();
        assert!(
            text.contains(&format!("module = \"{}\"", module.name)) && text.contains("name = \"c4-2w8\""),
            "{text}"
        );
        // The name that the document has for it.
        let bulk = initial_file("citus/bulk", None).unwrap();
        assert!(bulk.contains("name = \"bulk\"") && bulk.contains("recipe = \"citus/tproc-c-250\""), "{bulk}");
        assert!(bulk.contains("name = \"c8-8w16\""), "{bulk}");
        let here = initial_file("citus/tproc-c-250", Some("local")).unwrap();
        assert!(here.contains("module = \"local\"") && here.contains("\nfit = true"), "{here}");
        assert!(initial_file("citus/nothing", None).is_err());
    }
}
