#!/usr/bin/env bash
# Makes every file of a release that Linux on x86-64 can make, and tries what runs here:
# programs, engines and wheels for Windows and for Linux on x86-64 and aarch64, the package for
# Debian, checksums, the list of contents (SBOM) and signatures.
# Usage: [MINISIGN_KEY=FILE] deploy/release/all.sh FOLDER [TARGET...]
# CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 make a trial faster.
#
# It needs the targets of rustup (wasm32-unknown-unknown, too), xz, musl-tools,
# gcc-aarch64-linux-gnu, gcc-mingw-w64-x86-64, qemu-user and wine64 of Debian, `pip install maturin
# ziglang`, and `cargo install cargo-deb@3.8.0 cargo-cyclonedx@0.5.9`. A part whose tool is absent is
# named at the end, and the exit code is then 1.
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
missing=()
has() { # program, part
    command -v "$1" >/dev/null 2>&1 || { missing+=("$2: $1 is not installed"); return 1; }
}

# The archives hold it, for sites and for the page.
bash clients/web/build.sh
for target in "${targets[@]}"; do
    bash deploy/release/pack.sh "$target" "$folder"
    case $target in
    aarch64-*) runner=qemu-aarch64 ;;
    *windows*) runner=wine ;;
    *) runner=env ;;
    esac
    ! has "$runner" "trial of $target" || bash deploy/release/try.sh "$folder" "$target" "$runner"
done
if has maturin wheels; then
    for target in "${targets[@]}"; do
        # A wheel is for the C library that most systems have.
        bash deploy/release/wheel.sh "${target/musl/gnu}" "$folder"
    done
fi
if has cargo-deb "package for Debian"; then
    bash deploy/debian/pack.sh "$folder/kagetsu_amd64.deb" x86_64-unknown-linux-musl
fi
if has cargo-cyclonedx "list of contents"; then
    bash deploy/release/contents.sh "$folder/kagetsu.cdx.json"
fi
cd "$folder"
rm -f ./*.sha256 SHA256SUMS*
sha256sum -- * >SHA256SUMS
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
