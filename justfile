# Before every commit: format, lints, and the tests that need no server, of all crates.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo test --workspace --lib --bins
    cargo test -p pgdyno-engine --test simulated

# Everything, with real servers.
test:
    cargo test --workspace

# Everything, with the portable PostgreSQL of another version: `just test-on 16`; or with the one in a directory.
test-on version *args:
    .ci/test-on {{version}} {{args}}

# Accept new snapshots; the difference is reviewed like code.
bless:
    INSTA_UPDATE=always cargo test -p pgdyno-plan -p pgdyno-report -p pgdyno-live -p pgdyno

# What CI runs.
ci:
    .ci/run
