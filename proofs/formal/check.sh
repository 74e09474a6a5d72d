#!/bin/sh
# Has Rocq check the proofs, compiles the checker that is extracted from them, and runs it on
# certificates that hold and on others that do not.
#
# usage: check.sh [FOLDER]    the folder gets the build; target/formal of the checkout without one
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../target/formal}
mkdir -p "$out"
cp "$here"/*.v "$here/main.ml" "$out"
cd "$out"

for file in Gomoku Board Certificate Extract; do
    echo "checking $file.v"
    coqc -q -Q . Kagetsu $file.v >$file.log
done
# Extract.v prints what each theorem assumes.
if [ "$(sort -u Extract.log)" != "Closed under the global context" ]; then
    echo "a theorem rests on an axiom:"
    cat Extract.log
    exit 1
fi
ocamlopt -w -a -o kagetsu-formal checker.mli checker.ml main.ml

for file in "$here"/examples/holds/*.proof; do
    ./kagetsu-formal "$file"
done
for file in "$here"/examples/fails/*.proof; do
    if ./kagetsu-formal "$file"; then
        echo "$file was accepted"
        exit 1
    fi
done
echo "all checks passed"
