//! Scripts that do not parse.

use crate::pgbench::Pgbench;
use pgdyno_script::{ScriptText, VariableNames, parse};
use pgdyno_workload::Rng;

const SCRIPTS: &[&str] = &[
    "",
    " \n\t",
    "-- only\n-- comments",
    "\\",
    "\\set",
    "\\set \n",
    "\\set x",
    "\\set x\n",
    "\\set x  \r\n",
    "\\set x 1 +",
    "\\set x 1 + \n",
    "\\set x 1 2\n",
    "\\set x 1 2 foo(\n",
    "\\set x (1\n",
    "\\set x (1\\\n + 2\n",
    "\\set x 1)\n",
    "\\set x ()\n",
    "\\set x 1,2\n",
    "\\set x 1 < 2 < 3\n",
    "\\set x 1 = 2 <> 3\n",
    "\\set x 1 is 2\n",
    "\\set x 1 is not\n",
    "\\set x is null\n",
    "\\set x not\n",
    "\\set x and 1\n",
    "\\set x 1 not 2\n",
    "\\set x 1 ~ 2\n",
    "\\set x 1 ~ foo(2)\n",
    "\\set x @\n",
    "\\set x @ 1 ! 2\n",
    "\\set x :\n",
    "\\set x ::a\n",
    "\\set x 'a'\n",
    "\\set x 1;\n",
    "\\set x 1 \\ 2\n",
    "\\set x 1 \\\r\n + @\n",
    "\\sleep abc\\\r\n\n",
    "\\sleep \\\r\n 1 x\n",
    "\\set x 0x10\n",
    "\\set x 1e\n",
    "\\set x 1e+ 5\n",
    "\\set x 1.5.5\n",
    "\\set x 9223372036854775808\n",
    "\\set x 1 - 9223372036854775808\n",
    "\\set x 09223372036854775808\n",
    "\\set x -9223372036854775809\n",
    "\\set x 1e400\n",
    "\\set x .1e-400\n",
    "\\set x 1e-310 @ 3\n",
    "\\set x foo\n",
    "\\set x foo(1)\n",
    "\\set x foo(1) 99999999999999999999 3\n",
    "\\set x Été(1)\n",
    "\\set x abs\n",
    "\\set x abs 1\n",
    "\\set x abs(\n",
    "\\set x abs()\n",
    "\\set x ABS(1,2)\n",
    "\\set x abs(1,)\n",
    "\\set x pi(1)\n",
    "\\set x least()\n",
    "\\set x GREATEST ( )\n",
    "\\set x hash()\n",
    "\\set x hash(1,2,3)\n",
    "\\set x permute(1)\n",
    "\\set x permute(1,2,3,4)\n",
    "\\set x random(1)\n",
    "\\set x random(1,2,3) foo(\n",
    "\\set x case\n",
    "\\set x case 1 end\n",
    "\\set x case when 1 end\n",
    "\\set x case when 1 then 2\n",
    "\\set x case when 1 then 2 else 3\n",
    "\\set x case when 1 then 2 else 3 when 4 then 5 end\n",
    "\\set x (case when 1 then 2) end\n",
    "\\set x then\n",
    "\\SET x 1 +\n",
    "select 1;\n\n  \\set\tx\t1 $\n",
    "\\if\n\\endif\n",
    "\\if 1 +\n\\endif\n",
    "\\if 1\n",
    "\\if 1\n\\if 2\n\\endif\n",
    "\\elif 1\n",
    "\\else\n",
    "\\endif\n",
    "select 1;\n\\endif\n",
    "\\if 1\n\\else\n\\elif 1\n\\endif\n",
    "\\if 1\n\\else\n\\else\n\\endif\n",
    "\\if 1\n\\elif\n\\endif\n",
    "\\if 1\n\\else 1\n\\endif\n",
    "\\if 1\n\\endif 1\n",
    "\\sleep\n",
    "\\sleep \\\n\n",
    "\\sleep abc\n",
    "\\sleep -x\n",
    "\\sleep 10x s\n",
    "\\sleep 10 abc\n",
    "\\sleep 10xs\n",
    "\\sleep 10\\\n abc\n",
    "\\sleep abc\\\n\n",
    "\\sleep :x abc\n",
    "  \\sleep 10 ms 4\n",
    "\\SLEEP 1 2 3 4\n",
    "\\setshell\n",
    "\\setshell x\n",
    "\\shell\n",
    "\\shell   \\\n  \r\n",
    "\\startpipeline 1\n",
    "\\endpipeline \\\n x\n",
    "\\syncpipeline now\n",
    "\\foo\n",
    "\\values orders\n",
    "\\VALUES\n",
    "\\foo 1 \\\n 2\r\n",
    "\\!ls\n",
    "\\d\\e\n",
    "select 1 \\foo\n",
    "\\gset\n",
    "\\aset\n",
    "\\set x 1\n\\gset\n",
    "\\set x \\\n 1\n\\gset\n",
    "select 1; select 2 \\gset a b\n",
    "select 1 \\aset a b c\n",
    "select 1 \\gset\n\\gset\n",
    "select 1 \\gset\n\\aset p\n",
    "select 1;\n-- c\n/* \\foo */ '\\foo' $$ \\foo $$ \"\\foo\" \\bar\n",
];

