#!/usr/bin/env bash
# Builds the package for Debian. Needs `cargo install cargo-deb@3.8.0`.
# Usage: deploy/debian/pack.sh FILE [TARGET]; check.sh tries it.
set -euo pipefail
file=$(realpath "${1:?the file is missing, as in kagetsu_amd64.deb}")
target=${2:-}
cd "$(dirname "$0")/../.."
options=(--locked)
programs=${CARGO_TARGET_DIR:-target}/release
if [[ -n $target ]]; then
    options+=(--target "$target")
    programs=${CARGO_TARGET_DIR:-target}/$target/release
fi
cargo build "${options[@]}" --release \
    --package book-tool --package kagetsu-coordinator --package kagetsu-worker \
    --package kagetsu-brain --package kagetsu-bench --features book-tool/parquet
# The manifest names this folder, wherever the programs are.
bash deploy/debian/generate.sh "$programs" target/package
cargo deb "${options[@]}" --package book-tool --no-build --output "$file"
