"""A checker of win trees of freestyle, standard gomoku and renju, without any dependency.

It is written from FORMAT.md ("Win tree, version 1") alone and shares no code with `kagetsu verify`.

    $ python3 kagetsu_proof.py h8-a1.proof --moves "h8 a1"

It does not play every reply at every node: a win comes with conditions on the loser's stones, and
holds with all stones that meet them (see `Checker`). `docs/development/zones.md` has the proof.
With --board the board is a part of a larger one or of the plane, and the loser may play beyond it.
In renju it knows wins of the first side alone.

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
STRIDE = 32
# From a point to the next one in each direction.
STEPS = (1, STRIDE, STRIDE + 1, STRIDE - 1)
# Points on each side of a part of the plane: rows of five with a point of it lie within them.
MARGIN = 4
# A point that stands for all points of the plane that are not in the mask.
FAR = 1 << 64 * STRIDE
# The most stones of the loser in an open row where a reply makes no five.
MAX_IN_ROW = 3
# Wins that are remembered.
MAX_MEMORY = 200_000
# Nodes of at most this length are checked at every position, which is cheaper than to look for a
# known win.
MAX_RECHECKED_PLIES = 3


class Fault(Exception):
    """Why a tree does not hold, with the line of the file."""

    def __init__(self, line, what):
        super().__init__(f"line {line}: {what}")
        self.line = line


class Board:
    """The points of a board of one size, as numbers and as bits of a mask.

    `full` has the points on which the loser may play, and `beyond` those of them that are not on
    the board. There are some only if the board is a part of the plane.
    """

    def __init__(self, size, is_plane=False):
        self.size, self.margin = size, MARGIN if is_plane else 0
        side = size + 2 * self.margin
        self.points = [self._point(row, column) for row in range(size) for column in range(size)]
        self.inside = sum(1 << point for point in self.points)
        self.full = sum(1 << row * STRIDE + column for row in range(side) for column in range(side))
        if is_plane:
            self.full |= FAR
        self.beyond = self.full & ~self.inside
        self.turns = [self._turn(number) for number in range(8)]
        self.products = self._products()
        # For each point those at most five steps away in a direction, and itself.
        self.around = {point: self._around(point) & self.inside for point in self.points}
        # The first points of all rows of five points, by the step to the next point.
        self.rows_of_five = []
        for step_row, step_column in ((0, 1), (1, 0), (1, 1), (1, -1)):
            step, first = step_row * STRIDE + step_column, 0
            for row in range(side - 4 * step_row):
                for column in range(side):
                    if 0 <= column + 4 * step_column < side:
                        first |= 1 << (row * STRIDE + column)
            self.rows_of_five.append((step, first))

    @staticmethod
    def _around(point):
        steps = [step * count for step in STEPS for count in range(-FIVE, FIVE + 1)]
        return sum(1 << at for at in {point + step for step in steps} if at >= 0)

    def _point(self, row, column):
        return (row + self.margin) * STRIDE + column + self.margin

    def _place(self, point):
        row, column = divmod(point, STRIDE)
        return row - self.margin, column - self.margin

    def _turn(self, number):
        """The images of all points: bit 2 swaps columns and rows, then bits 0 and 1 mirror."""
        last, images = self.size - 1, {}
        for point in self.points:
            row, column = self._place(point)
            if number & 4:
                row, column = column, row
            if number & 1:
                column = last - column
            if number & 2:
                row = last - row
            images[point] = self._point(row, column)
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
        return self._point(int(digits) - 1, column)

    def name(self, point):
        if not self.inside >> point & 1:
            return "beyond"
        row, column = self._place(point)
        return f"{chr(ord('a') + column)}{row + 1}"


def read_number(text):
    """A number without sign or leading zeros; None for other text."""
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if is_number and str(int(text)) == text else None


def bits(mask):
    """The points of a mask."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def run(stones, point, step):
    """The number of stones in the row through `point` in one direction."""
    count, at = 1, point - step
    while at >= 0 and stones >> at & 1:
        count, at = count + 1, at - step
    at = point + step
    while stones >> at & 1:
        count, at = count + 1, at + step
    return count


