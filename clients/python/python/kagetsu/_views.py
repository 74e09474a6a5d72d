"""The views of a book, as methods of `Book` and `Client`."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Optional, TypeVar

from . import _native

_Class = TypeVar("_Class", bound=type)


def _method(name: str, at_position: bool, help: str) -> Callable[..., Optional[Dict[str, Any]]]:
    def at(
        self: Any, position: _native.Position, **options: Any
    ) -> Optional[Dict[str, Any]]:
        return _read(self, name, position, options)

    def whole(self: Any, **options: Any) -> Optional[Dict[str, Any]]:
        return _read(self, name, None, options)

    method: Callable[..., Optional[Dict[str, Any]]] = at if at_position else whole
    method.__name__ = name
    method.__doc__ = f"""{help}.

    The options and the result are those of /api/v1/{name}; None where the book has nothing to show.
    """
    return method


def _read(
    book: Any, name: str, position: Optional[_native.Position], options: Dict[str, Any]
) -> Optional[Dict[str, Any]]:
    given = {name: value for name, value in options.items() if value is not None}
    text = book._read(name, position, json.dumps(given))
    return None if text is None else json.loads(text)


def with_views(cls: _Class) -> _Class:
    """Gives a class a method for each view that has no form of its own there."""
    for name, at_position, help in _native.views():
        if not hasattr(cls, name):
            setattr(cls, name, _method(name, at_position, help))
    return cls
