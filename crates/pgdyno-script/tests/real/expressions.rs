//! Expressions, generated and chosen: their values, draws and errors.

use std::sync::Arc;

use crate::pgbench::{Pgbench, Server};
use pgdyno_script::{Command, CommandKind, EvalError, ScriptText, Value, VariableNames, Variables, parse};
use pgdyno_workload::Rng;

const SEED: &str = "5432";

/// Given by `-D`, so with a text and not a value.
const DEFINED: &[(&str, &str)] =
    &[("t", "yes"), ("five", " +5"), ("half", "0.5"), ("hex", "0x1F"), ("nothing", "NULL"), ("big", "1e18")];

/// Set at the beginning of each script, and so values.
const PREAMBLE: &str = "\\set i 7\n\\set n -3\n\\set d 2.5\n\\set b true\n\\set f false\n\\set z null\n";

/// Writes expressions of a wanted type, and sometimes of another.
struct Writer(Rng);

#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Int,
    Double,
    Bool,
}

impl Writer {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.0.up_to(from.len() as u64 - 1) as usize]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.0.up_to(99) < percent
    }

    fn number(&mut self, depth: u32) -> String {
        let wanted = if self.chance(70) { Wanted::Int } else { Wanted::Double };
        self.write(wanted, depth)
    }

    fn write(&mut self, wanted: Wanted, depth: u32) -> String {
        let wanted = match self.0.up_to(99) {
            0 => Wanted::Bool,
            1 => Wanted::Double,
            2 => return self.pick(&["null", ":z", ":nothing"]).to_owned(),
            _ => wanted,
        };
        if depth == 0 || self.chance(20) {
            return self.leaf(wanted).to_owned();
        }
        let depth = depth - 1;
        if self.chance(8) {
            let (condition, a, b) =
                (self.write(Wanted::Bool, depth), self.write(wanted, depth), self.write(wanted, depth));
            return match self.chance(50) {
                true => format!("CASE WHEN {condition} THEN {a} ELSE {b} END"),
                false => format!("case when {condition} then {a} when {} then {b} end", self.number(depth)),
            };
        }
        match wanted {
            Wanted::Int => self.int(depth),
            Wanted::Double => self.double(depth),
            Wanted::Bool => self.bool(depth),
        }
    }

    fn leaf(&mut self, wanted: Wanted) -> &'static str {
        match wanted {
            Wanted::Int => self.pick(&[
                "0",
                "1",
                "2",
                "10",
                "63",
                "1000003",
                "9223372036854775807",
                "-9223372036854775808",
                ":i",
                ":n",
                ":five",
                ":client_id",
                ":scale",
                "-5",
                "007",
            ]),
            Wanted::Double => {
                self.pick(&["0.0", "1.5", ".25", "3.", "1e3", "1E-7", "12345.678e20", ":d", ":half", ":hex", ":big"])
            }
            Wanted::Bool => self.pick(&["true", "FALSE", ":b", ":f", ":t"]),
        }
    }

    fn int(&mut self, depth: u32) -> String {
        let a = self.write(Wanted::Int, depth);
        let choice = self.0.up_to(12);
        match choice {
            0 => format!("-{a}"),
            1 => format!("~ {a}"),
            2 => format!("abs({})", self.leaf(Wanted::Int)),
            3 => format!("int({})", self.number(depth)),
            4 => format!("hash({a})"),
            5 => format!("{}({a}, {})", self.pick(&["hash_fnv1a", "Hash_Murmur2"]), self.write(Wanted::Int, depth)),
            6 => {
                format!("permute({a}, {})", self.pick(&["1", "2", "3", "1000", "9223372036854775807", "random(1, 50)"]))
            }
            7 => format!("{}({a}, {}, {})", self.pick(&["least", "greatest"]), self.number(depth), self.number(depth)),
            8 => {
                let b = self.write(Wanted::Int, 0);
                let low = self.pick(&["0", "1", "-100", ":n"]);
                format!("random({low}, {})", if self.chance(50) { b } else { "1000".to_owned() })
            }
            9 => {
                let draw = self.pick(&[
                    "random_gaussian(-10, 1000000, 2.5)",
                    "random_gaussian(1, 100, 9)",
                    "random_exponential(1, 1000, 0.01)",
                    "random_exponential(-5, 9223372036854775801, 7)",
                    "random_zipfian(1, 100000, 1.05)",
                    "random_zipfian(7, 9, 2.5)",
                    "random_zipfian(1, 1, 3)",
                    "random_zipfian(0, 9223372036854775806, 1.5)",
                ]);
                draw.to_owned()
            }
            _ => {
                let operator = self.pick(&["+", "-", "*", "/", "%", "&", "|", "#", "<<", ">>"]);
                let b = self.write(Wanted::Int, depth);
                if self.chance(40) { format!("({a} {operator} {b})") } else { format!("{a} {operator} {b}") }
            }
        }
    }

    fn double(&mut self, depth: u32) -> String {
        let a = self.number(depth);
        match self.0.up_to(6) {
            0 => format!("double({a})"),
            1 => format!("sqrt({a})"),
            2 => format!("ln({a})"),
            3 => format!("exp({})", self.leaf(Wanted::Double)),
            4 => format!("{}({a}, {})", self.pick(&["pow", "POWER"]), self.pick(&["2", "0.5", "-1", ":d"])),
            5 => format!("pi() * {a}"),
            _ => format!("({a} {} {})", self.pick(&["+", "-", "*", "/"]), self.write(Wanted::Double, depth)),
        }
    }

    fn bool(&mut self, depth: u32) -> String {
        match self.0.up_to(5) {
            0 => format!("not {}", self.write(Wanted::Bool, depth)),
            1 => {
                let test = self.pick(&["is null", "is not null", "isnull", "NOTNULL", "is true", "is not false"]);
                let tested = if self.chance(50) { Wanted::Bool } else { Wanted::Int };
                format!("{} {test}", self.write(tested, depth))
            }
            2 | 3 => {
                let operator = self.pick(&["and", "or", "AND", "OR"]);
                format!("({} {operator} {})", self.write(Wanted::Bool, depth), self.write(Wanted::Bool, depth))
            }
            _ => {
                let operator = self.pick(&["<", ">", "=", "<=", ">=", "<>", "!="]);
                format!("({} {operator} {})", self.number(depth), self.number(depth))
            }
        }
    }
}

