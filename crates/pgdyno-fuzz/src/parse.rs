//! Any bytes as a script: they parse, or there is an error with a message.

use pgdyno_script::{Script, ScriptError, ScriptText, VariableNames, parse, parse_with_lists};

pub(crate) fn run(text: &[u8]) {
    let source = ScriptText { name: "script.sql", text };
    admit(parse(&source, &mut VariableNames::new()));
    admit(parse_with_lists(&source, &mut VariableNames::new(), &["orders".to_owned()]));
}

fn admit(parsed: Result<Script, ScriptError>) {
    match parsed {
        Ok(script) => assert!(!script.commands.is_empty()),
        Err(error) => {
            assert!(error.pgbench_lines().iter().any(|line| !line.is_empty()));
            assert!(error.render().contains("script.sql"), "an error names what it read: {}", error.render());
        }
    }
}
