//! Any bytes as a script: they parse, or there is an error with a message.

use pgdyno_script::{ScriptText, VariableNames, parse};

pub(crate) fn run(text: &[u8]) {
    match parse(&ScriptText { name: "script.sql", text }, &mut VariableNames::new()) {
        Ok(script) => assert!(!script.commands.is_empty()),
        Err(error) => {
            assert!(error.pgbench_lines().iter().any(|line| !line.is_empty()));
            assert!(error.render().contains("script.sql"), "an error names what it read: {}", error.render());
        }
    }
}