/// What our client 0 prints for a script, in the form of pgbench's lines, and the error that ends it.
fn ours(script: &str) -> (Vec<String>, Option<(EvalError, usize, Command)>) {
    let mut names = VariableNames::new();
    let script =
        parse(&ScriptText { name: "-", text: script.as_bytes() }, &mut names).unwrap_or_else(|e| panic!("{e}"));
    let names = Arc::new(names);
    let mut variables = Variables::new(&names);
    let mut base = Rng::new(SEED.parse().unwrap());
    let mut rng = Rng::new(base.next_u64());
    let seed = base.next_u64() as i64;
    for (name, value) in [("scale", 1), ("client_id", 0), ("random_seed", 5432), ("default_seed", seed)] {
        if let Some(slot) = names.find(name.as_bytes()) {
            variables.set_value(slot, Value::Int(value));
        }
    }
    for (name, text) in DEFINED {
        if let Some(slot) = names.find(name.as_bytes()) {
            variables.set_text(slot, text.as_bytes());
        }
    }
    let mut said = Vec::new();
    for (n, command) in script.commands.iter().enumerate() {
        let debug = &mut |text: &str| said.push(format!("debug(script=0,command={}): {text}", n + 1));
        let result = match &command.kind {
            CommandKind::Set(set) => set.run(&mut variables, &mut rng, debug),
            other => panic!("{other:?}"),
        };
        if let Err(error) = result {
            return (said, Some((error, n, command.clone())));
        }
    }
    (said, None)
}

fn theirs(pgbench: &Pgbench, server: &Server, script: &str) -> Vec<String> {
    let defined: Vec<_> = DEFINED.iter().map(|(name, text)| format!("{name}={text}")).collect();
    let mut args = vec!["-h", server.host(), "--random-seed", SEED];
    for one in &defined {
        args.extend(["-D", one]);
    }
    let printed = pgbench.run(&args, script.as_bytes());
    let aside = |line: &&str| !line.contains("setting random seed") && !line.contains("Run was aborted");
    printed.stderr.lines().filter(aside).map(str::to_owned).collect()
}

/// Our lines, with pgbench's lines about an error.
fn with_error(script: &str) -> Vec<String> {
    let (mut lines, error) = ours(script);
    if let Some((error, n, command)) = error {
        if !matches!(error, EvalError::Empty(_)) {
            lines.extend(format!("pgbench: error: {error}").lines().map(str::to_owned));
        }
        let (name, consequence) = (command.name_for(&error), error.consequence());
        lines.push(format!("pgbench: error: client 0 aborted in command {n} ({name}) of script 0; {consequence}"));
    }
    lines
}

