"""A checker of win trees of freestyle and standard gomoku, without any dependency.

It is written from FORMAT.md ("Win tree, version 1") alone and shares no code with `kagetsu verify`.

    $ python3 kagetsu_proof.py h8-a1.proof --moves "h8 a1"

It does not play every reply at every node: it lets the loser pass, and finds the points that matter
after the pass. A reply elsewhere changes nothing, so only the replies on these points are played.
What is known of a node carries over to positions with other stones elsewhere (see `Checker`).

Exit code 0 the tree holds, 1 it does not, 2 an error.
"""

import argparse
import json
import sys
import time

MAGIC = "kagetsu-proof 1"
MAX_PLIES = 1_999
MAX_LINE_BYTES = 1 << 20
FIVE = 5
# Row stride of a board in a bit mask: the columns beyond the board stay empty.
STRIDE = 24
# Passes of the loser that may be open at a time. With more, nearly every point matters.
MAX_PASSES = 2
# Wins that are remembered.
MAX_MEMORY = 2_000_000
# Nodes of at most this length are checked at every position, which is cheaper than to look for a
# known win.
MAX_RECHECKED_PLIES = 3


class Fault(Exception):
    """Why a tree does not hold, with the line of the file."""

    def __init__(self, line, what):
        super().__init__(f"line {line}: {what}")
        self.line = line


class Board:
    """The points of a board of one size, as numbers and as bits of a mask."""

    def __init__(self, size):
        self.size = size
        self.points = [row * STRIDE + column for row in range(size) for column in range(size)]
        self.full = sum(1 << point for point in self.points)
        self.turns = [self._turn(number) for number in range(8)]
        self.products = self._products()
        # The first points of all rows of five points, by the step to the next point.
        self.rows_of_five = []
        for step_row, step_column in ((0, 1), (1, 0), (1, 1), (1, -1)):
            step, first = step_row * STRIDE + step_column, 0
            for row in range(size - 4 * step_row):
                for column in range(size):
                    if 0 <= column + 4 * step_column < size:
                        first |= 1 << (row * STRIDE + column)
            self.rows_of_five.append((step, first))

    def _turn(self, number):
        """The images of all points: bit 2 swaps columns and rows, then bits 0 and 1 mirror."""
        last, images = self.size - 1, {}
        for point in self.points:
            row, column = divmod(point, STRIDE)
            if number & 4:
                row, column = column, row
            if number & 1:
                column = last - column
            if number & 2:
                row = last - row
            images[point] = row * STRIDE + column
        return images

    def _products(self):
        """The number of the symmetry that is `first` and then `then`."""
        numbers = {tuple(turn[p] for p in self.points): n for n, turn in enumerate(self.turns)}
        return [
            [numbers[tuple(then[first[p]] for p in self.points)] for then in self.turns]
            for first in self.turns
        ]

    def read_move(self, text):
        """The point of a move as `h8`: a letter and the row from below; None for no point."""
        column = ord(text[0]) - ord("a") if text else -1
        digits = text[1:]
        if not (0 <= column < self.size and digits.isascii() and digits.isdigit()):
            return None
        if digits[0] == "0" or not 1 <= int(digits) <= self.size:
            return None
        return (int(digits) - 1) * STRIDE + column

    def name(self, point):
        row, column = divmod(point, STRIDE)
        return f"{chr(ord('a') + column)}{row + 1}"


