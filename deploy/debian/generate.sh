#!/usr/bin/env bash
# Writes the manual pages and completions that the package contains, with the programs of a folder:
#   bash deploy/debian/generate.sh target/release target/package
set -euo pipefail

programs=${1:?the folder of the programs}
out=${2:?the folder to write to}
mkdir -p "$out"
"$programs/kagetsu" man "$out" >/dev/null
for shell in bash zsh fish; do
    "$programs/kagetsu" completions "$shell" >"$out/kagetsu.$shell"
done
# The two servers describe themselves by --help.
for program in kagetsu-coordinator kagetsu-worker; do
    {
        printf '.TH %s 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n' "$program" "$program" \
            "$("$programs/$program" --help | head -n 1)"
        printf '.B %s\n[options]\n.SH DESCRIPTION\n.nf\n' "$program"
        "$programs/$program" --help | sed 's/\\/\\\\/g; s/^\./\\\&./; s/^'"'"'/\\\&'"'"'/; s/-/\\-/g'
        printf '.fi\n.SH SEE ALSO\n.BR kagetsu (1)\n'
    } >"$out/$program.1"
done
gzip --force --best --no-name "$out"/*.1