#[test]
fn generated_expressions_have_pgbenchs_values_and_errors() {
    let Some(pgbench) = Pgbench::find("values of expressions") else { return };
    let Some(server) = Server::start(&pgbench, "values of expressions") else { return };
    let mut writer = Writer(Rng::new(20_251_122));
    let (mut good, mut bad) = (String::from(PREAMBLE), Vec::new());
    let mut count = 0;
    while count < 500 {
        let wanted = [Wanted::Int, Wanted::Double, Wanted::Bool][count % 3];
        let line = format!("\\set v debug({})\n", writer.write(wanted, 4));
        // Draws decide whether an expression fails, so it is tried where it would stand.
        let tried = format!("{good}{line}");
        if ours(&tried).1.is_none() {
            good = tried;
            count += 1;
        } else if bad.len() < 40 {
            bad.push(format!("{PREAMBLE}{line}"));
        }
    }
    let (expected, found) = (theirs(&pgbench, &server, &good), with_error(&good));
    assert_eq!(found.len(), 500);
    for (n, (expected, found)) in expected.iter().zip(&found).enumerate() {
        assert_eq!(found, expected, "{:?}", good.lines().nth(n + PREAMBLE.lines().count()));
    }
    assert_eq!(found, expected);
    assert_eq!(bad.len(), 40);
    for script in bad {
        assert_eq!(with_error(&script), theirs(&pgbench, &server, &script), "{script}");
    }
}

#[test]
fn chosen_expressions_fail_in_pgbenchs_words() {
    let Some(pgbench) = Pgbench::find("errors of expressions") else { return };
    let Some(server) = Server::start(&pgbench, "errors of expressions") else { return };
    for expr in [
        "1/0",
        "1%0",
        "9223372036854775807+1",
        "-9223372036854775808-1",
        "9223372036854775807*2",
        "-9223372036854775808/-1",
        "- -9223372036854775808",
        "int(1e300)",
        "int(1.0/0)",
        "int(0.0/0.0)",
        "1 % 1e19",
        "not 1",
        "not 1.5",
        "1 and true",
        "true and 1",
        "1.0 or true",
        "false or 2.5",
        "true + 1",
        "true + 1.5",
        "true = false",
        "true < 1",
        "~true",
        "true << 1",
        "sqrt(true)",
        "int(false)",
        "double(true)",
        "least(true, 1)",
        "greatest(1.5, false)",
        "random(2,1)",
        "random(1, true)",
        "random(-9223372036854775808, 0)",
        "random_gaussian(1,2,1.5)",
        "random_exponential(1,2,0)",
        "random_zipfian(1,2,1)",
        "random_zipfian(1,2,1001)",
        "random_zipfian(1,2,true)",
        "permute(1,0)",
        "permute(1,-1)",
        "permute(true,1)",
        "hash(true)",
        "hash(1,2.0e19)",
        ":undefined",
        ":1a",
        ":été",
        "debug(1) + :undefined",
        "least(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,debug(17))",
        "debug(1) > debug(2) and debug(true) is null",
        "1 << 64 | 1 << -1",
        "case when :undefined then 1 end",
    ] {
        let script = format!("\\set v debug({expr})\n");
        assert_eq!(with_error(&script), theirs(&pgbench, &server, &script), "{expr}");
    }
    for script in ["\\set 1x 5\n", "\\SET a! 5\n", "\\Set x 1/0\n"] {
        assert_eq!(with_error(script), theirs(&pgbench, &server, script), "{script}");
    }
    // Texts that a variable can have; nothing gives it an empty one but \gset.
    for text in [
        "yes",
        "TRU",
        "n",
        "of",
        "o",
        "nul",
        "on",
        "ON",
        "Null",
        "-",
        "+",
        " ",
        " 12",
        "12 ",
        "1e3",
        "1e",
        ".",
        "1.",
        ".5e-1",
        "0x1p4",
        "0x",
        "inf",
        "-Infinity",
        "nan",
        "NAN(ab)",
        "1e400",
        "1e-400",
        "99999999999999999999",
        "-9223372036854775808",
        "1_000",
        "'a'",
        "0x1.fffffffffffff8p1023",
        "0x1p-1074",
        "1e-308",
    ] {
        let define = format!("x={text}");
        let printed = pgbench.run(&["-h", server.host(), "-D", &define], b"\\set v debug(:x)\n").stderr;
        let mut names = VariableNames::new();
        let x = names.slot(b"x");
        let mut variables = Variables::new(&Arc::new(names));
        variables.set_text(x, text.as_bytes());
        let mut line = Vec::new();
        let found = match variables.value(x) {
            Ok(_) => {
                let script = b"\\set v debug(:x)";
                let script =
                    parse(&ScriptText { name: "-", text: script }, &mut variables.names().as_ref().clone()).unwrap();
                let CommandKind::Set(set) = &script.commands[0].kind else { panic!() };
                set.expr.eval(&mut variables, &mut Rng::new(1), &mut |text| line.extend(text.bytes())).unwrap();
                format!("debug(script=0,command=1): {}", String::from_utf8(line).unwrap())
            }
            Err(error) => format!("pgbench: error: {error}"),
        };
        assert_eq!(Some(&*found), printed.lines().next(), "{text}");
    }
}
