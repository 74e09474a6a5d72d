"""Asks a server what its book knows of a position.

    python3 lookup.py --server http://127.0.0.1:7615 --variant freestyle-15 --moves "h8 i9"

Exit code 0 found, 1 not in the book, 2 an error.
"""

import argparse
import sys

import kagetsu


def main() -> int:
    parser = argparse.ArgumentParser(description="Asks a server what its book knows of a position.")
    parser.add_argument("--server", default="http://127.0.0.1:7615", help="URL [default: %(default)s]")
    parser.add_argument("--tls-ca", help="the authority of an https server, such as ca.pem")
    parser.add_argument("--tls-cert", help="the certificate of this client")
    parser.add_argument("--tls-key", help="the key of that certificate")
    parser.add_argument("--token-file", help="a file with a token")
    parser.add_argument("--variant", required=True, help="such as freestyle-15, renju-15, xiangqi")
    parser.add_argument("--moves", default="", help='such as "h8 i9"')
    given = parser.parse_args()
    try:
        position = kagetsu.Position(given.variant, given.moves)
        client = kagetsu.Client(
            given.server,
            tls_ca=given.tls_ca,
            tls_cert=given.tls_cert,
            tls_key=given.tls_key,
            token_file=given.token_file,
        )
        answer = client.lookup(position)
    except (kagetsu.PositionError, kagetsu.ServerError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if answer is None:
        print("not in the book", file=sys.stderr)
        return 1
    for known in answer:
        print(known)
    print(f"pick {answer.best}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
