#!/usr/bin/env python3
"""Moves a certificate of gomoku to a smaller or larger board, as a guide for that board:

    python3 proofs/window.py FILE.proof[.xz] SIZE [COLUMN ROW] > guide.proof

COLUMN and ROW, from 0, are the point that becomes a1 (default: 0 0); on a larger board they are
negative or 0. Replies and answers outside the new board are left out, so the result proves nothing.
It says that it is of the other rule (standard for freestyle, freestyle for standard), as a guide of
`kagetsu export --with` must: that tries its moves and checks every answer by the rules. FORMAT.md
describes the file."""

import lzma
import sys

RULES = {"freestyle": "standard", "standard": "freestyle"}


class Symmetries:
    """The eight symmetries of a board, and what two of them make together."""

    def __init__(self, size):
        self.images = [[self.turned(size, k, at) for at in range(size * size)] for k in range(8)]
        numbers = {tuple(image): k for k, image in enumerate(self.images)}
        self.after = [
            [numbers[tuple(second[at] for at in first)] for second in self.images]
            for first in self.images
        ]

    @staticmethod
    def turned(size, k, at):
        y, x = divmod(at, size)
        if k & 4:
            x, y = y, x
        if k & 1:
            x = size - 1 - x
        if k & 2:
            y = size - 1 - y
        return y * size + x


def read(path):
    """Returns the size, the rule, the position, the claim and the nodes: each has its move or None,
    and answers of (replies or None for `*`, node, symmetry)."""
    opened = lzma.open(path, "rt") if path.endswith(".xz") else open(path)
    nodes = [None]
    with opened as lines:
        if next(lines, "").strip() != "kagetsu-proof 1":
            raise ValueError("this is no certificate in text of version 1")
        for words in map(str.split, lines):
            if not words:
                continue
            if words[0] == "variant":
                rule, size = words[1].rsplit("-", 1)
                size = int(size)
                if rule not in RULES:
                    raise ValueError(f"a certificate of {rule} is no guide for another rule")
                at = lambda name: (int(name[1:]) - 1) * size + ord(name[0]) - ord("a")
            elif words[0] == "setup":
                raise ValueError("its position has no moves from the empty board")
            elif words[0] == "position":
                position = [at(name) for name in words[1:]]
            elif words[0] == "claim":
                claim = " ".join(words)
            elif words[0].isdigit():
                answers = []
                for answer in words[2:]:
                    names, _, to = answer.partition(">")
                    node, _, turn = to.partition("/")
                    replies = [None if name == "*" else at(name) for name in names.split(",")]
                    answers.append((replies, int(node), int(turn or 0)))
                nodes.append((None if words[1] == "-" else at(words[1]), answers))
    if words != ["end", str(len(nodes) - 1)]:
        raise ValueError("it was cut off")
    return size, rule, position, claim, nodes


def main(path, small, column=0, row=0):
    size, rule, position, claim, nodes = read(path)
    symmetries = Symmetries(size)
    # Boards with one centre have the same symmetries.
    is_centred = column == row and 2 * column == size - small

    def name(at):
        x, y = at % size - column, at // size - row
        inside = 0 <= x < small and 0 <= y < small
        return f"{chr(ord('a') + x)}{y + 1}" if inside else None

    # names[k][at]: the point under symmetry k, or None outside the new board.
    names = [[name(at) for at in image] for image in symmetries.images]

    def answers(node, turn):
        for replies, to, by in nodes[node][1]:
            to_turn, symmetry = (0, by) if is_centred else (symmetries.after[by][turn], 0)
            if names[to_turn][nodes[to][0]] is None:
                continue
            kept = ["*" if at is None else names[turn][at] for at in replies]
            kept = [reply for reply in kept if reply]
            if kept:
                yield kept, (to, to_turn), symmetry

    # The turns in which a node is written, where the new board has none of these symmetries.
    turns = [set() for _ in nodes]
    turns[-1].add(0)
    for node in range(len(nodes) - 1, 0, -1):
        for turn in turns[node]:
            for _, (to, to_turn), _ in answers(node, turn):
                turns[to].add(to_turn)
    line = [names[0][at] for at in position]
    if None in line:
        raise ValueError("its position has a stone outside the new board")
    print(f"kagetsu-proof 1\nvariant {RULES[rule]}-{small}\nposition {' '.join(line)}\n{claim}")
    numbers = {}
    for node in range(1, len(nodes)):
        for turn in sorted(turns[node]):
            own = nodes[node][0]
            words = ["-" if own is None else names[turn][own]]
            shared = {}
            for kept, to, symmetry in answers(node, turn):
                number = f"{numbers[to]}/{symmetry}" if symmetry else f"{numbers[to]}"
                shared.setdefault(number, []).extend(kept)
            words += [f"{','.join(kept)}>{number}" for number, kept in shared.items()]
            numbers[node, turn] = len(numbers) + 1
            print(len(numbers), *words)
    print("end", len(numbers))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 5) or not all(word.lstrip("-").isdigit() for word in sys.argv[2:]):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        main(sys.argv[1], *map(int, sys.argv[2:]))
    except (OSError, EOFError, ValueError, LookupError, UnboundLocalError, lzma.LZMAError) as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        sys.exit(2)
