//! Runs a benchmark through the library: `cargo run -p pgdyno-life --example run -- select-only` on a private server.

#![expect(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout, reason = "a program of its own")]

use std::process::ExitCode;

use pgdyno_life::{EventSink, Interrupt, Order, RunEvent};

/// Prints what the run does.
struct Notes;

impl EventSink for Notes {
    fn event(&self, event: &RunEvent<'_>) {
        if let RunEvent::Note { text } | RunEvent::Warning { text } = event {
            eprintln!("{text}");
        }
    }
}

fn main() -> ExitCode {
    // A private server is supervised by another process of this program.
    if let Some(code) = pgdyno_life::supervise() {
        return code;
    }
    let mut order = Order::of(&std::env::args().nth(1).unwrap_or_else(|| "tpcb-like".to_owned()));
    order.drive.clients = Some(4);
    order.drive.time = Some(5.0);
    match pgdyno_life::run(order, &Interrupt::default(), &Notes) {
        Ok(ran) => {
            let summary = ran.recording.and_then(|recording| recording.record.summary);
            println!("{:.0} transactions per second", summary.map_or(0.0, |summary| summary.tps));
            ran.failure.map_or(ran.code, |failure| failure.code()).into()
        }
        Err(failure) => {
            eprintln!("{}", failure.text());
            failure.code().into()
        }
    }
}
