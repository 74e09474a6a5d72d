"""A book for the tests, grown by the command `kagetsu` that KAGETSU_PROGRAM or the path names."""

import os
import shutil
import subprocess

import pytest

PROGRAM = os.environ.get("KAGETSU_PROGRAM") or shutil.which("kagetsu")


def kagetsu(*arguments):
    """Runs the command and returns its standard output."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A book of gomoku, xiangqi and a proven win."""
    if PROGRAM is None:
        pytest.skip("no kagetsu: set KAGETSU_PROGRAM")
    book = tmp_path_factory.mktemp("books") / "test.book"
    for variant, moves, positions in [
        ("freestyle-15", "h8", 12),
        ("xiangqi", "h2e2", 3),
        ("freestyle-15", "h8 a1 i8 a3 j8 a5", 1),
    ]:
        kagetsu("build", "--book", book, "--variant", variant, "--moves", moves,
                "--positions", positions, "--depth", 4)
    return book


@pytest.fixture(scope="session")
def compiled(folder):
    """The same book, compiled."""
    path = folder.with_suffix(".kbk")
    kagetsu("compile", "--book", folder, "--out", path)
    return path
