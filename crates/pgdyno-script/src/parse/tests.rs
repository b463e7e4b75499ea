//! Whole scripts: their commands, their mistakes, and arbitrary bytes.

use super::*;
use proptest::prelude::*;
use std::sync::Arc;

fn script(text: &str) -> Script {
    parse(&ScriptText { name: "-", text: text.as_bytes() }, &mut VariableNames::new()).unwrap_or_else(|e| panic!("{e}"))
}

fn error(text: &str) -> ScriptError {
    match parse(&ScriptText { name: "-", text: text.as_bytes() }, &mut VariableNames::new()) {
        Ok(script) => panic!("{text} has {} commands", script.commands.len()),
        Err(error) => error,
    }
}

/// Output of pgbench 18.6.
#[test]
fn mistakes_print_as_pgbench_prints_them() {
    for (text, expected) in [
        ("", "empty command list for script \"-\""),
        ("-- nothing", "empty command list for script \"-\""),
        ("\\set", "-:1: missing argument in command \"set\""),
        ("\\set x\n", "-:1: syntax error in command \"set\"\n\\set x\n      ^ error found here"),
        ("\\set x \n", "-:1: syntax error in command \"set\"\n\\set x \n       ^ error found here"),
        ("\\SET x 1 +", "-:1: syntax error in command \"SET\"\n\\SET x 1 +\n         ^ error found here"),
        (
            "\n\\set x foo(1)\n",
            "-:2: unexpected function name (foo) in command \"set\"\n\\set x foo(1)\n         ^ error found here",
        ),
        (
            "\\set x @ 1 ! 2\n",
            "-:1: unexpected character (!) in command \"set\"\n\\set x @ 1 ! 2\n           ^ error found here",
        ),
        (
            "\\set x foo(1) 99999999999999999999 3\n",
            "-:1: bigint constant overflow (99999999999999999999) in command \"set\"\n\\set x foo(1) 99999999999999999999 3\n                                 ^ error found here",
        ),
        (
            "\\set x (1\\\n + @\n",
            "-:1: unexpected character (@) in command \"set\"\n\\set x (1\\\n + @\n              ^ error found here",
        ),
        (
            "\\sleep abc\\\n\n",
            "-:1: invalid sleep time, must be an integer (abc) in command \"sleep\"\n\\sleep abc\\\n         ^ error found here",
        ),
        (
            "  \\sleep 10 ms 4\n",
            "-:1: too many arguments in command \"sleep\"\n\\sleep 10 ms 4\n             ^ error found here",
        ),
        ("\\foo 1\n", "-:1: invalid command in command \"foo\"\n\\foo 1"),
        ("\\gset\n", "-:1: \\gset must follow an SQL command"),
        ("select 1; \\set x 1\n\\aset\n", "-:2: \\gset must follow an SQL command (\\set x 1)"),
        ("select 1 \\gset a\n\\aset b\n", "-:2: \\gset must follow an SQL command"),
        ("\\if 1\n", "condition error in script \"-\" command 2: \\if without matching \\endif"),
        ("\\if 1\n\\else\n\\elif 1\n\\endif\n", "condition error in script \"-\" command 3: \\elif after \\else"),
    ] {
        assert_eq!(error(text).pgbench_lines().join("\n"), expected, "{text}");
    }
}

#[test]
fn mistakes_print_with_the_whole_mistake_marked() {
    let show = |text: &str| error(text).render();
    assert_eq!(
        show("select 1;\n\t\\set x 1 + randon(1, 2)\n"),
        "-:2:13: unexpected function name (randon) in command \"set\"\n \
         2 | \t\\set x 1 + randon(1, 2)\n   \
           | \t           ^^^^^^\nhint: did you mean random?"
    );
    assert_eq!(
        show("\\set x (1 + 2\n"),
        "-:1:14: syntax error in command \"set\"\n 1 | \\set x (1 + 2\n   |              ^\n\
         hint: a parenthesis is not closed; a backslash at the very end of a line continues it"
    );
    assert_eq!(
        show("\\set x (é \\\n  + @)"),
        "-:2:5: unexpected character (@) in command \"set\"\n 2 |   + @)\n   |     ^"
    );
    assert_eq!(show("\\if 1\n  \\if 2\n\\endif\n"), "-:1:1: \\if without matching \\endif\n 1 | \\if 1\n   | ^^^^^");
    let long = format!("\\set x {}@{}", "1 + ".repeat(1000), " + 1".repeat(1000));
    let lines: Vec<_> = show(&long).lines().map(str::to_owned).collect();
    assert!(lines.iter().all(|l| l.chars().count() < 130), "{lines:?}");
    let caret = lines[2].chars().position(|c| c == '^').unwrap();
    assert_eq!(lines[1].chars().nth(caret), Some('@'));
    assert_eq!(show("\n\n"), "-: there is no command in it");
}

