#!/usr/bin/env bash
# Builds the programs for one system and packs them: a .zip for Windows, else a .tar.gz, each with
# its checksum. Usage: deploy/release/pack.sh TARGET [FOLDER], as in
#   rustup target add x86_64-pc-windows-gnu && bash deploy/release/pack.sh x86_64-pc-windows-gnu
set -euo pipefail
target=${1:?the target is missing, as in x86_64-pc-windows-gnu}
folder=$(realpath "${2:-.}")
cd "$(dirname "$0")/../.."

packages=(book-tool kagetsu-coordinator kagetsu-worker kagetsu-brain)
programs=(kagetsu kagetsu-coordinator kagetsu-worker pbrain-kagetsu uci-kagetsu ucci-kagetsu)
ending=
if [[ $target == *windows* ]]; then
    ending=.exe
else
    # The measurements read what only Unix tells.
    packages+=(kagetsu-bench) programs+=(kagetsu-bench)
fi
cargo build --locked --release --target "$target" "${packages[@]/#/--package=}" \
    --features book-tool/parquet

version=$(cargo pkgid --package book-tool)
name=kagetsu-v${version##*[#@]}-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
cp README.md README.zh.md LICENSE-APACHE LICENSE-MIT CHANGELOG.md "$work/$name/"
for program in "${programs[@]}"; do
    cp "${CARGO_TARGET_DIR:-target}/$target/release/$program$ending" "$work/$name/"
done
# The program for browsers, which `kagetsu export --format site` takes from beside kagetsu.
if [[ -f clients/web/dist/kagetsu.wasm ]]; then
    cp clients/web/dist/kagetsu.wasm "$work/$name/"
fi
if [[ $target == *windows* ]]; then
    cp docs/using/windows.md "$work/$name/WINDOWS.md"
    cp docs/chinese/engines.md "$work/$name/ENGINES.zh.md"
    archive=$name.zip
    (cd "$work" && python3 -m zipfile --create "$folder/$archive" "$name")
else
    archive=$name.tar.gz
    tar --create --gzip --file "$folder/$archive" --directory "$work" "$name"
fi
cd "$folder"
if command -v sha256sum >/dev/null; then
    sha256sum "$archive" >"$archive.sha256"
else
    shasum --algorithm 256 "$archive" >"$archive.sha256"
fi
echo "$archive"
