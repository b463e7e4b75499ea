//! Several values of an option in one command: `run tproc-c -c 1,4,16` is a suite of three runs.

use std::ffi::{OsStr, OsString};

use pgdyno_plan::Order;
use pgdyno_plan::options::{AnyOption, all};
use pgdyno_report::scaling::Axis;
use pgdyno_workload::ValueKind;
use pgdyno_workloads::options::Options;

/// Settings of PostgreSQL whose value is a list itself.
const LISTS: [&str; 14] = [
    "createrole_self_grant",
    "datestyle",
    "debug_io_direct",
    "listen_addresses",
    "local_preload_libraries",
    "log_destination",
    "restrict_nonsystem_relation_kind",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "synchronized_standby_slots",
    "synchronous_standby_names",
    "temp_tablespaces",
    "unix_socket_directories",
];

/// The option of settings.
const SET: &str = "set";

/// Options that the suite has in another place.
const BY_SUITE: [&str; 3] = ["target", "config", "label"];

/// An option with several values.
#[derive(Clone)]
pub struct SweptOption {
    option: AnyOption,
    /// The setting, if the option is `--set`.
    setting: Option<String>,
    values: Vec<String>,
}

impl SweptOption {
    /// Returns a value as the option takes it.
    fn given(&self, value: &str) -> String {
        self.setting.as_ref().map_or_else(|| value.to_owned(), |setting| format!("{setting}={value}"))
    }

    /// Returns the beginning of the arguments that give it a value: `--clients=`.
    #[must_use]
    pub fn argument(&self) -> String {
        self.option.argument(&self.given(""))
    }

    /// Checks its values as if each were given alone.
    ///
    /// # Errors
    /// Names the first wrong value.
    pub fn check(&self) -> Result<(), String> {
        let name = self.option.spec().name;
        self.values.iter().enumerate().try_for_each(|(nth, value)| {
            if self.values[..nth].contains(value) {
                return Err(format!("invalid value '{}' for --{name}: {value} is there twice", self.values.join(",")));
            }
            let wrong = |why| format!("invalid value '{value}' for --{name}: {why}");
            self.option.set(&mut Order::default(), &self.given(value)).map_err(wrong)
        })
    }

    /// Returns the axis on which runs with this name of the scale lie; `None` if no axis has the option.
    #[must_use]
    pub fn axis(&self, scale_name: &str) -> Option<Axis> {
        match (&self.setting, self.option) {
            (Some(setting), _) => Some(Axis::Setting(setting.to_lowercase())),
            (None, AnyOption::Run(option)) => Axis::named(option.spec.name),
            (None, AnyOption::Workload(option)) if option.param == scale_name => Some(Axis::Scale),
            (None, AnyOption::Workload(option)) => Some(Axis::Param(option.param.to_owned())),
        }
    }

    /// Returns the name of the option, or of the setting.
    #[must_use]
    pub fn title(&self) -> &str {
        self.setting.as_deref().unwrap_or(self.option.spec().name)
    }
}

/// A run with several values of some options.
#[derive(Clone)]
pub struct Sweep {
    /// The arguments with the first value of each list.
    pub first: Vec<OsString>,
    /// The options with several values, in the order of the arguments.
    pub options: Vec<SweptOption>,
}

impl Sweep {
    /// Finds lists of values among the arguments of `pgdyno run`, the program's name first. `None` if there are none.
    pub fn of(args: &[OsString]) -> Option<Self> {
        let (program, rest) = args.split_first()?;
        let (command, rest) = rest.split_first().filter(|(command, _)| *command == "run")?;
        let (mut first, mut options) = (vec![program.clone(), command.clone()], Vec::new());
        let mut rest = rest.iter();
        while let Some(arg) = rest.next() {
            let Some((option, attached)) = option_of(arg) else {
                first.push(arg.clone());
                continue;
            };
            let separate = if attached.is_none() { rest.next() } else { None };
            let value = attached.or_else(|| separate.and_then(|value| value.to_str()));
            match value.and_then(|value| list(option, value)) {
                Some(swept) => {
                    first.push(swept.option.argument(&swept.given(&swept.values[0])).into());
                    options.push(swept);
                }
                None => first.extend(std::iter::once(arg).chain(separate).cloned()),
            }
        }
        (!options.is_empty()).then_some(Self { first, options })
    }

