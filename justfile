# Before every commit: format, lints, and the tests that need no server.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo test -p pgdyno-wire -p pgdyno-workload -p pgdyno-measure -p pgdyno-engine -p pgdyno-plan -p pgdyno-results -p pgdyno-report
    cargo test -p pgdyno-script --lib

# Everything, with real servers.
test:
    cargo test --workspace

# Accept new snapshots; the difference is reviewed like code.
bless:
    INSTA_UPDATE=always cargo test -p pgdyno-plan -p pgdyno-report -p pgdyno

# What CI runs.
ci:
    .ci/run
