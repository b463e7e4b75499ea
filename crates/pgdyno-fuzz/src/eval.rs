//! Any bytes as an expression: either it has a value or an error with a message, the same each time.

use std::sync::Arc;

use pgdyno_script::{CommandKind, ScriptText, Slot, Value, VariableNames, Variables, parse};
use pgdyno_workload::Rng;

pub(crate) fn run(expression: &[u8]) {
    let mut names = VariableNames::new();
    let text = [b"\\set x ", expression].concat();
    let Ok(script) = parse(&ScriptText { name: "-", text: &text }, &mut names) else { return };
    let evaluate = || {
        let mut variables = Variables::new(&Arc::new(names.clone()));
        for n in 0..u32::try_from(names.len()).unwrap_or(0) {
            match n % 4 {
                0 => variables.set_value(Slot(n), Value::Int(i64::from(n))),
                1 => variables.set_value(Slot(n), Value::Double(1.5)),
                2 => variables.set_text(Slot(n), b"yes"),
                _ => {}
            }
        }
        let mut errors = Vec::new();
        for command in &script.commands {
            if let CommandKind::Set(set) = &command.kind
                && let Err(error) = set.run(&mut variables, &mut Rng::new(1), &mut |_| {})
            {
                assert!(!error.to_string().is_empty());
                errors.push(error.to_string());
            }
        }
        errors
    };
    assert_eq!(evaluate(), evaluate());
}