    /// Returns the suite of the runs on a target. `order` has everything that was given beside the lists.
    pub fn suite(&self, order: &Order, target: &str, name: &str) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let list =
            |texts: &[String]| format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "));
        let mut text =
            format!("name = {}\norder = \"as-written\"\ntargets = {}\n", quoted(name), list(&[target.to_owned()]));
        text += &format!("\n[[run]]\nwhat = {}\n", list(&what(order)));
        text += &format!("args = {}\n", list(&self.others(order)));
        let mut matrix: Vec<String> = Vec::new();
        // They come first, so that a private server restarts least often.
        let settings = self.settings();
        if !settings.is_empty() {
            let pair = |(name, value): &(&str, &str)| format!("{} = {}", quoted(name), quoted(value));
            let table =
                |pairs: &Vec<(&str, &str)>| format!("{{ {} }}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "));
            matrix.push(format!("settings = [{}]", settings.iter().map(table).collect::<Vec<_>>().join(", ")));
        }
        for swept in self.options.iter().filter(|swept| swept.setting.is_none()) {
            let key = swept.option.suite_key();
            matrix.extend(key.map(|key| format!("{key} = [{}]", swept.values.join(", "))));
        }
        text + &format!("matrix = {{ {} }}\n", matrix.join(", "))
    }

    /// Returns every combination of the settings that have several values.
    fn settings(&self) -> Vec<Vec<(&str, &str)>> {
        let swept = self.options.iter().filter_map(|option| Some((option.setting.as_deref()?, &option.values)));
        let mut all: Vec<Vec<(&str, &str)>> = Vec::new();
        for (setting, values) in swept {
            let before = if all.is_empty() { vec![Vec::new()] } else { std::mem::take(&mut all) };
            for known in before {
                for value in values {
                    all.push(known.iter().copied().chain([(setting, value.as_str())]).collect());
                }
            }
        }
        all
    }

    /// Returns the arguments of all runs beside workload, target and lists.
    fn others(&self, order: &Order) -> Vec<String> {
        let mut args = Vec::new();
        for (_, option) in all::<Options>().filter(|(_, option)| !BY_SUITE.contains(&option.spec().name)) {
            args.extend(option.get(order).iter().map(|value| option.argument(value)));
        }
        let lists: Vec<String> = self.options.iter().map(SweptOption::argument).collect();
        args.retain(|arg| !lists.iter().any(|list| arg.starts_with(list)));
        args
    }
}

/// Returns the option that an argument gives, and its value if that is part of the argument.
fn option_of(arg: &OsStr) -> Option<(AnyOption, Option<&str>)> {
    let text = arg.to_str()?;
    let mut options = all::<Options>().map(|(_, option)| option).filter(|option| takes_lists(*option));
    if let Some(long) = text.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let option = options.find(|option| option.spec().name == name || option.spec().aliases.contains(&name))?;
        return Some((option, value));
    }
    let mut letters = text.strip_prefix('-')?.chars();
    let letter = letters.next()?;
    let option = options.find(|option| option.spec().short == Some(letter))?;
    let value = letters.as_str();
    let value = value.strip_prefix('=').unwrap_or(value);
    Some((option, Some(value).filter(|value| !value.is_empty())))
}

/// Returns true if a comma in a value of this option can only separate values.
fn takes_lists(option: AnyOption) -> bool {
    let spec = option.spec();
    option.suite_key().is_some()
        && (matches!(spec.value, ValueKind::Whole | ValueKind::Number | ValueKind::Rate) || spec.name == SET)
}