#[test]
fn commands_have_their_text_line_and_words() {
    let script = script(
        "-- first\n\n SELECT 1,\n 2;SELECT 3 \\gset a_\n\\SLEEP 10ms\r\n\\set x \\\n 5\n \\ shell echo \\\n :x\nSELECT 4\\;SELECT 5",
    );
    let found: Vec<_> = script.commands.iter().map(|c| (c.label(), c.line, c.invocation())).collect();
    assert_eq!(
        found,
        [
            ("SELECT 1,".to_owned(), 3, String::new()),
            ("SELECT 3 ".to_owned(), 4, String::new()),
            ("\\SLEEP 10ms".to_owned(), 5, "\\SLEEP 10ms ms".to_owned()),
            ("\\set x \\\n 5".to_owned(), 6, "\\set x".to_owned()),
            ("\\ shell echo \\\n :x".to_owned(), 8, "\\shell echo :x".to_owned()),
            ("SELECT 4;SELECT 5".to_owned(), 10, String::new()),
        ]
    );
    let CommandKind::Sql(sql) = &script.commands[1].kind else { panic!() };
    assert_eq!(sql.collect, Collect::Gset { prefix: b"a_".to_vec() });
    let CommandKind::Sql(sql) = &script.commands[5].kind else { panic!() };
    assert_eq!((sql.statements, &sql.collect), (2, &Collect::Nothing));
    let long = format!("select '{}'", "é".repeat(100));
    assert_eq!(self::script(&long).commands[0].text.len(), MAX_TEXT);
}

#[test]
fn branches_know_where_to_go_on() {
    let script = script("\\if 1\n\\if 2\n\\endif\n\\elif 3\nselect 1;\\elif 4\n\\else\n\\endif\n\\if 5\n\\endif");
    let targets: Vec<_> = script
        .commands
        .iter()
        .map(|c| match c.kind {
            CommandKind::If { otherwise, .. } => (otherwise, 0),
            CommandKind::Elif { otherwise, end, .. } => (otherwise, end),
            CommandKind::Else { end } => (0, end),
            _ => (0, 0),
        })
        .collect();
    assert_eq!(targets, [(3, 0), (2, 0), (0, 0), (5, 7), (0, 0), (6, 7), (0, 7), (0, 0), (9, 0), (0, 0)]);
}

#[test]
fn only_the_extended_protocol_limits_variables() {
    let with = |n: usize| script(&format!("select {};", vec![":a"; n].join(", ")));
    assert!(with(255).check_extended().is_ok());
    let error = with(256).check_extended().unwrap_err();
    assert!(error.pgbench_lines()[0].starts_with("statement has too many arguments (maximum is 255): select :a,"));
    assert!(error.render().contains("256 times"), "{error}");
}

#[test]
fn a_zero_byte_ends_a_script() {
    assert_eq!(script("select 1;\0select 2; \\foo").commands.len(), 1);
}

