"""A small client of a Kagetsu server over gRPC, and an example.

Needs grpcio and protobuf (Debian: python3-grpcio, python3-protobuf). The messages are made at run time from the services as
data, `kagetsu.v1.bin`, which lies in this repository and which a server's reflection gives too; no code is generated.

    $ python3 kagetsu_client.py --server 127.0.0.1:7615 --variant freestyle-15 --moves "h8 i9"

Exit code 0 found, 1 not in the book, 2 an error.
"""

import argparse
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

DESCRIPTORS = Path(__file__).resolve().parents[2] / "proto/src/generated/kagetsu.v1.bin"
WIN = 32_000
OPINION_MAX = 30_000


def _messages():
    """The messages of kagetsu.v1, by name."""
    described = descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTORS.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    names = []
    for file in described.file:
        pool.Add(file)
        if file.package == "kagetsu.v1":
            names += [message.name for message in file.message_type]
    if hasattr(message_factory, "GetMessageClass"):
        make = message_factory.GetMessageClass
    else:  # protobuf before 4.22
        make = message_factory.MessageFactory(pool).GetPrototype
    return {name: make(pool.FindMessageTypeByName(f"kagetsu.v1.{name}")) for name in names}


v1 = SimpleNamespace(**_messages())


class Notation:
    """Moves as text and as the codes of the wire."""

    def __init__(self, variant):
        self.variant = variant
        self.gomoku = re.fullmatch(r"(freestyle|standard|renju)-(\d+)", variant)
        if self.gomoku:
            self.columns, self.first = int(self.gomoku[2]), 1
        elif variant.startswith("xiangqi"):
            self.columns, self.first, self.cells = 9, 0, 90
        elif variant.startswith("surakarta"):
            self.columns, self.first, self.cells = 6, 1, 36
        else:
            raise ValueError(f"unknown variant '{variant}'")

    def _cell(self, name):
        return (int(name[1:]) - self.first) * self.columns + ord(name[0]) - ord("a")

    def _name(self, cell):
        return f"{chr(ord('a') + cell % self.columns)}{cell // self.columns + self.first}"

    def read(self, line):
        """The codes of a line, as in "h8 i9" or "h8i9"."""
        points = [self._cell(name) for name in re.findall(r"[a-z]\d+", line.lower())]
        if self.gomoku:
            return points
        return [a * self.cells + b for a, b in zip(points[::2], points[1::2], strict=True)]

    def write(self, code):
        """A code as text."""
        if self.gomoku:
            return self._name(code)
        return self._name(code // self.cells) + self._name(code % self.cells)


class Client:
    """A connection to a coordinator, or to `kagetsu serve`."""

    def __init__(self, address, timeout=10.0):
        self.channel = grpc.insecure_channel(address)
        self.timeout = timeout

    def call(self, method, request, answer):
        """Calls a method, as in "Books/Lookup"."""
        to_bytes = type(request).SerializeToString
        stub = self.channel.unary_unary(f"/kagetsu.v1.{method}", to_bytes, answer.FromString)
        return stub(request, timeout=self.timeout)

    def position(self, variant, line=""):
        return v1.Position(variant=variant, moves=Notation(variant).read(line))

    def lookup(self, variant, line=""):
        """What the book knows: a list of (move, score, verdict), best first; None if it does not hold the position."""
        found = self.call("Books/Lookup", self.position(variant, line), v1.Found)
        if not found.HasField("answer"):
            return None
        notation = Notation(variant)
        return [(notation.write(verdict.move), score(verdict.score), verdict) for verdict in found.answer.verdicts]

    def pick(self, variant, line="", temperature=0.0, seed=None):
        """One move as an engine would choose it; None if the book has none."""
        request = v1.PickRequest(position=self.position(variant, line), temperature=temperature, seed=seed)
        try:
            picked = self.call("Books/Pick", request, v1.Picked)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.NOT_FOUND:
                return None
            raise
        return Notation(variant).write(picked.verdict.move)


def score(raw):
    """A score in words: "+34", "wins in 7", "loses in 8"."""
    if raw > OPINION_MAX:
        return f"wins in {WIN - raw}"
    if raw < -OPINION_MAX:
        return f"loses in {WIN + raw}"
    return f"{raw:+d}"


def main():
    parser = argparse.ArgumentParser(description="Asks a Kagetsu server what its book knows of a position.")
    parser.add_argument("--server", default="127.0.0.1:7615", help="host and port [default: %(default)s]")
    parser.add_argument("--variant", required=True, help="as in freestyle-15, renju-15, xiangqi, surakarta")
    parser.add_argument("--moves", default="", help='as in "h8 i9"')
    arguments = parser.parse_args()
    client = Client(arguments.server)
    try:
        known = client.lookup(arguments.variant, arguments.moves)
        if known is None:
            print("not in the book", file=sys.stderr)
            return 1
        for move, value, verdict in known:
            print(f"{move}\t{value}\tdepth {verdict.depth}\t{verdict.engine}")
        print(f"pick\t{client.pick(arguments.variant, arguments.moves)}")
        return 0
    except (grpc.RpcError, ValueError) as error:
        words = error.details() if isinstance(error, grpc.RpcError) else str(error)
        print(f"{arguments.server}: {words}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
