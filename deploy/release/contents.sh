#!/usr/bin/env bash
# Lists all that `kagetsu` is made of (SBOM, CycloneDX). Needs `cargo install cargo-cyclonedx@0.5.9`.
# Usage: deploy/release/contents.sh FILE [TARGET]
set -euo pipefail
file=${1:?the file is missing, as in kagetsu.cdx.json}
[[ $file == /* ]] || file=$PWD/$file
target=${2:-all}
cd "$(dirname "$0")/../.."
cargo cyclonedx --format json --override-filename contents.cdx --target "$target"
mv book-tool/contents.cdx.json "$file"
# It writes a file for each crate.
find . -path ./target -prune -o -name contents.cdx.json -exec rm {} +
