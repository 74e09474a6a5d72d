#!/usr/bin/env bash
# Builds the wheel of the Python package for a system. Needs `pip install maturin ziglang`, and
# mingw for Windows.
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
[[ $target == *windows-gnu ]] || exit 0
# On Windows a package brings all that it needs: its library takes others of the system alone, and
# the names of Python that every version since 3.9 has.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m zipfile --extract "$folder"/kagetsu-*-abi3-win_amd64.whl "$work"
listed=$(x86_64-w64-mingw32-objdump --private-headers "$work/kagetsu/_native.pyd")
for name in $(sed -n 's/^\tDLL Name: //p' <<<"$listed"); do
    case ${name,,} in
    python3.dll | api-ms-win-* | advapi32.dll | bcrypt.dll | bcryptprimitives.dll | crypt32.dll | \
        kernel32.dll | msvcrt.dll | ntdll.dll | ole32.dll | oleaut32.dll | psapi.dll | secur32.dll | \
        shell32.dll | user32.dll | userenv.dll | ws2_32.dll) ;;
    *) echo "_native.pyd needs $name, which no wheel brings" >&2 && exit 1 ;;
    esac
done
grep -q 'PyInit__native$' <<<"$listed" || { echo '_native.pyd is no module of Python' >&2 && exit 1; }
