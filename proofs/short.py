#!/usr/bin/env python3
"""Turns a certificate into the short form, or a short one into text of version 1:

    python3 proofs/short.py FILE.proof[.xz] > OTHER.proof

FORMAT.md describes both."""

import lzma
import sys

# A node less than this many lines above has the number of lines in place of its own number.
NEAR = 100


def main(path):
    with lzma.open(path, "rt") if path.endswith(".xz") else open(path) as lines:
        version = next(lines, "").strip().removeprefix("kagetsu-proof ")
        if version not in ("1", "2"):
            raise ValueError("this is no certificate of version 1 or 2")
        shortens = version == "1"
        print(f"kagetsu-proof {2 if shortens else 1}")
        count, words = 0, []
        for line in lines:
            words = line.split()
            if words[0] in ("variant", "setup", "position", "claim", "end"):
                print(*words)
                continue
            count += 1
            move, *answers = words[1:] if shortens else words
            turned = []
            for answer in answers:
                replies, _, to = answer.partition(">")
                node, slash, turn = to.partition("/")
                at = int(node) if int(node) > 0 else count + int(node)
                if shortens:
                    at = at - count if count - at < NEAR else at
                turned.append(f"{replies}>{at}{slash}{turn}")
            print(*([move] if shortens else [count, move]), *turned)
    if words != ["end", str(count)]:
        raise ValueError("it was cut off")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        main(sys.argv[1])
    except (OSError, EOFError, ValueError, LookupError, lzma.LZMAError) as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        sys.exit(2)