def makes_five(stones, point, is_exact):
    """Whether the stone on `point` stands in a five; `is_exact`: and in no longer row."""
    runs = [run(stones, point, step) for step in STEPS]
    return FIVE in runs or (max(runs) > FIVE and not is_exact)


def lacking(stones, empty, point, step, length):
    """The ways to make a run of `length` with the stone on `point` by one more, on an empty point:
    the point, the other stones, and the two points beside the run, which have no stone.
    """
    for start in range(point - (length - 1) * step, point + step, step):
        places = range(start, start + length * step, step)
        if start < 0:
            continue
        gaps = [at for at in places if not stones >> at & 1]
        ends = [at for at in (start - step, start + length * step) if at >= 0]
        if len(gaps) == 1 and empty >> gaps[0] & 1 and not any(stones >> at & 1 for at in ends):
            yield gaps[0], tuple(at for at in places if at != gaps[0]), ends


def is_forbidden(stones, empty, point, read):
    """Whether renju forbids the first side an empty point that makes no five. `read` gets the
    points whose lines decide, if more than those of the point itself do.
    """
    stones, empty = stones | 1 << point, empty & ~(1 << point)
    if max(run(stones, point, step) for step in STEPS) > FIVE:
        return True
    fours, straight = set(), []
    for step in STEPS:
        fours |= {four for _, four, _ in lacking(stones, empty, point, step, FIVE)}
        # A straight four becomes a run of exactly five at both ends.
        points = set()
        for gap, _, ends in lacking(stones, empty, point, step, FIVE - 1):
            beyond = [at for at in (ends[0] - step, ends[-1] + step) if at >= 0]
            is_open = len(ends) == 2 and all(empty >> at & 1 for at in ends)
            if is_open and not any(stones >> at & 1 for at in beyond):
                points.add(gap)
        straight.append(points)
    if len(fours) > 1:
        return True
    if sum(1 for points in straight if points) < 2:
        return False
    threes = 0
    for points in straight:
        is_three = False
        for at in points:
            read.add(at)
            if not makes_five(stones | 1 << at, at, True):
                is_three = not is_forbidden(stones, empty, at, read) or is_three
        threes += is_three
    return threes > 1


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

    def __init__(self, lines, is_plane=False):
        self.lines, self.number, self.is_plane = lines, 0, is_plane
        if self._next() != MAGIC:
            raise self._fault(f"a win tree begins with '{MAGIC}'")
        self._read_variant(self._after("variant"))
        line = self._next()
        stones, self.side, self.setup = [0, 0], 0, None
        if line.split(" ", 1)[0] == "setup":
            self.setup = self._rest(line, "setup")
            stones, self.side = self._read_setup(self.setup)
            line = self._next()
        self.stones, self.moves = stones, []
        moves = self._rest(line, "position")
        for word in moves.split(" ") if moves else ():
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
        return line[:-1]

    def _rest(self, line, word):
        if line == word:
            return ""
        if not line.startswith(word + " ") or line == word + " ":
            raise self._fault(f"'{word}', a blank and a value are expected")
        return line[len(word) + 1 :]

    def _after(self, word):
        return self._rest(self._next(), word)

    def _read_variant(self, text):
        rule, _, size = text.partition("-")
        if rule not in ("freestyle", "standard", "renju"):
            raise self._fault(f"'{text}': this checker knows freestyle, standard and renju only")
        if rule == "renju" and self.is_plane:
            raise self._fault(f"'{text}': renju has no zones on the plane")
        if read_number(size) not in range(5, 23):
            raise self._fault(f"'{text}': a board has 5 to 22 rows")
        self.variant, self.is_renju = text, rule == "renju"
        # Whether six are no five, for each side.
        self.is_exact = (rule != "freestyle", rule == "standard")
        self.board = Board(int(size), self.is_plane)

    def _read_setup(self, text):
        """The side to move, then five points a byte in base 3, a1 and b1 first."""
        try:
            data = bytes.fromhex(text)
        except ValueError:
            raise self._fault("a setup is bytes as hex digits") from None
        points = self.board.points
        if len(data) != 1 + (len(points) + 4) // 5 or data[0] > 1 or data.hex() != text:
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
        for mask, is_exact in zip(stones, self.is_exact):
            if any(makes_five(mask, point, is_exact) for point in bits(mask)):
                raise self._fault("the setup has a five")
        return stones, data[0]

    def _play(self, word):
        if self._is_over():
            raise self._fault(f"{word} comes after the end of the game")
        point = self.board.read_move(word)
        if point is None or (self.stones[0] | self.stones[1]) >> point & 1:
            raise self._fault(f"{word} is no legal move")
        if self._forbids(point):
            raise self._fault(f"{word} is forbidden")
        self.moves.append(point)
        self.stones[self.side] |= 1 << point
        self.side ^= 1

    def _is_over(self):
        last = self.moves[-1] if self.moves else None
        other = self.side ^ 1
        is_five = last is not None and makes_five(self.stones[other], last, self.is_exact[other])
        empty = bits(self.board.inside & ~(self.stones[0] | self.stones[1]))
        return is_five or all(self._forbids(point) for point in empty)

    def _forbids(self, point):
        """Whether the side to move may not play an empty point."""
        own, foe = self.stones
        if not self.is_renju or self.side or makes_five(own | 1 << point, point, True):
            return False
        return is_forbidden(own, self.board.inside & ~(own | foe), point, set())

    def _read_claim(self, text):
        words = text.split(" ")
        is_claim = len(words) == 2 and words[0] in ("win", "loss")
        if not is_claim or read_number(words[1]) is None:
            raise self._fault("a claim is 'win' or 'loss' and a number of plies")
        self.claim, self.plies = words[0], int(words[1])
        if self.is_renju and (self.claim == "win") == bool(self.side):
            raise self._fault("this checker knows wins of the first side of renju alone")
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
        if read_number(number) not in range(1, len(self.nodes) + 1):
            raise self._fault(f"'{number}' is no node before this one")
        if slash and turn not in tuple("1234567"):
            raise self._fault(f"'{text}': there is no such symmetry")
        if self.nodes[int(number) - 1][0] is None:
            raise self._fault(f"node {number} has no move")
        return int(number) - 1, int(turn or 0)


