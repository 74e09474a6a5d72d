import json
import threading

import pytest

import kagetsu
from conftest import kagetsu as run
from kagetsu import Book, Position

POSITIONS = [("freestyle-15", "h8"), ("xiangqi", "h2e2"), ("freestyle-15", "h8 a1 i8 a3 j8 a5")]


@pytest.mark.parametrize("variant, moves", POSITIONS)
def test_lookups_match_the_command(compiled, folder, variant, moves):
    position = Position(variant, moves)
    for path in (compiled, folder):
        said = json.loads(run("query", "--book", path, "--variant", variant, "--moves", moves, "--json"))
        with Book(path) as book:
            answer = book.lookup(position)
            assert answer.to_dict() == said
            assert [known.move for known in answer] == [known["move"] for known in said["answers"]]
            assert book.pick(position) == said["best"]
            assert position in book


def test_moves_of_games_stand_by_their_number(folder, tmp_path):
    games = tmp_path / "games.txt"
    games.write_text("a0a1\nh2e2 h9g7\nh2e2 b9c7\n")
    run("import", "--format", "lines", "--variant", "xiangqi", "--book", tmp_path / "b", games)
    answer = Book(tmp_path / "b").lookup(Position("xiangqi"))
    assert answer[0].move == answer.moves[0].move == answer.best == "h2e2"


def test_bounds_are_not_written_as_values(compiled):
    answer = Book(compiled).lookup(Position("freestyle-15", "h8"))
    for known in answer:
        sign = {"exact": "", "lower": ">= ", "upper": "<= "}[known.bound]
        assert known.score is None or f", {sign}{known.score / 100:+.2f}" in repr(known)


def test_missing_positions_and_bad_files(compiled, tmp_path):
    book = Book(compiled)
    assert book.lookup(Position("freestyle-15", "a1")) is None
    assert book.find(Position("freestyle-15", "a1").key) is None
    with pytest.raises(ValueError):
        book.find("abc")
    with pytest.raises(TypeError):
        book.find(7)
    damaged = tmp_path / "damaged.kbk"
    damaged.write_bytes(compiled.read_bytes()[:-1])
    for path in (damaged, tmp_path / "missing", tmp_path):
        with pytest.raises(kagetsu.BookError):
            Book(path)


def test_a_walk_finds_all_positions(compiled, folder):
    roots = [Position(*place) for place in POSITIONS]
    with Book(folder) as book:
        listed = {answer.position.key for answer in book}
        assert len(listed) == len(book)
        behind = {answer.position.key for answer in book.positions(roots)}
        assert behind <= listed and behind
        lines = [answer.position.moves for answer in book]
        assert sum(map(bool, lines)) >= len(lines) - 4, "only starts have no moves"
    with pytest.raises(kagetsu.BookError, match="closed"):
        len(book)
    walked = [answer.position for answer in Book(compiled).positions(roots)]
    assert {position.key for position in walked} == listed
    assert len(walked) == len(listed)
    # The roots of the book are known to its file, so a walk without roots begins there.
    assert {answer.position.key for answer in Book(compiled)} <= listed
    elsewhere = [Position("freestyle-15", "a1")]
    with pytest.raises(ValueError, match="give roots"):
        list(Book(compiled).positions(elsewhere))


def test_keys_are_looked_up_in_batches(compiled):
    numpy = pytest.importorskip("numpy")
    book = Book(compiled)
    roots = [Position(*place) for place in POSITIONS]
    positions = [answer.position for answer in book.positions(roots)]
    keys = numpy.frombuffer(b"".join(p.key_bytes for p in positions) + bytes(16), dtype="<u8")
    rows = book.lookup_keys(keys.reshape(-1, 2))
    assert rows["found"][:-1].all() and not rows["found"][-1]
    for position, row in zip(positions, rows):
        value = book.find(position.key)
        assert value == book.find(position.key_bytes)
        assert value.depth == row["depth"]
        assert value.score is None or value.score == row["score"]
        if value.win_in is not None:
            assert value.win_in == 32000 - row["score"] == row["plies"]
    with pytest.raises(ValueError, match="shape"):
        book.lookup_keys(keys)


def test_tables_have_a_row_for_each_move(compiled, folder):
    pyarrow = pytest.importorskip("pyarrow")
    with Book(folder) as book:
        table = book.to_arrow()
        moves = sum(len(answer) for answer in book)
    assert isinstance(table, pyarrow.Table) and table.num_rows == moves
    pandas = pytest.importorskip("pandas")
    roots = [Position(*place) for place in POSITIONS]
    # Each row is played by the rules, and says what a look-up says.
    for book, begin in [(Book(folder), []), (Book(folder), roots), (Book(compiled), roots)]:
        for row in book.to_pandas(begin).itertuples():
            position = Position(row.variant, row.line)
            answer = book.lookup(position)
            assert (position.key, position.play(row.move).moves[-1]) == (row.key, row.move)
            assert answer[row.move].score == (None if pandas.isna(row.value) else row.value)
            assert row.is_best == (answer.best == row.move)
    frame = Book(compiled).to_pandas(roots)
    assert isinstance(frame, pandas.DataFrame)
    best = frame[frame.is_best & (frame.line == "h8")].iloc[0]
    answer = Book(compiled).lookup(Position("freestyle-15", "h8"))
    assert best["move"] == answer.best and best["value"] == answer[answer.best].score


def test_threads_share_a_book(compiled):
    book, position = Book(compiled), Position("freestyle-15", "h8")
    expected = book.lookup(position).to_json()
    seen = []
    work = [threading.Thread(target=lambda: seen.append(book.lookup(position).to_json())) for _ in range(8)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert seen == [expected] * 8


def test_file_that_changes_is_an_error(compiled, tmp_path):
    path, position = tmp_path / "mine.kbk", Position("freestyle-15", "h8")
    path.write_bytes(compiled.read_bytes())
    used, fresh = Book(path), Book(path)
    expected = used.lookup(position).to_json()
    path.write_bytes(b"")
    assert used.lookup(position).to_json() == expected
    with pytest.raises(kagetsu.BookError, match="changed while it was open"):
        fresh.lookup(position)
    path.write_bytes(compiled.read_bytes())
    assert Book(path).lookup(position).to_json() == expected