/// Returns the option with its values; `None` if there is only one.
fn list(option: AnyOption, value: &str) -> Option<SweptOption> {
    let name = option.spec().name;
    let (setting, values) = match value.split_once('=') {
        Some((setting, _)) if name == SET && LISTS.contains(&setting.to_ascii_lowercase().as_str()) => return None,
        Some((setting, values)) if name == SET => (Some(setting.to_owned()), values),
        _ => (None, value),
    };
    let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
    // `--agents` also takes the names of machines.
    let is_number = |value: &String| value.strip_suffix('x').unwrap_or(value).parse::<f64>().is_ok();
    let can_be_values = name == SET || values.iter().all(is_number);
    (values.len() > 1 && can_be_values).then_some(SweptOption { option, setting, values })
}

/// Returns the workload as a suite names it. The names of the command line may be those of files without a path.
fn what(order: &Order) -> Vec<String> {
    let names = order.workload.names.iter();
    let path =
        |name: &String| match name.contains('/') || name.ends_with(".sql") || !std::path::Path::new(name).is_dir() {
            true => name.clone(),
            false => format!("./{name}"),
        };
    let names: Vec<_> = names.map(path).collect();
    if names.is_empty() { vec![order.workload.id().to_owned()] } else { names }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(args: &str) -> Option<Sweep> {
        let args: Vec<OsString> = std::iter::once("pgdyno").chain(args.split(' ')).map(Into::into).collect();
        Sweep::of(&args)
    }

    #[test]
    fn lists_are_found_in_every_form_of_an_option_and_nowhere_else() {
        for args in
            ["run noop -c 1,4", "run noop -c1,4", "run noop -c=1,4", "run noop --clients 1,4", "run noop --clients=1,4"]
        {
            let sweep = of(args).unwrap();
            assert_eq!(sweep.options.len(), 1, "{args}");
            let swept = &sweep.options[0];
            assert_eq!((swept.title(), swept.values.join(" ").as_str()), ("clients", "1 4"), "{args}");
            let first: Vec<_> = sweep.first.iter().map(|arg| arg.to_str().unwrap()).collect();
            assert_eq!(first.join(" "), "pgdyno run noop --clients=1", "{args}");
        }
        for args in [
            "run noop -c 4",
            "run tproc-h --queries 1,6,22",
            "run tpcb-like --set search_path=a,b",
            "run tpcb-like --label x=1,2",
            "run noop -c 1,x",
            "run noop --agents ssh:db1,db2",
            "ab noop -c 1,4",
            "search noop -R 1,4",
        ] {
            assert!(of(args).is_none(), "{args}");
        }
    }

    #[test]
    fn the_axis_is_what_the_option_changes() {
        let axis = |args: &str, scale_name: &str| of(args).unwrap().options[0].axis(scale_name);
        assert_eq!(axis("run noop -j 1,2", ""), Some(Axis::Threads));
        assert_eq!(axis("run tproc-c -w 1,2", "warehouses"), Some(Axis::Scale));
        assert_eq!(axis("run tpcb-like --set Work_Mem=1MB,2MB", "scale"), Some(Axis::Setting("work_mem".to_owned())));
        assert_eq!(axis("run ycsb-a --fields 1,2", "records"), Some(Axis::Param("fields".to_owned())));
        assert_eq!(axis("run tpcb-like --max-tries 1,2", "scale"), None);
    }

    #[test]
    fn the_suite_has_a_run_for_every_combination() {
        let sweep = of("run tproc-c -w 1,2 --set work_mem=4MB,64MB --set jit=on,off -T 10").unwrap();
        let mut order = Order { no_check: true, ..Order::of("tproc-c") };
        order.target.settings = vec![("jit".into(), "on".into()), ("fsync".into(), "off".into())];
        let text = sweep.suite(&order, "embedded", "x");
        assert_eq!(
            text,
            "name = \"x\"\norder = \"as-written\"\ntargets = [\"embedded\"]\n\n[[run]]\nwhat = [\"tproc-c\"]\n\
             args = [\"--set=fsync=off\", \"--no-check\"]\n\
             matrix = { settings = [{ \"work_mem\" = \"4MB\", \"jit\" = \"on\" }, \
             { \"work_mem\" = \"4MB\", \"jit\" = \"off\" }, { \"work_mem\" = \"64MB\", \"jit\" = \"on\" }, \
             { \"work_mem\" = \"64MB\", \"jit\" = \"off\" }], warehouses = [1, 2] }\n"
        );
    }
}
