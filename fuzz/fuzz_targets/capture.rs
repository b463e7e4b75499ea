#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pgdyno_fuzz::FuzzTarget::named("capture").expect("a target of this name").run(input));
