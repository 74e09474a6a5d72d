#!/usr/bin/env bash
# Grows freestyle-15.kbk from the openings of freestyle-15.txt, POSITIONS for each side, in the
# folder OUT: `books/freestyle-15.sh OUT 10000`. It goes on where it was stopped. Needs kagetsu.
set -euo pipefail
out=$1 positions=$2 here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out" && cd "$out"

# A thousand for each side in turn, so that a book that is stopped early serves both.
for ((entered = 1000; entered <= positions; entered += 1000)); do
    for side in first second; do
        kagetsu build --book freestyle-15.book --variant freestyle-15 \
            --roots "$here/freestyle-15.txt" --policy one-side --side "$side" --name "$side" \
            --alpha 2 --nodes 60000 --depth 60 --top 4 --positions "$entered" --threads 1
    done
done
kagetsu compile --book freestyle-15.book --out freestyle-15.kbk --force
