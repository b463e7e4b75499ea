//! Runs each target over its seeds and some mutations of them.

mod mutate;

use std::path::Path;

use mutate::{Random, mutated};
use pgdyno_fuzz::{FuzzTarget, TARGETS, seeds};

/// Mutations of each target over all its seeds: this many bytes, with the number of mutations within bounds.
const MUTATED_BYTES: usize = 4 << 20;
const MUTATIONS: std::ops::RangeInclusive<usize> = 500..=3000;

/// Largest total size of the seeds: the repository holds no whole corpora.
const SEED_BYTES_MAX: u64 = 300 << 10;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Prints the input when the target panics.
struct ReportOnPanic<'a> {
    what: String,
    input: &'a [u8],
}

impl Drop for ReportOnPanic<'_> {
    #[expect(clippy::print_stderr, reason = "the test harness shows it")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: \"{}\"", self.what, self.input.escape_ascii());
        }
    }
}

fn hold(name: &str) {
    let target = FuzzTarget::named(name).expect("a target of this name");
    let seeds = seeds(root(), target.seeds).expect("its seeds");
    assert!(!seeds.is_empty());
    for seed in &seeds {
        let _report = ReportOnPanic { what: format!("{name} fails on {}", seed.path.display()), input: &seed.bytes };
        target.run(&seed.bytes);
    }
    let mean = seeds.iter().map(|seed| seed.bytes.len()).sum::<usize>() / seeds.len();
    let mutations = (MUTATED_BYTES / mean.max(1)).clamp(*MUTATIONS.start(), *MUTATIONS.end());
    for number in 0..mutations {
        let mut random = Random(number as u64);
        let (seed, other) = (&seeds[number % seeds.len()], &seeds[random.below(seeds.len())]);
        let input = mutated(&seed.bytes, &other.bytes, &mut random);
        let what =
            format!("{name} fails on mutation {number}, of {} with {}", seed.path.display(), other.path.display());
        let _report = ReportOnPanic { what, input: &input };
        target.run(&input);
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            hold(stringify!($name));
        })*

        #[test]
        fn every_target_has_a_test_and_a_binary() {
            let tested = [$(stringify!($name)),*];
            assert_eq!(tested.to_vec(), TARGETS.iter().map(|target| target.name).collect::<Vec<_>>());
            let manifest = std::fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
            for name in tested {
                assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
            }
        }
    };
}

targets!(auth capture conninfo eval hlog http log meeting null parse proc record rows session tables text toml workload x509);

#[test]
fn seeds_are_small() {
    let all = seeds(root(), &["fuzz/seeds"]).unwrap();
    let bytes: u64 = all.iter().map(|seed| seed.bytes.len() as u64).sum();
    assert!(bytes < SEED_BYTES_MAX, "{bytes}");
}
