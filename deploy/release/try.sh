#!/usr/bin/env bash
# Unpacks the archives of a system, checks their sums, and uses the programs: a book is built and
# compiled, an engine of at most 5 MB plays from it and from its table for swap 2.
# Usage: deploy/release/try.sh FOLDER TARGET [RUNNER], as in
#   bash deploy/release/try.sh . aarch64-unknown-linux-musl qemu-aarch64
set -euo pipefail
folder=$(realpath "${1:?the folder is missing}")
target=${2:?the target is missing}
runner=${3:-env}
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$folder"
for archive in kagetsu{,-engines}-v*-"$target".{tar.gz,zip}; do
    [[ -f $archive ]] || continue
    if command -v sha256sum >/dev/null; then
        sha256sum --check "$archive.sha256"
    else
        shasum --algorithm 256 --check "$archive.sha256"
    fi
    case $archive in
    *.zip) python3 -m zipfile --extract "$archive" "$work" ;;
    *) tar --extract --file "$archive" --directory "$work" ;;
    esac
done
ending=
if [[ $target == *windows* ]]; then
    ending=.exe
    if [[ $runner == wine ]]; then
        export WINEPREFIX=$work/prefix WINEDEBUG=-all
        # Wine's server goes on for some seconds after the last program, and writes there.
        trap 'wineserver -k || true; wineserver -w || true; rm -rf "$work"' EXIT
        # Wine 8 lacks this library.
        x86_64-w64-mingw32-gcc -shared -o "$work/bcryptprimitives.dll" "$here/random.c" -ladvapi32
        for unpacked in "$work"/kagetsu*; do cp "$work/bcryptprimitives.dll" "$unpacked/"; done
        for program in "$work"/kagetsu*/*.exe; do
            x86_64-w64-mingw32-nm "$program" 2>&1 | grep --quiet 'no symbols' ||
                { echo "$program holds names of functions" >&2; exit 1; }
        done
    fi
fi
cd "$work"/kagetsu-v*
run() { # program, arguments
    local program=$1
    shift
    "$runner" "./$program$ending" "$@"
}
run kagetsu build --book h8.book --variant freestyle-15 --moves h8 --positions 20 --depth 4
run kagetsu query --book h8.book --variant freestyle-15 --moves h8 --top 3
run kagetsu compile --book h8.book --out h8.kbk
run kagetsu perft --variant xiangqi --depth 3
run kagetsu-worker --version
run kagetsu-coordinator --version
cp h8.kbk "$work"/kagetsu-engines-v*/
cd "$work"/kagetsu-engines-v*
for engine in pbrain-kagetsu uci-kagetsu ucci-kagetsu; do
    bytes=$(wc -c <"$engine$ending")
    ((bytes <= 5000000)) || { echo "$engine has $bytes bytes" >&2; exit 1; }
done
says() { # text, program, arguments
    local text=$1
    shift
    run "$@" | tr -d '\r' | tee /dev/stderr | grep --quiet "$text"
}
printf 'START 15\nTURN 7,7\nEND\n' | says 'MESSAGE book move' pbrain-kagetsu --book h8.kbk
# Three stones and no search: the table beside the engine, from another folder, too.
mkdir elsewhere && cd elsewhere
run() { "$runner" "../$1$ending" "${@:2}"; }
printf 'START 15\nSWAP2BOARD\nDONE\nEND\n' | says '^[0-9]*,[0-9]* [0-9]*,[0-9]* [0-9]*,[0-9]*$' pbrain-kagetsu
printf 'uci\nposition startpos\ngo depth 3\n' | says '^bestmove [a-i]' uci-kagetsu
printf 'ucci\nposition startpos\ngo depth 3\n' | says '^bestmove [a-i]' ucci-kagetsu
echo "the archives for $target work"
