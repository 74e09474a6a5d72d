#!/usr/bin/env python3
"""Draws of five in a row on small boards: a strategy that stops the opponent's five.

The attacker moves first. The defender answers his first moves by a table, and ends with a pairing:
disjoint pairs of empty points, so that each row of five points without a stone of the defender
holds both points of a pair. From then on the defender answers each move on a point of a pair on
its other point, and so has a stone in every row.

    pairings.py check FILE...    plays every move of the attacker and checks every pairing
    pairings.py make SIZE        writes a table to stdout (needs the package python-sat)

A line of the table is a position, as the attacker's stones, `/`, the defender's stones, `>` and
the answer; where a pairing follows, `:` and its pairs. A position stands for all its images.
"""
import itertools
import lzma
import sys

# Answers that are tried at a position: with a pairing after them, and with a table.
PAIRED, FOLLOWED = 10, 4
# Conflicts of the search for a pairing, and moves of the attacker after the first.
MAX_CONFLICTS, MAX_DEPTH = 2000, 6


class Board:
    def __init__(self, size):
        self.size = size
        self.points = {(x, y) for x in range(size) for y in range(size)}
        steps = (0, 1), (1, 0), (1, 1), (1, -1)
        rows = (frozenset((x + i * dx, y + i * dy) for i in range(5))
                for x, y in self.points for dx, dy in steps)
        self.rows = sorted((row for row in rows if row <= self.points), key=sorted)

    def least(self, attacker, defender):
        """Returns the least image of a position."""
        last = self.size - 1
        images = []
        for flip_x, flip_y, swap in itertools.product((0, 1), repeat=3):
            def turn(point):
                x = last - point[0] if flip_x else point[0]
                y = last - point[1] if flip_y else point[1]
                return (y, x) if swap else (x, y)
            images.append((sorted(map(turn, attacker)), sorted(map(turn, defender))))
        return min(images)


def name(stones):
    return " ".join(f"{chr(97 + x)}{y + 1}" for x, y in sorted(stones))


def stones(text):
    return [(ord(word[0]) - 97, int(word[1:]) - 1) for word in text.split()]


def key(board, attacker, defender):
    attacker, defender = board.least(attacker, defender)
    return f"{name(attacker)}/{name(defender)}"


def require(holds, fault):
    if not holds:
        sys.exit(fault)


def reached(board, table):
    """Plays every move of the attacker, and yields each position that the table must answer, with
    the defender's stones after the answer, the free points, and the pairs, if there are any."""
    seen = set()
    left = [([point], []) for point in sorted(board.points)]
    while left:
        at = key(board, *left.pop())
        if at in seen:
            continue
        seen.add(at)
        require(at in table, f"{at}: no answer")
        # On in the orientation of the table.
        attacker, defender = map(stones, at.split("/"))
        answer, is_paired, pairs = table[at].partition(":")
        [answer], pairs = stones(answer), stones(pairs)
        free = board.points - set(attacker) - set(defender)
        require(answer in free, f"{at}: the answer is taken")
        free.remove(answer)
        defender.append(answer)
        if is_paired:
            yield at, defender, free, pairs
        else:
            left.extend((attacker + [point], defender) for point in free)
            yield at, defender, free, None


def check(path):
    """Checks that the table answers every move of the attacker, and that each pairing holds."""
    opened = lzma.open if path.endswith(".xz") else open
    with opened(path, "rt", encoding="ascii") as file:
        size = int(file.readline())
        table = dict(line.rstrip("\n").split(">") for line in file)
    board, count = Board(size), 0
    for at, defender, free, pairs in reached(board, table):
        count += 1
        if pairs is None:
            continue
        is_disjoint = len(set(pairs)) == len(pairs) and free.issuperset(pairs)
        require(is_disjoint, f"{at}: the points of the pairs are not free and different")
        pairs = [{one, other} for one, other in zip(pairs[::2], pairs[1::2])]
        for row in board.rows:
            is_closed = row & set(defender) or any(pair <= row for pair in pairs)
            require(is_closed, f"{at}: {name(row)} is open")
    print(f"{path}: no five of the attacker on {size}x{size}; {count} positions with an answer")


def pairing(rows, free):
    """Returns pairs of free points, one in each row; None if none is found."""
    from pysat.solvers import Minicard

    numbers, by_point = {}, {}
    clauses = []
    for row in rows:
        pairs = list(itertools.combinations(sorted(row & free), 2))
        for pair in pairs:
            if pair not in numbers:
                numbers[pair] = len(numbers) + 1
                for point in pair:
                    by_point.setdefault(point, []).append(numbers[pair])
        clauses.append([numbers[pair] for pair in pairs])
    if not all(clauses):
        return None
    with Minicard(bootstrap_with=clauses) as solver:
        for used in by_point.values():
            solver.add_atmost(used, 1)
        solver.conf_budget(MAX_CONFLICTS)
        if not solver.solve_limited():
            return None
        chosen = {number for number in solver.get_model() if number > 0}
    found = [pair for pair, number in numbers.items() if number in chosen]
    # A row needs one pair.
    for pair in list(found):
        rest = [other for other in found if other != pair]
        if all(any(row.issuperset(other) for other in rest) for row in rows):
            found = rest
    return found


class Maker:
    def __init__(self, size):
        self.board = Board(size)
        self.table, self.failed = {}, {}

    def holds(self, attacker, defender, depth):
        """Whether the defender, who is to move, has an answer within so many further moves."""
        at = key(self.board, attacker, defender)
        if at in self.table or self.failed.get(at, -1) >= depth:
            return at in self.table
        attacker, defender = (frozenset(stones(side)) for side in at.split("/"))
        free = self.board.points - attacker - defender
        open_rows = [row for row in self.board.rows if not row & defender]
        fours = {point for row in open_rows if len(row & attacker) == 4 for point in row & free}

        def worth(point):
            return -sum(4 ** len(row & attacker) for row in open_rows if point in row), point

        answers = sorted(fours or free, key=worth)
        for answer in answers[:PAIRED] if len(fours) < 2 else []:
            rest = [row for row in open_rows if answer not in row]
            pairs = pairing(rest, free - {answer})
            if pairs is not None:
                text = " ".join(name([point]) for pair in pairs for point in pair)
                self.table[at] = f"{name([answer])}:{text}"
                return True
        for answer in answers[:FOLLOWED] if len(fours) < 2 and depth > 0 else []:
            after = defender | {answer}
            moves = sorted(free - {answer}, key=worth)
            if all(self.holds(attacker | {move}, after, depth - 1) for move in moves):
                self.table[at] = name([answer])
                return True
        self.failed[at] = depth
        return False

    def make(self):
        for point in sorted(self.board.points, reverse=True):
            depths = range(MAX_DEPTH + 1)
            if not any(self.holds({point}, (), depth) for depth in depths):
                sys.exit(f"no strategy is found after {name([point])}")
            print(name([point]), len(self.table), file=sys.stderr, flush=True)
        print(self.board.size)
        for at, *_ in reached(self.board, self.table):
            print(f"{at}>{self.table[at]}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", size]:
            Maker(int(size)).make()
        case ["check", *paths] if paths:
            for path in paths:
                check(path)
        case _:
            sys.exit(__doc__)
