"""Books of xiangqi in SQLite by the board and the keys of cchess (PyPI's cchess), which knows nothing of Kagetsu.

cchess_obk.py numbers            prints the numbers that its keys are made of
cchess_obk.py read BOOK FENS     holds an exported book against an exported list: `FEN; bm MOVE; ...` a line
cchess_obk.py write BOOK SEED    plays games by chance and writes them as a book; prints its rows and the last game's moves
"""

import random
import sqlite3
import struct
import sys

from cchess import ChessBoard
from cchess.common import FULL_INIT_FEN, iccs2pos, iccs_mirror, pos2iccs
from cchess.zhash_data import z_hashTable, z_redKey


def square(place):
    x, y = place
    return 0x33 + 16 * (9 - y) + x


def place(square):
    return (square - 0x33) % 16, 9 - (square - 0x33) // 16


def rows(base, board):
    """What the book says of a position or of its mirror image: moves and weights, in the book's order."""
    for turned, name in ((board, str), (board.mirror(), iccs_mirror)):
        key = turned.zhash()
        (real,) = struct.unpack("<d", struct.pack("<q", key))
        ask = "SELECT vmove, vscore FROM bhobk WHERE vkey IN (?, ?) AND vvalid = 1 ORDER BY vindex"
        said = base.execute(ask, (key, real)).fetchall()
        if said:
            return [(name(pos2iccs(place(move >> 8), place(move & 255))), score) for move, score in said]
    return []


def read(book, fens):
    base, asked, told = sqlite3.connect(book), 0, 0
    for line in open(fens):
        fen, best = line.split("; ")[:2]
        board = ChessBoard(fen)
        found = rows(base, board)
        assert found, f"no row of {fen}"
        assert found[0][0] == best.removeprefix("bm "), (fen, best, found)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True), (fen, found)
        for move, _ in found:
            assert board.is_valid_move(*iccs2pos(move)), (fen, move)
        asked, told = asked + 1, told + len(found)
    (all_rows,) = base.execute("SELECT count(*) FROM bhobk").fetchone()
    print(asked, told, all_rows)


def write(book, seed):
    chance = random.Random(seed)
    base = sqlite3.connect(book)
    base.execute(
        "CREATE TABLE bhobk(id INTEGER PRIMARY KEY, vkey, vmove INTEGER, vscore INTEGER, vwin INTEGER, vdraw INTEGER,"
        " vlost INTEGER, vvalid INTEGER, vmemo BLOB, vindex INTEGER)"
    )
    known = {}
    for _ in range(20):
        board, game = ChessBoard(FULL_INIT_FEN), []
        for _ in range(12):
            legal = [move for move in board.create_moves() if board.is_valid_move(*move) and not board.is_checked_move(*move)]
            move = chance.choice(legal)
            known.setdefault((board.zhash(), square(move[0]) << 8 | square(move[1])), chance.randrange(-300, 300))
            game.append(pos2iccs(*move))
            board.move(*move)
            board.next_turn()
    for (key, move), score in known.items():
        (real,) = struct.unpack("<d", struct.pack("<q", key))
        kept = real if key < 0 and real == real else key
        base.execute("INSERT INTO bhobk(vkey, vmove, vscore, vwin, vdraw, vlost, vvalid) VALUES (?, ?, ?, 0, 0, 0, 1)", (kept, move, score))
    base.commit()
    print(len(known), *game)


if sys.argv[1] == "numbers":
    print(*z_hashTable, z_redKey, sep="\n")
elif sys.argv[1] == "read":
    read(*sys.argv[2:])
else:
    write(*sys.argv[2:])
