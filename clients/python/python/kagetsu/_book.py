"""Books with numpy, pyarrow and pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence

from . import _native
from ._views import with_views

if TYPE_CHECKING:
    import numpy
    import numpy.typing
    import pandas
    import pyarrow

# The layout of a row of `Book._find_many`.
_ROW = [
    ("found", "?"),
    ("proof", "u1"),
    ("best", "<u2"),
    ("depth", "<u2"),
    ("score", "<i2"),
    ("plies", "<u2"),
]
# Positions of one record batch.
_BATCH = 4096


@with_views
class Book(_native.Book):
    """A compiled book, or a book's folder.

    A folder is read as it is when it is opened; other programs may read and change it meanwhile.
    Close it, or use `with`, to remove its temporary files. Any number of threads may use a book.
    """

    def stats(self) -> Optional[Dict[str, Any]]:
        """Returns the statistics of the book, as `kagetsu stats --json` prints them."""
        return self.statistics()

    def lookup_keys(
        self, keys: "numpy.typing.NDArray[numpy.uint64]"
    ) -> "numpy.typing.NDArray[numpy.void]":
        """Looks up many keys of a compiled book at once, without holding Python's lock.

        `keys` has the shape (n, 2): the low and the high 64 bits of each key. The result is a
        structured array of n rows:

        - `found`: whether the book has the position; all else is 0 where it does not
        - `score`: centi-units; beyond 30,000 a win in `32000 - score` plies, below -30,000 a loss
        - `depth`: plies behind the value
        - `proof`: 0 none, 1 draw, 2 loss, 3 win, for the side to move; `plies`: of the proof
        - `best`: the code of the best move in the key's own orientation, or 65535
        """
        import numpy

        keys = numpy.ascontiguousarray(keys, dtype="<u8")
        if keys.ndim != 2 or keys.shape[1] != 2:
            raise ValueError(f"keys: the shape is {keys.shape}, and (n, 2) is needed")
        return numpy.frombuffer(self._find_many(keys.tobytes()), dtype=_ROW)

    def _batches(
        self, roots: Sequence[_native.Position]
    ) -> Iterator[Dict[str, List[Any]]]:
        """Yields columns of some thousand positions at a time."""
        columns: Optional[Dict[str, List[Any]]] = None
        for number, answer in enumerate(self.positions(list(roots))):
            if columns is None:
                columns = {name: [] for name in COLUMNS}
            _append(columns, answer)
            if number % _BATCH == _BATCH - 1:
                yield columns
                columns = None
        if columns is not None:
            yield columns

    def to_arrow(self, roots: Sequence[_native.Position] = ()) -> "pyarrow.Table":
        """Returns a table with a row for each move of each position; see `COLUMNS`.

        `roots` are the positions from which a compiled book is walked; see `positions`.
        """
        import pyarrow

        schema = pyarrow.schema(
            [
                pyarrow.field(name, getattr(pyarrow, kind)())
                for name, kind in COLUMNS.items()
            ]
        )
        batches = [
            pyarrow.RecordBatch.from_pydict(columns, schema=schema)
            for columns in self._batches(roots)
        ]
        return pyarrow.Table.from_batches(batches, schema=schema)

    def to_pandas(self, roots: Sequence[_native.Position] = ()) -> "pandas.DataFrame":
        """Returns a data frame with a row for each move of each position; see `COLUMNS`.

        Numbers that may be missing have pandas' nullable types.
        """
        import pandas

        types: Dict[str, Any] = {
            "int16": "Int16",
            "uint16": "UInt16",
            "uint8": "UInt8",
            "uint64": "UInt64",
            "bool_": "boolean",
            "string": "string",
        }
        frames = [
            pandas.DataFrame(
                {
                    name: pandas.array(columns[name], dtype=types[kind])
                    for name, kind in COLUMNS.items()
                }
            )
            for columns in self._batches(roots)
        ]
        if not frames:
            empty: Dict[str, Any] = {
                name: pandas.array([], dtype=types[kind]) for name, kind in COLUMNS.items()
            }
            return pandas.DataFrame(empty)
        return pandas.concat(frames, ignore_index=True)


@with_views
class Client(_native.Client):
    """A connection to `kagetsu serve` or `kagetsu-coordinator` over gRPC.

    It can be used by any number of threads at once.
    """


# The columns of `to_arrow` and `to_pandas`, with their types in Arrow.
COLUMNS = {
    "variant": "string",
    "line": "string",
    "position": "string",
    "key": "string",
    "side": "string",
    "move": "string",
    "is_best": "bool_",
    "value": "int16",
    "win_in": "uint16",
    "loss_in": "uint16",
    "bound": "string",
    "depth": "uint8",
    "nodes": "uint64",
    "proof": "string",
    "proof_kind": "string",
    "engine": "string",
    "date": "string",
}


def _append(columns: Dict[str, List[Any]], answer: _native.Answer) -> None:
    position, best, moves = answer.position, answer.best, answer.moves
    text = position.fen or "/".join(position.board or [])
    same: Dict[str, Any] = {
        "variant": position.variant,
        "line": " ".join(position.moves),
        "position": text,
        "key": position.key,
        "side": position.side,
    }
    for name, value in same.items():
        columns[name].extend([value] * len(moves))
    for known in moves:
        columns["move"].append(known.move)
        columns["is_best"].append(known.move == best)
        columns["value"].append(known.score)
        for name in (
            "win_in",
            "loss_in",
            "bound",
            "depth",
            "nodes",
            "proof",
            "proof_kind",
            "engine",
            "date",
        ):
            columns[name].append(getattr(known, name))
