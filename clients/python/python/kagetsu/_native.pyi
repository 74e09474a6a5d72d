"""Types of the native module."""

from os import PathLike
from types import TracebackType
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    final,
)

_Path = Union[str, "PathLike[str]"]
_Self = TypeVar("_Self", bound="Book")

__version__: str

class PositionError(ValueError):
    """A variant, move, FEN or board that the rules do not allow."""

class BookError(Exception):
    """A book that cannot be opened, or is damaged."""

class ServerError(Exception):
    """A server that cannot be reached, or refuses the request."""

class CertificateError(ValueError):
    """A certificate that is damaged, or does not prove its claim."""

def variants() -> List[str]:
    """Returns the names of all variants."""

def views() -> List[Tuple[str, bool, str]]:
    """Returns the views of a book: the name, whether it needs a position, and a sentence."""

@final
class Position:
    """A position of a game. It never changes; `play` returns another one."""

    def __init__(
        self,
        variant: str,
        moves: str = "",
        *,
        fen: Optional[str] = None,
        board: Optional[str] = None,
        side: Optional[str] = None,
    ) -> None:
        """Makes a position.

        `moves` is a line such as "h8 i9" or "h2e2 h9g7", played from the start, the FEN or the
        board. In xiangqi a move may also be written as on a score sheet, such as "C2=5" or
        "炮二平五". `board` has the rows of a board from the top, with X, O and dots; `side`
        ("first" or "second") says who is to move on it.
        """
    @property
    def variant(self) -> str:
        """The name of the variant."""
    @property
    def side(self) -> str:
        """The side to move: "first" or "second"."""
    @property
    def moves(self) -> List[str]:
        """The moves that were played from the start, FEN or board."""
    @property
    def key(self) -> str:
        """32 hexadecimal digits, the same for all symmetries and orders of moves."""
    @property
    def key_bytes(self) -> bytes:
        """The key as 16 bytes in little-endian order, as `Book.lookup_keys` takes it."""
    @property
    def fen(self) -> Optional[str]:
        """The FEN; None for a game without FEN."""
    @property
    def board(self) -> Optional[List[str]]:
        """The rows of a board of stones from the top; None for a game with pieces."""
    @property
    def outcome(self) -> Optional[str]:
        """How the game has ended: "first", "second" or "draw"; None while it goes on."""
    def legal_moves(self) -> List[str]:
        """Returns the legal moves."""
    def forbidden_points(self) -> List[Tuple[str, str]]:
        """Returns the points that renju forbids to Black, with the reasons."""
    def parse_move(self, text: str) -> str:
        """Reads one move in any notation of the game, and returns it as Kagetsu writes it."""
    def play(self, moves: str) -> "Position":
        """Returns the position after some moves."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Value:
    """The value of a position, from the view of the side to move."""

    @property
    def score(self) -> Optional[int]:
        """Centi-units; None for a forced win or loss, and where nothing is known."""
    @property
    def win_in(self) -> Optional[int]:
        """Plies to a forced win."""
    @property
    def loss_in(self) -> Optional[int]:
        """Plies to a forced loss."""
    @property
    def depth(self) -> int:
        """Plies from the position to the end of the line that the value comes from."""
    @property
    def proof(self) -> str:
        """ "none", "win", "loss" or "draw"."""
    @property
    def proof_kind(self) -> Optional[str]:
        """How it is proven, such as "vcf" or "tree"; None without a proof."""
    @property
    def is_open(self) -> bool:
        """Whether a move without a value may be better than all others."""

@final
class MoveValue:
    """The knowledge about one move, from the view of the side that makes it."""

    @property
    def move(self) -> str:
        """The move."""
    @property
    def score(self) -> Optional[int]:
        """Centi-units; None for a forced win or loss, and where nothing is known."""
    @property
    def win_in(self) -> Optional[int]:
        """Plies to a forced win."""
    @property
    def loss_in(self) -> Optional[int]:
        """Plies to a forced loss."""
    @property
    def bound(self) -> str:
        """ "exact", "lower" (at least the score) or "upper" (at most the score)."""
    @property
    def depth(self) -> int:
        """Depth of the search in plies."""
    @property
    def nodes(self) -> int:
        """Positions that the search visited."""
    @property
    def line(self) -> List[str]:
        """The expected play, this move first."""
    @property
    def proof(self) -> str:
        """ "none", "win", "loss" or "draw"."""
    @property
    def proof_kind(self) -> Optional[str]:
        """How it is proven; None without a proof."""
    @property
    def engine(self) -> str:
        """The engine that valued the move."""
    @property
    def date(self) -> str:
        """The day of the search, such as "2026-11-24"."""

@final
class Answer(Sequence[MoveValue]):
    """The knowledge of a book or a search about a position: its moves, best first."""

    @property
    def position(self) -> Position:
        """The position."""
    @property
    def best(self) -> Optional[str]:
        """The best move; None where no move has more than an upper bound."""
    @property
    def value(self) -> Optional[Value]:
        """The value of the position; None where nothing is known."""
    @property
    def moves(self) -> List[MoveValue]:
        """The moves, best first."""
    def __len__(self) -> int: ...
    def __getitem__(self, which: Union[int, str]) -> MoveValue:  # type: ignore[override]
        """Returns a move by its rank (0 is the best) or its name."""
    def to_json(self) -> str:
        """Returns the JSON of `kagetsu query --json`."""
    def to_dict(self) -> Dict[str, Any]:
        """Returns the object of `kagetsu query --json` as a dictionary."""

@final
class Positions(Iterator[Answer]):
    """An iterator over the positions of a book."""

    def __iter__(self) -> "Positions": ...
    def __next__(self) -> Answer: ...

class Book:
    """A book file or folder."""

    def __init__(self, path: _Path) -> None: ...
    @property
    def path(self) -> str:
        """The path of the book."""
    @property
    def is_compiled(self) -> bool:
        """Whether the book is a compiled file."""
    def __len__(self) -> int: ...
    def __contains__(self, position: Position) -> bool: ...
    def __iter__(self) -> Positions: ...
    def lookup(self, position: Position) -> Optional[Answer]:
        """Looks up a position, in any orientation and reached by any order of moves."""
    def lookup_many(self, positions: Sequence[Position]) -> List[Optional[Answer]]:
        """Looks up many positions and releases Python's lock meanwhile."""
    def find(self, key: Union[str, bytes]) -> Optional[Value]:
        """Returns the value of the position with a key; None if the book lacks it."""
    def _find_many(self, keys: bytes) -> bytes: ...
    def pick(
        self,
        position: Position,
        temperature: float = 0.0,
        seed: Optional[int] = None,
        min_depth: int = 0,
    ) -> Optional[str]:
        """Chooses a move as an engine would; None if the book has none."""
    def _read(
        self, name: str, position: Optional[Position], options: str
    ) -> Optional[str]: ...
    # A method for each of `views`, such as `tree(position, plies=4)`: see `_views.py`.
    def __getattr__(self, name: str) -> Callable[..., Optional[Dict[str, Any]]]: ...
    def positions(self, roots: Sequence[Position] = ()) -> Positions:
        """Iterates over the positions, as answers.

        A compiled book holds no list of its positions: they are found by walking from `roots` (the
        starts of all variants by default) through all legal moves that stay in the book.
        """
    def close(self) -> None:
        """Closes a folder, so that other programs can open it."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None: ...

class Client:
    """A connection to `kagetsu serve` or `kagetsu-coordinator` over gRPC."""

    def __init__(
        self,
        url: str,
        *,
        tls_ca: Optional[_Path] = None,
        tls_cert: Optional[_Path] = None,
        tls_key: Optional[_Path] = None,
        token: Optional[str] = None,
        token_file: Optional[_Path] = None,
        insecure: bool = False,
        timeout: Optional[float] = 30.0,
    ) -> None:
        """Connects to a URL such as http://127.0.0.1:7615.

        `tls_ca` is the authority of an https server, such as ca.pem of `kagetsu certs`; `tls_cert`
        and `tls_key` are this client's own. Without `token` and `token_file` the variable
        KAGETSU_TOKEN may hold a token. `insecure` sends a token in plain text to another machine.
        `timeout` bounds each request in seconds, but for analyses.
        """
    def lookup(self, position: Position) -> Optional[Answer]:
        """Looks up a position in the server's book; None if the book lacks it."""
    def lookup_many(self, positions: Sequence[Position]) -> List[Optional[Answer]]:
        """Looks up many positions, 1,024 in a request."""
    def pick(
        self,
        position: Position,
        temperature: float = 0.0,
        seed: Optional[int] = None,
        min_depth: int = 0,
    ) -> Optional[str]:
        """Chooses a move as an engine would; None if the book has none."""
    def analyze(
        self,
        position: Position,
        *,
        depth: Optional[int] = None,
        nodes: Optional[int] = None,
        time: Optional[float] = None,
        top: int = 1,
        progress: Optional[Callable[[Answer], object]] = None,
    ) -> Answer:
        """Lets the cluster search a position. `progress` gets each answer on the way."""
    def _read(
        self, name: str, position: Optional[Position], options: str
    ) -> Optional[str]: ...
    # A method for each of `views`, such as `tree(position, plies=4)`: see `_views.py`.
    def __getattr__(self, name: str) -> Callable[..., Optional[Dict[str, Any]]]: ...
    def jobs(self) -> List[Dict[str, Any]]:
        """Returns the build jobs, as `kagetsu jobs list --json` prints them."""
    def workers(self) -> List[Dict[str, Any]]:
        """Returns the workers, as `kagetsu workers list --json` prints them."""

def analyze(
    position: Position,
    *,
    depth: Optional[int] = None,
    nodes: Optional[int] = None,
    time: Optional[float] = None,
    top: int = 1,
    threads: int = 1,
    table_mib: int = 64,
) -> Answer:
    """Searches a position and returns the values of its `top` best moves. Ctrl-C ends the search."""

@final
class Certificate:
    """A certificate that was checked."""

    @property
    def position(self) -> Position:
        """The proven position."""
    @property
    def claim(self) -> str:
        """ "win" or "loss", from the view of the side to move."""
    @property
    def plies(self) -> int:
        """The game ends within this many plies."""
    @property
    def positions(self) -> int:
        """Positions of the winner that were checked."""
    @property
    def nodes(self) -> int:
        """Nodes of the certificate."""

def verify(path: _Path) -> Certificate:
    """Checks a certificate by the rules alone, and releases Python's lock meanwhile."""
