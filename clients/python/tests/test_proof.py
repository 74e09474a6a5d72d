"""The checker of certificates: what it knows of a node carries over to other stones."""

import random
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PYTHON))

import kagetsu_proof  # noqa: E402

DATA = PYTHON.parents[1] / "crates/certificate/tests/trees/data"


class EachAnew(kagetsu_proof.Checker):
    """The same checker, which does not carry anything over."""

    def known(self, key, own, foe, passes):
        return None


def wins(checker, own, foe):
    """Whether the root wins with these stones."""
    checker.line.clear()
    try:
        checker.node(len(checker.tree.nodes) - 1, 0, own, foe)
    except kagetsu_proof.Fault:
        return False
    return True


def changed(board, own, foe, numbers):
    """Other stones of the loser: some moved, some gone, some more."""
    for _ in range(numbers.randint(1, 4)):
        stones = list(kagetsu_proof.bits(foe))
        if numbers.random() < 0.75:
            foe ^= 1 << numbers.choice(stones)
        point = numbers.choice(board.points)
        if not (own | foe) >> point & 1:
            foe |= 1 << point
        if not foe:
            return 1 << point if not own >> point & 1 else foe
    return foe


@pytest.mark.parametrize("name", ["freestyle-small", "freestyle-large", "standard-small"])
def test_known_win_carries_over_to_other_stones(name):
    with open(DATA / f"{name}.proof", encoding="utf-8") as lines:
        tree = kagetsu_proof.Tree(lines)
    numbers = random.Random(name)
    checker = kagetsu_proof.Checker(tree)
    own, foe = tree.stones
    assert wins(checker, own, foe)
    results = []
    for _ in range(150):
        other = changed(tree.board, own, foe, numbers)
        if any(kagetsu_proof.makes_five(other, point, False) for point in kagetsu_proof.bits(other)):
            continue
        before = checker.positions
        won = wins(checker, own, other)
        assert won == wins(EachAnew(tree), own, other), hex(other)
        results.append((won, checker.positions == before))
    assert results.count((True, True)) > 2
    assert (False, False) in results


def test_longer_row_without_a_stone_is_a_five():
    with open(DATA / "standard-small.proof", encoding="utf-8") as lines:
        tree = kagetsu_proof.Tree(lines)
    checker = kagetsu_proof.Checker(tree)
    own = tree.stones[0]

    def stones(text):
        return sum(1 << tree.board.read_move(name) for name in text.split())

    assert wins(checker, own, stones("a15 b15 c15 d15 f15"))
    assert not wins(checker, own, stones("a15 b15 c15 d15 o1"))


# White has four on the diagonal, and its fifth point is beyond the corner.
BORDERED = """kagetsu-proof 1
variant freestyle-15
position h8 d4 h9 c3 h10 b2 e5 n1 h11 a1
claim win 3
1 h12
2 h7
3 o15 h12>2 *>1
end 3
"""


def test_win_that_needs_a_border_does_not_hold_on_the_plane(tmp_path):
    path = tmp_path / "tree.proof"
    path.write_text(BORDERED)
    assert kagetsu_proof.check(path)["holds"]
    with pytest.raises(kagetsu_proof.Fault, match="beyond"):
        kagetsu_proof.check(path, board="plane")
    with pytest.raises(kagetsu_proof.Fault, match="no part"):
        kagetsu_proof.check(path, board="14")
    path.write_text(BORDERED.replace("a1\n", "o1\n").replace("o15", "a15"))
    assert kagetsu_proof.check(path, board="20")["on_plane"]