#[test]
fn mistakes_are_reported_in_pgbenchs_words() {
    let Some(pgbench) = Pgbench::find("words of mistakes") else { return };
    let mut scripts: Vec<String> = SCRIPTS.iter().map(|s| (*s).to_owned()).collect();
    scripts.push(format!("\\set x {}1{}", "(".repeat(9997), ")".repeat(9997)));
    scripts.push(format!("\\set x {}1", "- ".repeat(9998)));
    scripts.push(format!("\\set x {}1{}", "least(1, ".repeat(2500), ")".repeat(2500)));
    scripts.push(format!("\\set x {}", "case when 1 then 2 when 3 then ".repeat(2000)));
    scripts.push(format!("\\shell {}", "a ".repeat(256)));
    for script in scripts {
        // Scripts are parsed before anything is connected.
        let expected = pgbench.run(&["-h", "/nonexistent"], script.as_bytes()).stderr;
        // Version 17 brought \syncpipeline, and with it "unexpected argument".
        if pgbench.version < 17 && script.starts_with("\\syncpipeline") {
            assert!(expected.contains("invalid command"), "{expected}");
            continue;
        }
        let found = match parse(&ScriptText { name: "-", text: script.as_bytes() }, &mut VariableNames::new()) {
            Ok(_) => panic!("{script:?} parses, but: {expected}"),
            Err(error) => error.pgbench_lines().join("\n"),
        };
        assert_eq!(format!("pgbench: error: {found}\n"), expected, "{script:?}");
    }
}

#[test]
fn too_many_parameters_are_reported_in_pgbenchs_words() {
    let Some(pgbench) = Pgbench::find("too many parameters") else { return };
    for count in [256, 300] {
        let script = format!("select {};\n", vec![":a"; count].join(", "));
        let expected = pgbench.run(&["-h", "/nonexistent", "-M", "extended"], script.as_bytes()).stderr;
        let parsed = parse(&ScriptText { name: "-", text: script.as_bytes() }, &mut VariableNames::new()).unwrap();
        let found = parsed.check_extended().unwrap_err().pgbench_lines().join("\n");
        assert_eq!(format!("pgbench: error: {found}\n"), expected);
    }
}

/// What expressions are made of, and some that they are not.
const TOKENS: &[&str] = &[
    "1",
    "2.5",
    ":x",
    ":1",
    "true",
    "null",
    "pi()",
    "abs(",
    "least(",
    "random(",
    "hash(",
    "permute(",
    "nope(",
    "nope",
    "abs",
    "(",
    ")",
    ")",
    ",",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<",
    "<=",
    "<>",
    "!=",
    "=",
    "<<",
    "|",
    "#",
    "~",
    "and",
    "or",
    "not",
    "is",
    "isnull",
    "notnull",
    "case",
    "when",
    "then",
    "else",
    "end",
    "9223372036854775808",
    "- 9223372036854775808",
    "99999999999999999999",
    "@",
    "\\\n",
    "\\",
];

#[test]
fn generated_expressions_are_refused_at_pgbenchs_token() {
    let Some(pgbench) = Pgbench::find("generated mistakes") else { return };
    let mut rng = Rng::new(3);
    let mut pick = |from: &[&'static str]| from[rng.up_to(from.len() as u64 - 1) as usize];
    let (mut whole, mut broken) = (0, 0);
    for n in 0..400 {
        let mut script = String::from("\\set x ");
        for _ in 0..=n % 12 {
            // Values and operators in turn more often than not, so that mistakes come late.
            let piece = match pick(&["any", "whole", "whole", "whole"]) {
                "any" => pick(TOKENS).to_owned(),
                _ => format!("{} {}", pick(&TOKENS[..7]), pick(&TOKENS[19..36])),
            };
            script.push_str(&piece);
            script.push(' ');
        }
        script.push_str(pick(&["", "1", "1", "1\n", "\n", ")", "end"]));
        let printed = pgbench.run(&["-h", "/nonexistent"], script.as_bytes()).stderr;
        match parse(&ScriptText { name: "-", text: script.as_bytes() }, &mut VariableNames::new()) {
            Ok(_) => {
                assert!(printed.contains("connection to server"), "{script}\n{printed}");
                whole += 1;
            }
            Err(error) => {
                assert_eq!(format!("pgbench: error: {}\n", error.pgbench_lines().join("\n")), printed, "{script}");
                broken += 1;
            }
        }
    }
    assert!(whole > 20 && broken > 100, "{whole} whole, {broken} broken");
}
