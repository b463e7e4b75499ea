//! Any bytes as a script: they parse, or there is an error to print.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pgdyno_script::{Names, Source, parse};

fuzz_target!(|text: &[u8]| {
    match parse(&Source { name: "-", text }, &mut Names::new()) {
        Ok(script) => assert!(!script.commands.is_empty()),
        Err(error) => {
            assert!(error.pgbench_lines().iter().any(|line| !line.is_empty()));
            assert!(!error.render().is_empty());
        }
    }
});
