#!/usr/bin/env python3
"""Asks an engine how the winner goes on where a proof is open:

    python3 proofs/advise.py VARIANT OPEN ROOTS HINTS [OPTIONS of kagetsu analyze]

OPEN is the file of `kagetsu export --open`. From each of its positions the script goes back to the
last one that the engine values at 3.00 or more for the winner, or else to the one that it values
most. ROOTS gets these positions, for `build --policy prove --roots`, and HINTS the engine's moves
there, for `--hints`: those of its line where it sees a win, else those of six searches, with the
reply that it expects after each. An engine's word is no proof: the build searches for one. OPTIONS
are, for example, `--time 4s --engine gomocup:./pbrain-rapfi`. Needs kagetsu."""

import json
import subprocess
import sys

ENOUGH = 300
SEARCHES = 6


def main():
    variant, opened, roots_path, hints_path, *options = sys.argv[1:]
    known = {}

    def ask(moves):
        """Returns the value in hundredths for the side to move, whether it is a win, and the
        line."""
        if moves not in known:
            command = ["kagetsu", "analyze", "--json", "--variant", variant]
            told = subprocess.run(
                [*command, "--moves", " ".join(moves), *options], stdout=subprocess.PIPE, check=True
            )
            best = json.loads(told.stdout)["answers"][0]
            line = tuple(best["line"]) or (best["move"],)
            score = 30000 if best["win_in"] else -30000 if best["loss_in"] else best["score"]
            known[moves] = score, score > 29000, line
        return known[moves]

    roots, hints = {}, {}
    with open(opened) as lines:
        for moves in filter(None, (tuple(line.split()) for line in lines)):
            back = [moves[: len(moves) - k] for k in range(0, len(moves), 2)]
            root = next((m for m in back if ask(m)[0] >= ENOUGH), None)
            root = at = root or max(back, key=lambda m: ask(m)[0])
            roots[root] = None
            for _ in range(SEARCHES):
                score, is_won, line = ask(at)
                follows = len(line) if is_won else 1
                hints.update((at + line[: k + 1], None) for k in range(0, follows, 2))
                if is_won or score < 0 or len(line) < 2:
                    break
                at += line[:2]
            print(" ".join(root), ask(root)[0] / 100, file=sys.stderr, flush=True)
    for path, found in ((roots_path, roots), (hints_path, hints)):
        with open(path, "w") as out:
            out.writelines(" ".join(moves) + "\n" for moves in found)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        main()
    except subprocess.CalledProcessError:
        sys.exit(2)  # The command has said why.
    except (OSError, UnicodeError) as error:
        print(f"advise.py: {error}", file=sys.stderr)
        sys.exit(2)
