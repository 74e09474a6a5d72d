import copy
import pickle

import pytest

import kagetsu
from kagetsu import Position, PositionError


def test_transpositions_have_one_key():
    one = Position("freestyle-15", "h8 i9 h9")
    two = Position("freestyle-15", "h9i9h8")
    assert one.key == two.key and one == two and hash(one) == hash(two)
    assert one.key == one.key_bytes[::-1].hex()
    assert one != Position("freestyle-15", "h8 i9 h10")


@pytest.mark.parametrize("moves", ["h8 zz", "h8 h8", "h8 h99", "h8,", "炮二平五"])
def test_bad_moves_are_errors(moves):
    if moves == "h8,":
        assert Position("freestyle-15", moves).moves == ["h8"]
        return
    with pytest.raises(PositionError):
        Position("freestyle-15", moves)


def test_notations_of_xiangqi():
    start = Position("xiangqi")
    assert start.parse_move("炮二平五") == "h2e2"
    assert start.play("h2e2 h9g7").fen == start.play("炮二平五 馬８進７").fen
    with pytest.raises(PositionError):
        start.parse_move("h2h8")
    again = Position("xiangqi", fen=start.play("h2e2").fen)
    assert again.side == "second" and again.key == start.play("h2e2").key


def test_renju_names_forbidden_points():
    position = Position("renju-15", "h8 a1 i8 a3 j9 a5 j10 a7")
    forbidden = dict(position.forbidden_points())
    assert forbidden == {"j8": "double-three"}
    assert "j8" not in position.legal_moves()


def test_boards_and_copies():
    position = Position("freestyle-5", board=".....\n.X.O.\n..X..\n.....\n.....", side="second")
    assert position.side == "second" and position.board[1] == ".X.O."
    again = Position("freestyle-5", board="/".join(position.board), side="second")
    assert again == position == pickle.loads(pickle.dumps(position)) == copy.copy(position)
    with pytest.raises(ValueError):
        Position("freestyle-5", side="nobody")
    with pytest.raises(PositionError):
        Position("chess")
    assert "xiangqi" in kagetsu.variants()


def test_search_finds_a_win():
    position = Position("freestyle-15", "h8 a1 h9 a3 h10 a5")
    answer = kagetsu.analyze(position, depth=2)
    assert answer[0].win_in == 3 and answer.value.proof == "win"
    assert answer.best == answer[0].move == answer.to_dict()["best"]
    with pytest.raises(ValueError):
        kagetsu.analyze(position)
    with pytest.raises(ValueError):
        kagetsu.analyze(position, depth=0)
    for name, wrong in [("depth", 300), ("nodes", -1), ("top", 1 << 70), ("threads", -1)]:
        with pytest.raises(TypeError, match=f"'{name}'"):
            kagetsu.analyze(position, **{name: wrong})


def test_certificates_are_checked(tmp_path):
    good = tmp_path / "good.proof"
    good.write_text(
        "kagetsu-proof 1\nvariant freestyle-15\n"
        "position h8 a1 i8 a3 j8 a5 k8 a7\nclaim win 1\n1 g8\nend 1\n"
    )
    certificate = kagetsu.verify(good)
    assert (certificate.claim, certificate.plies, certificate.nodes) == ("win", 1, 1)
    bad = tmp_path / "bad.proof"
    bad.write_text(good.read_text().replace("1 g8", "1 c3"))
    with pytest.raises(kagetsu.CertificateError, match="bad.proof"):
        kagetsu.verify(bad)
    with pytest.raises(FileNotFoundError):
        kagetsu.verify(tmp_path / "missing")