def bits(mask):
    """The points of a mask."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def makes_five(stones, point, is_exact):
    """Whether the stone on `point` stands in a five; `is_exact`: and in no longer row."""
    for step in (1, STRIDE, STRIDE + 1, STRIDE - 1):
        count, at = 1, point - step
        while at >= 0 and stones >> at & 1:
            count, at = count + 1, at - step
        at = point + step
        while stones >> at & 1:
            count, at = count + 1, at + step
        if count == FIVE or (count > FIVE and not is_exact):
            return True
    return False


def rows_with(points, step, least):
    """The first points of rows of five points of which at least so many are in a mask."""
    second, third, fourth = points >> step, points >> 2 * step, points >> 3 * step
    fifth = points >> 4 * step
    both, one = points & second, points | second
    next_both, next_one = third & fourth, third | fourth
    if least >= 5:
        return both & next_both & fifth if least == 5 else 0
    if least == 4:
        return both & next_both | fifth & (both & next_one | one & next_both)
    if least == 3:
        return both & next_one | one & next_both | fifth & (both | next_both | one & next_one)
    if least == 2:
        return both | next_both | one & next_one | fifth & (one | next_one)
    return one | next_one | fifth if least == 1 else -1


class Tree:
    """A win tree as its file says it."""

    def __init__(self, lines):
        self.lines, self.number = lines, 0
        if self._next() != MAGIC:
            raise self._fault(f"a win tree begins with '{MAGIC}'")
        self._read_variant(self._after("variant"))
        line = self._next()
        stones, self.side, self.setup = [0, 0], 0, None
        if line.split(" ", 1)[0] == "setup":
            self.setup = line.split(" ", 1)[1] if " " in line else ""
            stones, self.side = self._read_setup(self.setup)
            line = self._next()
        self.stones, self.moves = stones, []
        for word in self._rest(line, "position").split():
            self._play(word)
        self._read_claim(self._after("claim"))
        self.first_line = self.number + 1
        self.nodes, self.plies_of = [], []
        self._read_nodes()

    def _fault(self, what):
        return Fault(self.number, what)

    def _next(self):
        self.number += 1
        line = next(self.lines, None)
        if line is None:
            raise self._fault("the file ends here, before its tree does")
        if len(line) > MAX_LINE_BYTES or not line.endswith("\n"):
            raise self._fault("the line does not end: the file was cut off")
        return line.rstrip("\r\n")

    def _rest(self, line, word):
        if line != word and not line.startswith(word + " "):
            raise self._fault(f"'{word}' is expected")
        return line[len(word) :].lstrip()

    def _after(self, word):
        return self._rest(self._next(), word)

    def _read_variant(self, text):
        rule, _, size = text.partition("-")
        if rule not in ("freestyle", "standard"):
            raise self._fault(f"'{text}': this checker knows freestyle and standard gomoku only")
        if not (size.isascii() and size.isdigit() and 5 <= int(size) <= 22):
            raise self._fault(f"'{text}': a board has 5 to 22 rows")
        self.variant, self.is_exact, self.board = text, rule == "standard", Board(int(size))

    def _read_setup(self, text):
        """The side to move, then five points a byte in base 3, a1 and b1 first."""
        try:
            data = bytes.fromhex(text)
        except ValueError:
            raise self._fault("a setup is bytes as hex digits") from None
        points = self.board.points
        if len(data) != 1 + (len(points) + 4) // 5 or data[0] > 1 or " " in text:
            raise self._fault("the setup is no position of this board")
        stones = [0, 0]
        for group, byte in enumerate(data[1:]):
            if byte >= 3**5:
                raise self._fault("the setup is no position of this board")
            for at in range(5):
                byte, digit = divmod(byte, 3)
                if digit and 5 * group + at >= len(points):
                    raise self._fault("the setup has a stone outside of the board")
                if digit:
                    stones[digit - 1] |= 1 << points[5 * group + at]
        for mask in stones:
            if any(makes_five(mask, point, self.is_exact) for point in bits(mask)):
                raise self._fault("the setup has a five")
        return stones, data[0]

    def _play(self, word):
        if self._is_over():
            raise self._fault(f"{word} comes after the end of the game")
        point = self.board.read_move(word)
        if point is None or (self.stones[0] | self.stones[1]) >> point & 1:
            raise self._fault(f"{word} is no legal move")
        self.moves.append(point)
        self.stones[self.side] |= 1 << point
        self.side ^= 1

    def _is_over(self):
        last = self.moves[-1] if self.moves else None
        is_five = last is not None and makes_five(self.stones[self.side ^ 1], last, self.is_exact)
        return is_five or self.stones[0] | self.stones[1] == self.board.full

    def _read_claim(self, text):
        words = text.split(" ")
        is_claim = len(words) == 2 and words[0] in ("win", "loss")
        if not is_claim or not (words[1].isascii() and words[1].isdigit()):
            raise self._fault("a claim is 'win' or 'loss' and a number of plies")
        self.claim, self.plies = words[0], int(words[1])
        if self.plies > MAX_PLIES:
            raise self._fault(f"a claim has at most {MAX_PLIES} plies")

    def _read_nodes(self):
        used = []
        while True:
            line = self._next()
            if line == "end" or line.startswith("end "):
                if line[4:] != str(len(self.nodes)):
                    raise self._fault(f"there are {len(self.nodes)} nodes")
                break
            node = self._read_node(line)
            below = [number for _, number, _ in node[1]]
            if node[2]:
                below.append(node[2][0])
            for number in below:
                used[number] = True
            longest = max((self.plies_of[number] + 1 for number in below), default=0)
            plies = longest + (node[0] is not None)
            if plies > self.plies:
                raise self._fault(f"the game may last {plies} plies, and {self.plies} are claimed")
            self.plies_of.append(plies)
            self.nodes.append(node)
            used.append(False)
        if next(self.lines, None) is not None:
            self.number += 1
            raise self._fault("the tree has ended, but the file goes on")
        if not self.nodes:
            raise self._fault("a tree has at least one node")
        if not all(used[:-1]):
            raise Fault(self.first_line, f"no node refers to node {used.index(False) + 1}")
        if (self.nodes[-1][0] is None) != (self.claim == "loss"):
            raise self._fault("the root has a move where a win is claimed, and '-' for a loss")
        if self._is_over():
            raise Fault(self.first_line - 2, "the game is over")

    def _read_node(self, line):
        words = line.split(" ")
        if words[0] != str(len(self.nodes) + 1) or len(words) < 2:
            raise self._fault(f"node {len(self.nodes) + 1} and its move are expected")
        at = None if words[1] == "-" else self._move(words[1])
        replies, otherwise = {}, None
        for word in words[2:]:
            moves, arrow, target = word.partition(">")
            if not arrow:
                raise self._fault(f"'{word}' is no answer, as in g7,g9>3 or *>11")
            number, turn = self._reference(target)
            if moves == "*":
                if otherwise:
                    raise self._fault("two answers to all other replies")
                otherwise = (number, turn)
                continue
            for text in moves.split(","):
                reply = self._move(text)
                if reply in replies:
                    raise self._fault(f"two answers to {text}")
                replies[reply] = (number, turn)
        return at, tuple((reply, *next_) for reply, next_ in replies.items()), otherwise

    def _move(self, text):
        point = self.board.read_move(text)
        if point is None:
            raise self._fault(f"'{text}' is no point of the board")
        return point

    def _reference(self, text):
        number, slash, turn = text.partition("/")
        if not (number.isascii() and number.isdigit() and 1 <= int(number) <= len(self.nodes)):
            raise self._fault(f"'{number}' is no node before this one")
        if slash and turn not in tuple("01234567"):
            raise self._fault(f"'{text}': there is no such symmetry")
        if self.nodes[int(number) - 1][0] is None:
            raise self._fault(f"node {number} has no move")
        return int(number) - 1, int(turn or 0)


class Checker:
    """Checks that every legal reply of the loser has an answer that wins.

    The loser may *pass* in place of a reply that the node does not name. A pass stands for a stone
    of the loser on any point that does not matter. With stones of the loser on any other points,
    one for each open pass, the same answers win.

    A point matters if the winner plays there; or if it is one of five points in a row without a
    stone of the winner on which the loser has, with the open passes and one reply, enough stones
    for a five. After a pass, each reply on a point that matters is played as well.

    `node` and `replies` return what a win depends on: the points that matter; the points on which
    replies were played; the most replies elsewhere that the loser has until the end; and the stones
    of the loser that must stay, since no reply was played there.

    A win with stones L of the loser is a win with other stones M, too, and the same stones of the
    winner, if L and M agree on the points that matter, no stone that must stay is gone, M has no
    more stones than L, and no stone of M outside of L is in a row of five points without a stone of
    the winner that the loser may fill until the end.
    """

    def __init__(self, tree):
        self.tree, self.board = tree, tree.board
        # Wins by node, symmetry and the winner's stones.
        self.memory, self.remembered, self.images = {}, 0, {}
        # Positions after a reply at the root of a loss, as seen from the node that answers it.
        self.seen = set()
        self.positions = 0
        self.line = []

    def run(self):
        tree = self.tree
        winner = tree.side if tree.claim == "win" else tree.side ^ 1
        own, foe = tree.stones[winner], tree.stones[winner ^ 1]
        root = len(tree.nodes) - 1
        if tree.claim == "win":
            self.node(root, 0, own, foe, 0)
        else:
            self.replies(self.image(root, 0), root, own, foe, 0)

    def _fault(self, number, what):
        names = " ".join(self.board.name(point) for point in self.line)
        way = f"after {names}: " if names else ""
        return Fault(self.tree.first_line + number, way + what)

    def image(self, number, turn):
        """The move, the answers and the answer to other replies of a node under a symmetry."""
        if turn == 0:
            return self.tree.nodes[number]
        found = self.images.get((number, turn))
        if found is None:
            move, replies, otherwise = self.tree.nodes[number]
            turned, then = self.board.turns[turn], self.board.products
            named = tuple((turned[at], n, then[t][turn]) for at, n, t in replies)
            other = otherwise and (otherwise[0], then[otherwise[1]][turn])
            found = (None if move is None else turned[move], named, other)
            self.images[number, turn] = found
        return found

    def node(self, number, turn, own, foe, passes):
        """Checks a node with the winner to move, and returns what its win depends on."""
        is_long = self.tree.plies_of[number] > MAX_RECHECKED_PLIES
        if is_long:
            key = (number, turn, own)
            known = self.known(key, own, foe, passes)
            if known is not None:
                return known
        self.positions += 1
        image = self.image(number, turn)
        move = image[0]
        stone = 1 << move
        if (own | foe) & stone:
            raise self._fault(number, f"{self.board.name(move)} is taken")
        if makes_five(own | stone, move, self.tree.is_exact):
            return stone, 0, 0, 0
        self.line.append(move)
        zone, played, elsewhere, needed = self.replies(image, number, own | stone, foe, passes)
        self.line.pop()
        win = zone | stone, played, elsewhere, needed
        if is_long:
            self.remember(key, foe, passes, win)
        return win

    def known(self, key, own, foe, passes):
        """What the win of a node depends on, where one is known that carries over."""
        for old, old_passes, win in reversed(self.memory.get(key, ())):
            zone, played, elsewhere, needed = win
            if passes > old_passes or (foe ^ old) & zone or old & ~foe & needed:
                continue
            if foe.bit_count() + passes > old.bit_count() + old_passes:
                continue
            new, most = foe & ~old, 4 - elsewhere - passes
            if not new or not self.has_row(own, foe | played, new, most + 1):
                return win
        return None

    def has_row(self, own, stones, through, least):
        """Whether a row of five without a stone of the winner has so many of some stones."""
        for step, first in self.board.rows_of_five:
            rows = first & rows_with(stones, step, least) & rows_with(through, step, 1)
            if rows & ~rows_with(own, step, 1):
                return True
        return False

    def remember(self, key, foe, passes, win):
        if self.remembered >= MAX_MEMORY:
            self.memory.clear()
            self.remembered = 0
        self.remembered += 1
        self.memory.setdefault(key, []).append((foe, passes, win))

    def replies(self, image, number, own, foe, passes):
        """Checks all replies of the loser, who is to move; returns what the win depends on."""
        _, named, other = image
        if not named and other is None:
            raise self._fault(number, "the game goes on, and nothing follows")
        empty = self.board.full & ~(own | foe)
        fives, zone = self.loser_rows(own, foe, passes)
        for point in bits(fives):
            if makes_five(foe | 1 << point, point, self.tree.is_exact):
                raise self._fault(number, f"the loser makes a five by {self.board.name(point)}")
        if empty.bit_count() <= 1 + passes:
            raise self._fault(number, "the board is full, and nobody has won")
        # A reply that makes more than five in a row may make a five with fewer stones.
        played, elsewhere, needed = 0, 0, foe if fives else 0
        for point, child, turn in named:
            stone = 1 << point
            if empty & stone:
                empty ^= stone
                more = self.reply(point, child, turn, own, foe, passes)
                zone |= more[0]
                played |= more[1] | stone
                elsewhere = max(elsewhere, more[2])
                needed |= more[3]
            else:
                needed |= foe & stone
        if empty == 0:
            return zone, played, elsewhere, foe
        if other is None:
            point = next(bits(empty))
            raise self._fault(number, f"{self.board.name(point)} has no answer")
        more = self.others(other, empty, own, foe, passes)
        return zone | more[0], played | more[1], max(elsewhere, more[2]), needed | more[3]

    def others(self, answer, points, own, foe, passes):
        """Checks one answer to a reply on any of these points."""
        child, turn = answer
        move = self.image(child, turn)[0]
        if makes_five(own | 1 << move, move, self.tree.is_exact):
            # It answers every reply but the one on its own point.
            if (own | foe | points) >> move & 1:
                raise self._fault(child, f"{self.board.name(move)} is taken")
            return 1 << move, 0, 1, 0
        # A reply may do worse than a pass; without a win after the pass all are played, and none
        # on the points that are taken. At the root of a loss all are played, since most are images
        # of each other.
        zone, played, elsewhere, needed = 0, 0, 0, foe
        explicit = points
        if passes < MAX_PASSES and self.line:
            depth = len(self.line)
            try:
                zone, played, elsewhere, needed = self.node(child, turn, own, foe, passes + 1)
                elsewhere += 1
                explicit = points & zone
            except Fault:
                del self.line[depth:]
        for point in bits(explicit):
            more = self.reply(point, child, turn, own, foe, passes)
            zone |= more[0]
            played |= more[1] | 1 << point
            elsewhere = max(elsewhere, more[2])
            needed |= more[3]
        return zone, played, elsewhere, needed

    def reply(self, point, child, turn, own, foe, passes):
        foe |= 1 << point
        if not self.line:
            # Many replies at the root of a loss are images of each other. What the root depends on
            # is not used.
            seen = child, self.turned_back(own, turn), self.turned_back(foe, turn)
            if seen in self.seen:
                return 0, 0, 0, 0
            self.seen.add(seen)
        self.line.append(point)
        win = self.node(child, turn, own, foe, passes)
        self.line.pop()
        return win

    def turned_back(self, mask, turn):
        """The points whose images under a symmetry are in a mask."""
        points = self.board.turns[turn].items()
        return sum(1 << point for point, image in points if mask >> image & 1)

    def loser_rows(self, own, foe, passes):
        """The points on which four stones of the loser may become five, and those that matter."""
        fives = zone = 0
        for step, first in self.board.rows_of_five:
            full = first & rows_with(foe, step, 4)
            near = first & rows_with(foe, step, 4 - passes) if passes else 0
            if not full | near:
                continue
            closed = rows_with(own, step, 1)
            full, near = full & ~closed, near & ~closed
            for at in range(0, 5 * step, step):
                fives |= full << at
                zone |= near << at
        return fives & ~foe, zone & ~foe


def check(path, moves=None):
    """Checks one file; returns what it proves. Raises a Fault, OSError or UnicodeDecodeError."""
    with open(path, encoding="utf-8", newline="\n") as lines:
        tree = Tree(lines)
    names = [tree.board.name(point) for point in tree.moves]
    if moves is not None and (tree.setup is not None or names != moves.replace(",", " ").split()):
        raise Fault(3, "the tree proves another position than the one after --moves")
    checker = Checker(tree)
    checker.run()
    return {
        "holds": True,
        "variant": tree.variant,
        "setup": tree.setup,
        "moves": names,
        "claim": tree.claim,
        "plies": tree.plies_of[-1],
        "nodes": len(tree.nodes),
        "positions": checker.positions,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", metavar="FILE", nargs="+", help="win tree")
    parser.add_argument("--moves", metavar="LINE", help="the position that the tree must prove")
    parser.add_argument("--json", action="store_true", help="one JSON object a file")
    args = parser.parse_args()
    sys.setrecursionlimit(20 * MAX_PLIES)
    status = 0
    for path in args.files:
        begun = time.process_time()
        try:
            result = check(path, args.moves)
        except (OSError, UnicodeDecodeError) as error:
            result, status = {"holds": None, "fault": str(error)}, 2
        except Fault as fault:
            result, status = {"holds": False, "fault": str(fault), "line": fault.line}, status or 1
        result["seconds"] = round(time.process_time() - begun, 3)
        if args.json:
            print(json.dumps({"file": path, **result}))
        elif result["holds"]:
            line = " ".join(result["moves"])
            where = f"{result['variant']} {line}"
            if result["setup"] is not None:
                where = f"{result['variant']}, setup {result['setup']} {line}"
            print(f"{path} holds: {where.strip()} is a {result['claim']} for the side to move")
            print(f"within {result['plies']} plies; {result['nodes']} nodes, "
                  f"{result['positions']} positions, {result['seconds']} s of CPU")
        else:
            print(f"{path} does not hold: {result['fault']}")
    return status


if __name__ == "__main__":
    sys.exit(main())
