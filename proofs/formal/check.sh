#!/bin/sh
# Has Rocq check the proofs, compiles the checker that is extracted from them, and runs it on
# certificates that hold and on others that do not.
#
# usage: check.sh [FOLDER [FILE...]]
# FOLDER gets the build; it is target/formal of the checkout by default. Each FILE must hold, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../target/formal}
[ $# -eq 0 ] || shift
data=$here/../../crates/certificate/tests/trees/data
program=$out/kagetsu-formal
mkdir -p "$out"
cp "$here"/*.v "$here"/*.ml "$out"

(
    cd "$out"
    for file in Gomoku Board Symmetry Certificate Zones Extract; do
        echo "checking $file.v"
        coqc -q -Q . Kagetsu $file.v >$file.log
    done
    # Extract.v prints what each theorem assumes.
    if [ "$(sort -u Extract.log)" != "Closed under the global context" ]; then
        echo "a theorem rests on an axiom:"
        cat Extract.log
        exit 1
    fi
    cp numbers_rocq.ml numbers.ml
    ocamlopt -w -a -inline 100 -o kagetsu-formal checker.mli checker.ml numbers.ml main.ml
    # The same checker with numbers of a library, which is faster and trusts more.
    if ocamlfind query zarith >/dev/null 2>&1; then
        mkdir -p zarith
        cp big.ml main.ml zarith
        cp numbers_zarith.ml zarith/numbers.ml
        (cd zarith && coqc -q -Q .. Kagetsu ../ExtractZarith.v >extract.log)
        (cd zarith && ocamlfind ocamlopt -package zarith -linkpkg -w -a -inline 100 \
            -o ../kagetsu-formal-zarith big.ml checker.mli checker.ml numbers.ml main.ml)
    fi
)

refused() {
    if "$program" "$@"; then
        echo "this was accepted: $*"
        exit 1
    fi
}

for file in "$here"/examples/holds/*.proof; do
    "$program" --every-reply "$file"
    "$program" "$file"
done
for file in "$data"/*-small.proof "$data"/*-large.proof "$@"; do
    "$program" "$file"
done
for file in "$here"/examples/fails/*.proof; do
    refused --every-reply "$file"
    refused "$file"
done
refused "$data/closed-six.proof"
echo "all checks passed"
