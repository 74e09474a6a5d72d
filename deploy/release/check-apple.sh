#!/usr/bin/env bash
# Checks all programs for a system of Apple without its SDK: Zig brings the headers of its C library.
# Needs `rustup target add TARGET` and `pip install ziglang`.
# Usage: deploy/release/check-apple.sh TARGET, as in
#   bash deploy/release/check-apple.sh aarch64-apple-darwin
set -euo pipefail
target=${1:?the target is missing, as in aarch64-apple-darwin}
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Zig has names of its own for systems, and takes no SDK.
cat >"$work/cc" <<END
#!/usr/bin/env bash
given=()
while ((\$# > 0)); do
    case \$1 in
    --target=* | -mmacosx-version-min=*) ;;
    -arch | -isysroot) shift ;;
    *) given+=("\$1") ;;
    esac
    shift
done
exec python3 -m ziglang cc -target ${target%%-*}-macos "\${given[@]}"
END
printf '#!/bin/sh\nexec python3 -m ziglang ar "$@"\n' >"$work/ar"
chmod +x "$work"/*
export "CC_${target//-/_}=$work/cc" "AR_${target//-/_}=$work/ar" SDKROOT=$work
cargo check --locked --target "$target" --package book-tool --package kagetsu-coordinator \
    --package kagetsu-worker --package kagetsu-brain
