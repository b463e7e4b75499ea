//! Variables that can have a value. pgbench does not check this: it sends a name that nothing sets as NULL, or leaves
//! it in the text.

use std::collections::BTreeSet;

use crate::functions::nearest;
use crate::script_error::Site;
use crate::{Collect, CommandKind, Script, ScriptError, ScriptText, Sql};

/// Names that can have a value in a run, on any path.
#[derive(Clone, Debug)]
pub struct Defined {
    names: BTreeSet<String>,
    /// Prefixes of `\gset` and `\aset`, and of `\values` before its list is read: the server determines the names of their
    /// columns.
    prefixes: Vec<Vec<u8>>,
}

impl Defined {
    /// Collects the names that the commands of all scripts set, and those that are `given`. `columns` are those of each list of
    /// values; `None` before they are read.
    #[must_use]
    pub fn new<'a>(
        scripts: &[Script],
        given: impl IntoIterator<Item = &'a str>,
        columns: Option<&[&[String]]>,
    ) -> Self {
        let mut defined = Self { names: given.into_iter().map(str::to_owned).collect(), prefixes: Vec::new() };
        for command in scripts.iter().flat_map(|script| &script.commands) {
            let name = match &command.kind {
                CommandKind::Set(set) => &set.name,
                CommandKind::SetShell(set) => &set.name,
                CommandKind::Sql(Sql { collect: Collect::Gset { prefix } | Collect::Aset { prefix }, .. }) => {
                    defined.prefixes.push(prefix.clone());
                    continue;
                }
                CommandKind::Values(draw) => {
                    match columns.and_then(|columns| columns.get(draw.list)) {
                        None => defined.prefixes.push(draw.prefix.to_vec()),
                        Some(columns) => {
                            let names = columns.iter().map(|column| draw.variable(column));
                            defined.names.extend(names.map(|name| String::from_utf8_lossy(&name).into_owned()));
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            defined.names.insert(String::from_utf8_lossy(name).into_owned());
        }
        defined
    }

    fn knows(&self, name: &[u8]) -> bool {
        self.prefixes.iter().any(|prefix| name.starts_with(prefix) && name.len() > prefix.len())
            || self.names.contains(&*String::from_utf8_lossy(name))
    }

    /// Checks the SQL of a script. If it is sent as `text`, a slice of an array such as `a[low:high]` stays as it is:
    /// only variables with a value are replaced.
    ///
    /// # Errors
    /// Returns the first variable that nothing sets.
    pub fn check(&self, script: &Script, source: &ScriptText<'_>, text: bool) -> Result<(), ScriptError> {
        for place in &script.mentions {
            let (name, before) = (&source.text[place.start + 1..place.end], &source.text[..place.start]);
            let is_slice = before.last().is_some_and(|b| b.is_ascii_alphanumeric() || b"_)]\"[".contains(b));
            if self.knows(name) || text && is_slice {
                continue;
            }
            let shown = String::from_utf8_lossy(name);
            let message = format!("nothing sets the variable \"{shown}\"");
            let hint = match nearest(name, self.names.iter().map(String::as_str)) {
                Some(nearest) => format!("did you mean :{nearest}?"),
                None if is_slice => "in a slice of an array, write a space after the colon".to_owned(),
                None => format!("set it by -D {shown}=VALUE, or by \\set or \\gset in a script"),
            };
            let site = Site { source: &script.name, text: source.text, line: 1 };
            return Err(site.other(message.clone(), &message, &hint, Some(place.clone())));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{VariableNames, parse};

    fn check_as(text: bool, scripts: &[&str]) -> Result<(), ScriptError> {
        let mut names = VariableNames::new();
        let sources: Vec<_> = scripts.iter().map(|text| ScriptText { name: "a.sql", text: text.as_bytes() }).collect();
        let parsed: Vec<_> = sources.iter().map(|source| parse(source, &mut names).unwrap()).collect();
        let defined = Defined::new(&parsed, ["aid", "scale", "client_id", "random_seed", "default_seed"], None);
        parsed.iter().zip(&sources).try_for_each(|(script, source)| defined.check(script, source, text))
    }

    fn check(scripts: &[&str]) -> Result<(), ScriptError> {
        check_as(false, scripts)
    }

    #[test]
    fn a_mistyped_variable_is_reported_with_its_place_and_the_nearest_name() {
        let error = check(&["select 1;\nupdate t set a = 1\n  where aid = :adi;\n"]).unwrap_err();
        let reported = "a.sql:3:15: nothing sets the variable \"adi\"\n 3 |   where aid = :adi;\n   |               ^^^^\nhint: did you mean :aid?";
        assert_eq!(error.to_string(), reported);
        let far = check(&["select :customer;"]).unwrap_err();
        assert_eq!(far.hint(), Some("set it by -D customer=VALUE, or by \\set or \\gset in a script"));
    }

    #[test]
    fn whatever_can_set_a_variable_on_any_path_is_enough() {
        let valid: [&[&str]; 9] = [
            &["select :aid, :scale, :client_id, :random_seed, :default_seed;"],
            &["\\if :scale > 1\n\\set x 1\n\\else\n\\set y 1\n\\endif\nselect :x, :y;"],
            &["select :x;\n\\set x 1\n"],
            // Set by another script of the run: a client's variables outlive its transactions.
            &["select :x;", "\\set x 1\nselect 1;"],
            &["\\setshell x echo 1\nselect :x;"],
            &["select 1 as x \\gset\nselect :x;"],
            &["select 1 as x \\gset p_\nselect :p_x;"],
            &["select 1 as x\\; select 2 as y \\aset\nselect :x, :y;"],
            &["\\sleep :x ms\nselect 1;"],
        ];
        for scripts in valid {
            check(scripts).unwrap_or_else(|error| panic!("{error}"));
        }
        let (name, prefix) = ("select :x;\n\\set X 1\n", "select 1 as x \\gset p_\nselect :q_x;");
        assert!(check(&[name]).is_err() && check(&[prefix]).is_err());
    }

    #[test]
    fn quotes_comments_and_casts_name_no_variables() {
        let sql = "select 'a:b', E'\\':c', \"d:e\", $$ :f $$, $x$ :g $x$, 1::int, now()::time /* :h /* :i */ :j */ -- :k\n, \
                   '12:30'::time, f(a := 1), :::l;";
        check(&[sql]).unwrap_or_else(|error| panic!("{error}"));
        let slice = "select a[1:2], a[low:high], a[:high] from t;";
        check_as(true, &[slice]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(check(&[slice]).unwrap_err().hint(), Some("in a slice of an array, write a space after the colon"));
        assert!(check_as(true, &["select a[1] = :adi from t;"]).is_err());
    }
}
