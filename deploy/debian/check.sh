#!/usr/bin/env bash
# Installs a package in a clean Debian below a folder, uses it, and removes it. Needs root, and
# debootstrap unless the folder holds a system already.
#   bash deploy/debian/check.sh kagetsu_amd64.deb [FOLDER]
set -euo pipefail

package=$(realpath "${1:?the package}")
root=${2:-}
if [[ -z $root ]]; then
    command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq debootstrap; }
    root=$(mktemp -d)
    # The services' user must reach what is below it.
    chmod 755 "$root"
    trap 'rm -rf "$root"' EXIT
fi
if [[ ! -e $root/usr/bin/dpkg ]]; then
    debootstrap --variant=minbase bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" >/dev/null
fi
inside() { chroot "$root" "$@"; }

cp "$package" "$root/kagetsu.deb"
inside dpkg --install /kagetsu.deb
inside kagetsu --version
inside getent passwd kagetsu >/dev/null
[[ $(inside stat --format '%U %a' /etc/kagetsu) == 'kagetsu 750' ]]
for file in usr/lib/systemd/system/kagetsu-{coordinator,worker}.service \
    usr/share/man/man1/kagetsu{,-build,-jobs-list,-coordinator,-worker}.1.gz \
    usr/share/bash-completion/completions/kagetsu etc/kagetsu/coordinator.env; do
    [[ -s $root/$file ]] || { echo "no $file" >&2; exit 1; }
done
# As the services' user: a book is built and asked.
as_user() { inside setpriv --reuid kagetsu --regid kagetsu --clear-groups "$@"; }
as_user kagetsu build --book /var/lib/kagetsu/book --variant freestyle-15 --moves h8 --positions 3 --depth 2
as_user kagetsu query --book /var/lib/kagetsu/book --variant freestyle-15 --moves h8
printf 'START 15\nEND\n' | inside pbrain-kagetsu | grep -q OK
inside kagetsu-bench --help >/dev/null
inside kagetsu-coordinator --version
inside kagetsu-worker --version
inside dpkg --purge kagetsu
[[ ! -e $root/usr/bin/kagetsu && -d $root/var/lib/kagetsu/book ]]
echo "the package installs, works and leaves; the book stays"