class Checker:
    """Checks that every legal reply of the loser has an answer that wins.

    A win of a node with stones `own` of the winner comes with conditions on the stones of the
    loser: points that must be free of them, points that must keep one, and bounds for rows of five
    points. It holds with all stones of the loser that meet the conditions.

    Conditions are a tuple `(free, kept, bounds)`. `bounds[k]` has, for each direction, the first
    points of the rows that hold at most `k` stones of the loser. A row is open if it holds no stone
    of the winner. All points beyond a part of the plane are one more row, whose bit in `bounds[k]`
    comes last.
    """

    def __init__(self, tree):
        self.tree, self.board = tree, tree.board
        self.winner = tree.side if tree.claim == "win" else tree.side ^ 1
        self.is_exact, self.is_foe_exact = (tree.is_exact[self.winner ^ side] for side in (0, 1))
        # Conditions by node, symmetry and the winner's stones.
        self.memory, self.remembered, self.images = {}, 0, {}
        # Positions after a reply at the root of a loss, as seen from the node that answers it.
        self.seen = set()
        self.positions = 0
        self.line = []

    def run(self):
        tree = self.tree
        winner = self.winner
        own, foe = tree.stones[winner], tree.stones[winner ^ 1]
        root = len(tree.nodes) - 1
        if tree.claim == "win":
            self.node(root, 0, own, foe)
        else:
            self.root_of_loss(root, own, foe)

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

    def node(self, number, turn, own, foe):
        """Checks a node with the winner to move, and returns the conditions of its win."""
        is_long = self.tree.plies_of[number] > MAX_RECHECKED_PLIES
        if is_long:
            key = (number, turn, own)
            for known in reversed(self.memory.get(key, ())):
                if self.are_met(known, foe):
                    return known
        self.positions += 1
        image = self.image(number, turn)
        move = image[0]
        stone = 1 << move
        if (own | foe) & stone:
            raise self._fault(number, f"{self.board.name(move)} is taken")
        if makes_five(own | stone, move, self.is_exact):
            return stone, 0, NO_BOUNDS
        allowed = self.allowed(number, move, own, foe)
        self.line.append(move)
        win = self.replies(image, number, own | stone, foe)
        self.line.pop()
        win = both((stone, 0, NO_BOUNDS), both(win, allowed))
        if is_long:
            self.remember(key, win)
        return win

    def allowed(self, number, move, own, foe):
        """The conditions under which renju does not forbid a move that makes no five."""
        if not self.tree.is_renju:
            return NOTHING
        around = self.board.around
        for stones in (0, foe):
            read = set()
            empty = self.board.inside & ~(own | stones)
            is_wrong = is_forbidden(own, empty, move, read)
            if not is_wrong and not read:
                return 0, stones & around[move], NO_BOUNDS
        if is_wrong:
            raise self._fault(number, f"{self.board.name(move)} is forbidden")
        points = around[move]
        for point in read:
            points |= around[point]
        return points & ~(own | foe), points & foe, NO_BOUNDS

    def remember(self, key, win):
        if self.remembered >= MAX_MEMORY:
            self.memory.clear()
            self.remembered = 0
        self.remembered += 1
        self.memory.setdefault(key, []).append(win)

    def are_met(self, win, foe):
        free, kept, bounds = win
        return not free & foe and not kept & ~foe and not any(self.tight_rows(bounds, foe, 1))

    def tight_rows(self, bounds, foe, more):
        """The first points of rows that hold at least their bound and so many more stones; last,
        whether the points beyond do.
        """
        for direction, (step, _) in enumerate(self.board.rows_of_five):
            rows = 0
            for most in range(MAX_IN_ROW + 1):
                bounded = bounds[most][direction]
                if bounded:
                    rows |= bounded & rows_with(foe, step, most + more)
            yield rows
        stones = (foe & self.board.beyond).bit_count()
        yield any(bounds[most][4] and stones >= most + more for most in range(MAX_IN_ROW + 1))

    def replies(self, image, number, own, foe):
        """Checks all replies of the loser, who is to move; returns the conditions of the win."""
        _, named, other = image
        if not named and other is None:
            raise self._fault(number, "the game goes on, and nothing follows")
        everywhere = self.board.full & ~own
        if not everywhere & ~foe:
            raise self._fault(number, "the board is full, and nobody has won")
        win = self.without_fives(number, own, foe)
        for point, child, turn in named:
            stone = 1 << point
            if foe & stone:
                win = both(win, (0, stone, NO_BOUNDS))
            elif everywhere & stone:
                win = both(win, self.reply(point, child, turn, own, foe))
            everywhere &= ~stone
        if other is not None:
            return both(win, self.others(other, everywhere, own, foe))
        if everywhere & ~foe:
            point = next(bits(everywhere & ~foe))
            raise self._fault(number, f"{self.board.name(point)} has no answer")
        return both(win, (0, everywhere, NO_BOUNDS))

    def without_fives(self, number, own, foe):
        """Conditions under which no reply makes a five."""
        rows, is_quiet = [], True
        for step, first in self.board.rows_of_five:
            open_rows = first & ~rows_with(own, step, 1)
            is_quiet = is_quiet and not open_rows & rows_with(foe, step, MAX_IN_ROW + 1)
            rows.append(open_rows)
        if (foe & self.board.beyond).bit_count() > MAX_IN_ROW:
            raise self._fault(number, "the loser may make a five beyond the board")
        rows.append(1)
        if is_quiet:
            return 0, 0, NO_BOUNDS[:MAX_IN_ROW] + (tuple(rows),)
        for point in bits(self.board.full & ~(own | foe)):
            if makes_five(foe | 1 << point, point, self.is_foe_exact):
                raise self._fault(number, f"the loser makes a five: {self.board.name(point)}")
        # These stones alone.
        return self.board.full & ~foe, foe, NO_BOUNDS

    def others(self, answer, points, own, foe):
        """Checks one answer to a reply on any of these points, some of which the loser may hold."""
        child, turn = answer
        depth, win, relevant = len(self.line), NOTHING, points
        try:
            passed = self.node(child, turn, own, foe)
        except Fault:
            # The answer does not win after a pass, so every reply is played.
            del self.line[depth:]
        else:
            relevant = passed[0]
            *rows, is_tight_beyond = self.tight_rows(passed[2], foe, 0)
            for (step, _), tight in zip(self.board.rows_of_five, rows):
                for at in range(0, 5 * step, step):
                    relevant |= tight << at
            if is_tight_beyond:
                relevant |= self.board.beyond
            relevant &= points
            win = self.before(passed, points & ~relevant)
        if relevant & FAR:
            raise self._fault(child, "the loser has too many moves beyond the board before it")
        win = both(win, (0, relevant & foe, NO_BOUNDS))
        for point in bits(relevant & ~foe):
            win = both(win, self.reply(point, child, turn, own, foe))
        return win

    def before(self, win, points):
        """Conditions under which others are met after one more stone on one of these points."""
        free, kept, bounds = win
        new = [list(rows) for rows in bounds]
        for direction, (step, first) in enumerate(self.board.rows_of_five):
            through = first & rows_with(points, step, 1)
            for most in range(MAX_IN_ROW):
                new[most][direction] |= bounds[most + 1][direction] & through
        if points & self.board.beyond:
            for most in range(MAX_IN_ROW):
                new[most][4] |= bounds[most + 1][4]
        return free, kept, tuple(map(tuple, new))

    def reply(self, point, child, turn, own, foe):
        """Checks the answer to one reply, and returns the conditions before the reply."""
        stone = 1 << point
        self.line.append(point)
        win = self.node(child, turn, own, foe | stone)
        self.line.pop()
        free, kept, bounds = self.before(win, stone)
        return free, kept & ~stone, bounds

    def root_of_loss(self, root, own, foe):
        """Checks the replies at the root of a loss, many of which are images of each other."""
        _, named, other = self.tree.nodes[root]
        answers = {point: (child, turn) for point, child, turn in named}
        self.without_fives(root, own, foe)
        if self.tree.is_plane:
            if other is None:
                raise self._fault(root, "moves beyond the board have no answer")
            self.others(other, self.board.beyond, own, foe)
        for point in bits(self.board.inside & ~(own | foe)):
            answer = answers.get(point, other)
            if answer is None:
                raise self._fault(root, f"{self.board.name(point)} has no answer")
            child, turn = answer
            after = foe | 1 << point
            seen = child, self.turned_back(own, turn), self.turned_back(after, turn)
            if seen not in self.seen:
                self.seen.add(seen)
                self.reply(point, child, turn, own, foe)

    def turned_back(self, mask, turn):
        """The points whose images under a symmetry are in a mask."""
        points = self.board.turns[turn].items()
        return sum(1 << point for point, image in points if mask >> image & 1)


