"""Measures look-ups of a compiled book in CPU time: python rates.py h8.kbk freestyle-15 h8"""

import random
import sys
import time
from typing import Callable

import numpy

import kagetsu

# Keys of one batch, and times that each measurement is repeated; the best counts.
BATCH = 1_000_000
REPETITIONS = 5


def rate(calls: int, run: Callable[[], None]) -> str:
    """Returns the calls a second of CPU time."""
    best = float("inf")
    for _ in range(REPETITIONS):
        begun = time.process_time()
        run()
        best = min(best, time.process_time() - begun)
    return f"{calls / best:,.0f} a second"


def main() -> None:
    path, variant, moves = sys.argv[1:]
    book = kagetsu.Book(path)
    root = kagetsu.Position(variant, moves)
    answers = list(book.positions([root]))
    keys = [answer.position.key for answer in answers]
    random.Random(1).shuffle(keys)
    print(f"{len(book):,} positions, {len(keys):,} behind the root")

    low = (1 << 64) - 1
    pairs = [[int(key, 16) & low, int(key, 16) >> 64] for key in keys]
    known = numpy.resize(numpy.array(pairs, dtype=numpy.uint64), (BATCH, 2))
    unknown = numpy.random.default_rng(1).integers(
        0, low, size=(BATCH, 2), dtype=numpy.uint64, endpoint=True
    )

    def batch(array: "numpy.typing.NDArray[numpy.uint64]", share: float) -> None:
        found = book.lookup_keys(array)["found"]
        assert abs(float(found.mean()) - share) < 0.01

    def single() -> None:
        for key in keys:
            assert book.find(key) is not None

    def single_positions() -> None:
        for answer in answers:
            assert book.lookup(answer.position) is not None

    print("lookup_keys, keys of the book:", rate(BATCH, lambda: batch(known, 1.0)))
    print("lookup_keys, other keys:", rate(BATCH, lambda: batch(unknown, 0.0)))
    print("find, one key:", rate(len(keys), single))
    print("lookup, one position with all moves:", rate(len(answers), single_positions))


if __name__ == "__main__":
    main()
