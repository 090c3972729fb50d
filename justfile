# List the recipes
default:
    @just --list

# Everything that a change must pass: what CI runs, in the same order
check:
    .ci/run

# Run all tests, doc tests included
test *args:
    cargo test {{ args }}

# Report what the lints refuse
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# Format the code
fmt:
    cargo fmt --all

# Build the documentation of the crates
docs:
    cargo doc --workspace --no-deps

# Write the golden records that are missing; one that exists is never replaced
golden:
    cargo run -p foldback-testkit --example make_golden

# Foldback beside its peers, in turns; `just bench quick` for a first look
bench *args:
    cargo run --release --manifest-path crates/foldback-bench/Cargo.toml -- {{ args }}

# Simulate an engine on a disk that loses power; the same seed prints the same run
sim seed="0":
    SEED={{ seed }} cargo test --quiet --release -p foldback --test it -- --ignored --nocapture sim::the_run_of_a_seed | grep '^|'

# Accept all changed snapshots; read the diff before you commit it
bless:
    INSTA_UPDATE=always cargo test
