#!/usr/bin/env bash
# Builds the wheel of the Python package for a system. Needs `pip install maturin ziglang`.
# Usage: deploy/release/wheel.sh TARGET [FOLDER], as in
#   bash deploy/release/wheel.sh aarch64-unknown-linux-gnu
set -euo pipefail
target=${1:?the target is missing, as in x86_64-unknown-linux-gnu}
folder=$(realpath "${2:-.}")
cd "$(dirname "$0")/../../clients/python"
options=(--release --locked --out "$folder" --target "$target")
# Zig links to a C library as old as that of the named systems.
[[ $target != *linux* ]] || options+=(--zig --compatibility manylinux_2_28)
maturin build "${options[@]}"
