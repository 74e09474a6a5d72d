"""Opening books, rules and search for gomoku, xiangqi and surakarta.

>>> import kagetsu
>>> position = kagetsu.Position("renju-15", "h8 h9")
>>> len(position.legal_moves())
223
"""

from ._native import (
    Answer,
    BookError,
    Certificate,
    CertificateError,
    MoveValue,
    Position,
    PositionError,
    Positions,
    ServerError,
    Value,
    __version__,
    analyze,
    variants,
    verify,
)
from ._book import Book, Client

__all__ = [
    "Answer",
    "Book",
    "BookError",
    "Certificate",
    "CertificateError",
    "Client",
    "MoveValue",
    "Position",
    "PositionError",
    "Positions",
    "ServerError",
    "Value",
    "__version__",
    "analyze",
    "variants",
    "verify",
]