#[test]
fn large_scripts_and_deep_expressions_do_no_harm() {
    let sum = format!("\\set x {}1", "1 + ".repeat(2_500_000));
    assert_eq!(script(&sum).commands.len(), 1);
    let many = "\\set x :x + 1\nselect :x;\n".repeat(10_000);
    assert_eq!(script(&many).commands.len(), 20_000);
    let conditions = format!("{}{}", "\\if :x\n".repeat(10_000), "\\endif\n".repeat(10_000));
    assert_eq!(script(&conditions).commands.len(), 20_000);
    let greater = format!("\\set x {}:x{}", "1 > (".repeat(2000), ")".repeat(2000));
    assert_eq!(script(&greater).commands.len(), 1);
    // As deep as in pgbench, and no deeper.
    let nested = |n: usize| format!("\\set x {}:x{}", "(".repeat(n), ")".repeat(n));
    let signs = |n: usize| format!("\\set x {}:x", "- ".repeat(n));
    let sums = |n: usize| format!("\\set x {}:x{}", "1+(".repeat(n), ")".repeat(n));
    assert_eq!(script(&nested(9996)).commands.len(), 1);
    assert_eq!(script(&signs(9997)).commands.len(), 1);
    assert_eq!(script(&sums(3332)).commands.len(), 1);
    for text in [nested(9997), signs(9998), sums(3333), nested(5_000_000)] {
        let lines = error(&text).pgbench_lines();
        assert_eq!(lines[0], "-:1: memory exhausted in command \"set\"");
    }
    let long = error(&signs(9998));
    assert_eq!(long.pgbench_lines()[2].len(), 20_004 + " error found here".len() + 1);
    assert!(long.render().len() < 500);
}

/// Pieces of scripts, valid and invalid.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "\\set x ",
        "\\if ",
        "\\elif 1",
        "\\else",
        "\\endif",
        "\\sleep ",
        "\\gset ",
        "\\shell ",
        "\\setshell x ",
        "\\;",
        "\\:",
        "\\",
        "\n",
        "\r\n",
        " ",
        "\\\n",
        ":x",
        "::",
        ":1",
        "random(",
        "permute(",
        "hash(",
        "least(",
        "debug(",
        ")",
        "(",
        ",",
        "1",
        "2.5",
        "9223372036854775808",
        "-",
        "+",
        "*",
        "/",
        "%",
        "<",
        ">=",
        "<>",
        "<<",
        "~",
        "#",
        "and ",
        "or ",
        "not ",
        "is ",
        "null ",
        "true ",
        "case ",
        "when ",
        "then ",
        "else ",
        "end ",
        "isnull ",
        "'",
        "\"",
        "$$",
        "$a$",
        "/*",
        "*/",
        "--",
        ";",
        "E'",
        "u&'",
        "x'",
        "create ",
        "function ",
        "begin ",
        "é",
        "\u{0}",
        "ms",
        "1e",
        ".",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
}

/// Parses, and uses every command in all ways.
fn exercise(text: &[u8]) {
    let mut names = VariableNames::new();
    let result = parse(&ScriptText { name: "-", text }, &mut names);
    let script = match result {
        Ok(script) => script,
        Err(error) => {
            assert!(!error.pgbench_lines()[0].is_empty() && !error.render().is_empty());
            return;
        }
    };
    drop(script.check_extended());
    let mut variables = crate::Variables::new(&Arc::new(names.clone()));
    for slot in (0..).take(names.len()).map(crate::Slot) {
        variables.set_value(slot, crate::Value::Int(3));
    }
    let mut rng = pgdyno_workload::Rng::new(1);
    let mut out = Vec::new();
    for command in &script.commands {
        let _ = (command.label(), command.invocation());
        match &command.kind {
            CommandKind::Sql(sql) => sql.simple.render(&variables, &mut out),
            CommandKind::Set(set) => drop(set.run(&mut variables, &mut rng, &mut |_| {})),
            CommandKind::If { condition, .. } | CommandKind::Elif { condition, .. } => {
                drop(condition.eval(&mut variables, &mut rng, &mut |_| {}));
            }
            CommandKind::Sleep(sleep) => drop(sleep.duration_ns(&variables)),
            CommandKind::Shell(shell) => drop(shell.command_line(&variables)),
            CommandKind::SetShell(set) => drop(set.store(b"5\n", &mut variables)),
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    #[test]
    fn any_bytes_parse_or_do_not(text in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&text);
    }

    #[test]
    fn any_pieces_parse_or_do_not(text in pieces()) {
        exercise(&text);
    }

    #[test]
    fn any_expression_evaluates_or_does_not(text in pieces()) {
        let mut line = b"\\set x ".to_vec();
        line.extend(text.into_iter().filter(|b| !matches!(b, b'\n' | b'\\' | b'\'' | b'"' | b'$')));
        exercise(&line);
    }
}
