#!/usr/bin/env bash
# Builds the program for browsers and two npm packages: build.sh [FOLDER [PROFILE]]. Needs cargo with
# the target wasm32-unknown-unknown, and xz.
set -euo pipefail
out=$(mkdir -p "${1:-$(dirname "$0")/dist}" && cd "${1:-$(dirname "$0")/dist}" && pwd)
cd "$(dirname "$0")"
profile=${2:-web}
target=${CARGO_TARGET_DIR:-$PWD/../../target}/web
export RUSTFLAGS='-C target-feature=+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext
    -C link-arg=-zstack-size=4194304 -C link-arg=--strip-all'
RUSTC_WORKSPACE_WRAPPER='' cargo build --locked --quiet -p kagetsu-web --profile "$profile" \
    --target wasm32-unknown-unknown --target-dir "$target"
cp "$target/wasm32-unknown-unknown/${profile/dev/debug}/kagetsu.wasm" "$out"
# The weights of each game lie beside the program, which loads those that it needs. They are numbers
# of two bytes.
mkdir -p "$out/kagetsu-weights"
for file in ../../crates/search/data/*.{bin,order}; do
    xz --stdout --lzma2=preset=9e,lc=3,lp=1,pb=1 "$file" >"$out/kagetsu-weights/${file##*/}.xz"
done
cp weights.json "$out/kagetsu-weights/package.json"
cp ../../http/page/engine/kagetsu.js kagetsu.d.ts package.json README.md "$out"
