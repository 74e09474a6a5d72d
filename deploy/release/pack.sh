#!/usr/bin/env bash
# Builds the programs for one system and packs them: a .zip for Windows, else a .tar.gz, and the
# engines for interfaces alone, each with its checksum.
# Usage: deploy/release/pack.sh TARGET [FOLDER], as in
#   rustup target add x86_64-pc-windows-gnu && bash deploy/release/pack.sh x86_64-pc-windows-gnu
set -euo pipefail
target=${1:?the target is missing, as in x86_64-pc-windows-gnu}
folder=$(realpath "${2:-.}")
cd "$(dirname "$0")/../.."

packages=(book-tool kagetsu-coordinator kagetsu-worker)
programs=(kagetsu kagetsu-coordinator kagetsu-worker)
engines=(pbrain-kagetsu uci-kagetsu ucci-kagetsu)
ending=
if [[ $target == *windows* ]]; then
    ending=.exe
else
    # The measurements read what Linux tells.
    packages+=(kagetsu-bench) programs+=(kagetsu-bench)
fi
if [[ $target == aarch64-*linux* && $(uname -m) != aarch64 ]]; then
    # Rust's own linker joins what the cross compiler made.
    variable=${target//-/_}
    export "CC_$variable=aarch64-linux-gnu-gcc" "AR_$variable=aarch64-linux-gnu-ar"
    export "CARGO_TARGET_${variable^^}_LINKER=aarch64-linux-gnu-gcc"
    # The cross compiler's headers name functions that musl lacks; offsets have 64 bits there anyway.
    export LIBSQLITE3_FLAGS=-DSQLITE_DISABLE_LFS
fi
cargo build --locked --release --target "$target" "${packages[@]/#/--package=}" \
    --features book-tool/parquet
# Engines that play from compiled books and certificates, in less than 5 MB.
cargo build --locked --profile small --target "$target" --package kagetsu-brain \
    --no-default-features

version=$(cargo pkgid --package book-tool)
version=${version##*[#@]}
built=${CARGO_TARGET_DIR:-target}/$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Packs a folder, and writes its checksum.
pack() { # name
    local archive
    if [[ $target == *windows* ]]; then
        archive=$1.zip
        (cd "$work" && python3 -m zipfile --create "$folder/$archive" "$1")
    else
        archive=$1.tar.gz
        tar --create --gzip --file "$folder/$archive" --directory "$work" "$1"
    fi
    (cd "$folder" && if command -v sha256sum >/dev/null; then
        sha256sum "$archive"
    else
        shasum --algorithm 256 "$archive"
    fi >"$archive.sha256")
    echo "$archive"
}

name=kagetsu-v$version-$target
mkdir "$work/$name"
cp README.md README.zh.md LICENSE-APACHE LICENSE-MIT CHANGELOG.md "$work/$name/"
for program in "${programs[@]}"; do cp "$built/release/$program$ending" "$work/$name/"; done
for engine in "${engines[@]}"; do cp "$built/small/$engine$ending" "$work/$name/"; done
# Names of functions take a quarter of a program for Windows, and an eighth of an engine.
[[ $target != *windows-gnu ]] || x86_64-w64-mingw32-strip "$work/$name"/*.exe
# The program for browsers, which `kagetsu export --format site` takes from beside kagetsu.
if [[ -f clients/web/dist/kagetsu.wasm ]]; then
    cp -r clients/web/dist/kagetsu{.wasm,-weights} "$work/$name/"
fi
cp docs/chinese/engines.md "$work/$name/ENGINES.zh.md"
cp docs/using/engines.md "$work/$name/ENGINES.md"
[[ $target != *windows* ]] || cp docs/using/windows.md "$work/$name/WINDOWS.md"
pack "$name"

# For interfaces: an engine, its settings, and a page of text in two languages.
whole=$work/$name
name=kagetsu-engines-v$version-$target
mkdir "$work/$name"
cp LICENSE-APACHE LICENSE-MIT "$work/$name/"
cp docs/using/interfaces.md "$work/$name/README.txt"
cp docs/chinese/engines.md "$work/$name/README.zh.txt"
for engine in "${engines[@]}"; do
    cp "$whole/$engine$ending" "$work/$name/"
    cp deploy/release/engine.toml "$work/$name/$engine.toml"
done
cp books/swap2-*-15.kbk deploy/release/swap2.kbk "$work/$name/"
sed -i.bak 's/^# book.*/book = ["swap2-freestyle-15.kbk", "swap2-standard-15.kbk", "swap2.kbk"]/' "$work/$name/pbrain-kagetsu.toml"
rm "$work/$name/pbrain-kagetsu.toml.bak"
pack "$name"