# No bounds: for each number of stones, no rows in any of the four directions or beyond the board.
NO_BOUNDS = ((0,) * 5,) * (MAX_IN_ROW + 1)
NOTHING = (0, 0, NO_BOUNDS)


def both(one, other):
    """The conditions that are met where two others are."""
    (free, kept, bounds), (more_free, more_kept, more_bounds) = one, other
    if more_bounds is not NO_BOUNDS:
        united = ((a | b for a, b in zip(*pair)) for pair in zip(bounds, more_bounds))
        bounds = tuple(map(tuple, united))
    return free | more_free, kept | more_kept, bounds


def check(path, moves=None, board=None):
    """Checks one file; returns what it proves. Raises a Fault, OSError or UnicodeDecodeError.

    `board` is the number of rows of a larger board, or "plane".
    """
    with open(path, encoding="utf-8", newline="\n") as lines:
        tree = Tree(lines, is_plane=board is not None)
    if board not in (None, "plane") and (read_number(board) or 0) < tree.board.size:
        raise Fault(2, f"the board of {tree.variant} is no part of one of {board} rows")
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
        "on_plane": tree.is_plane,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", metavar="FILE", nargs="+", help="win tree")
    parser.add_argument("--moves", metavar="LINE", help="the position that the tree must prove")
    parser.add_argument(
        "--board", metavar="N", help="a larger board of N rows, or `plane`: the loser may play there"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a file")
    args = parser.parse_args()
    sys.setrecursionlimit(20 * MAX_PLIES)
    status = 0
    for path in args.files:
        begun = time.process_time()
        try:
            result = check(path, args.moves, args.board)
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
            if result["on_plane"]:
                print("so it is on the plane, and on every board that contains this one")
            print(f"within {result['plies']} plies; {result['nodes']} nodes, "
                  f"{result['positions']} positions, {result['seconds']} s of CPU")
        else:
            print(f"{path} does not hold: {result['fault']}")
    return status


if __name__ == "__main__":
    sys.exit(main())
