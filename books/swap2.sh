#!/usr/bin/env bash
# Makes swap2-VARIANT.csv.xz, the value of every opening of three stones, and swap2-VARIANT.kbk, the
# balanced ones searched ten times as long, in the folder OUT: `books/swap2.sh freestyle-15 OUT`.
# About three CPU hours for 15x15. It goes on where it was stopped. Needs kagetsu, python3 and xz.
set -euo pipefail
variant=$1 out=$2 here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out" && cd "$out"

# grow BOOK NODES ROOTS: a job takes 20,000 roots at most.
grow() {
    rm -f roots-*
    split -l 20000 -d -a 3 "$3" roots-
    for roots in roots-*; do
        kagetsu build --book "$1" --variant "$variant" --roots "$roots" --name "$roots" \
            --nodes "$2" --depth 40 --top 1 --positions "$(wc -l <"$roots")" --threads 1
    done
    rm -f roots-*
}
# values BOOK: the line and the value, for White, of each opening without a proof.
values() {
    rm -f rows.csv
    kagetsu export --format csv --book "$1" rows.csv >&2
    awk -F, 'NR > 1 && $8 == 1 && $11 != "" { print $2 "," $11 }' rows.csv | sort
    rm -f rows.csv
}

python3 "$here/openings.py" "${variant##*-}" >all.txt
grow all.book 3000 all.txt
{ echo moves,value && values all.book; } >"swap2-$variant.csv"
xz -9e -k -f "swap2-$variant.csv"
awk -F, 'NR > 1 && $2 >= -70 && $2 <= 70 { print $1 }' "swap2-$variant.csv" >balanced.txt
grow balanced.book 30000 balanced.txt
kagetsu compile --book balanced.book --out "swap2-$variant.kbk" --force
