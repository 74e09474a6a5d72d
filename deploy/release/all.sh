#!/usr/bin/env bash
# Makes every file of a release that Linux on x86-64 can make, and tries what runs here:
# programs and engines for Windows and for Linux on x86-64 and aarch64, wheels for both, the package
# for Debian, checksums, the list of contents (SBOM) and signatures.
# Usage: [MINISIGN_KEY=FILE] deploy/release/all.sh FOLDER [TARGET...]
#
# It needs the targets of rustup, musl-tools, gcc-aarch64-linux-gnu, gcc-mingw-w64-x86-64 and
# qemu-user of Debian, `pip install maturin`, and `cargo install cargo-deb cargo-cyclonedx`. A part
# whose tool is absent is named at the end, and the exit code is then 1.
set -euo pipefail
folder=${1:?the folder is missing}
shift
mkdir -p "$folder"
folder=$(realpath "$folder")
cd "$(dirname "$0")/../.."
targets=("$@")
if ((${#targets[@]} == 0)); then
    targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl x86_64-pc-windows-gnu)
fi
built=${CARGO_TARGET_DIR:-target}
missing=()
has() { # program, part
    command -v "$1" >/dev/null 2>&1 || { missing+=("$2: $1 is not installed"); return 1; }
}

for target in "${targets[@]}"; do
    bash deploy/release/pack.sh "$target" "$folder"
    engine=$built/$target/small/pbrain-kagetsu
    bytes=$(stat --format %s "$engine" 2>/dev/null || stat --format %s "$engine.exe")
    ((bytes <= 5000000)) || { echo "the engine for $target has $bytes bytes" >&2; exit 1; }
    # Each program plays or says its version, where something here runs it.
    run=()
    case $target in
    x86_64-*linux*) ;;
    aarch64-*) has qemu-aarch64 "trial on aarch64" || continue; run=(qemu-aarch64) ;;
    *) continue ;;
    esac
    "${run[@]}" "$built/$target/release/kagetsu" perft --variant xiangqi --depth 3
    printf 'START 15\nTURN 7,7\nEND\n' | "${run[@]}" "$engine" | grep -q OK
    "${run[@]}" "$built/$target/release/kagetsu-worker" --version
done

if has maturin wheels; then
    for target in "${targets[@]}"; do
        [[ $target == *linux* ]] || continue
        # A wheel is for the C library that most systems have.
        (cd clients/python && maturin build --release --locked --zig --out "$folder" \
            --target "${target/musl/gnu}" --compatibility manylinux_2_28)
    done
fi
if has cargo-deb "package for Debian"; then
    target=x86_64-unknown-linux-musl
    bash deploy/debian/generate.sh "$built/$target/release" "$built/package"
    cargo deb --locked --package book-tool --no-build --target "$target" \
        --output "$folder/kagetsu_amd64.deb"
fi
if has cargo-cyclonedx "list of contents"; then
    cargo cyclonedx --format json --manifest-path book-tool/Cargo.toml
    mv book-tool/book-tool.cdx.json "$folder/kagetsu.cdx.json"
fi
cd "$folder"
sha256sum -- *.tar.gz *.zip *.whl *.deb *.cdx.json 2>/dev/null >SHA256SUMS || true
if [[ -n ${MINISIGN_KEY:-} ]] && has minisign signatures; then
    minisign -S -s "$MINISIGN_KEY" -m SHA256SUMS
else
    missing+=("signatures: MINISIGN_KEY names no key")
fi
ls -l
if ((${#missing[@]} > 0)); then
    printf 'not made: %s\n' "${missing[@]}" >&2
    exit 1
fi
