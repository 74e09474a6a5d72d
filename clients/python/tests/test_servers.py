import subprocess

import pytest

import kagetsu
from conftest import PROGRAM, kagetsu as run
from kagetsu import Book, Client, Position


@pytest.fixture(scope="module")
def secrets(tmp_path_factory):
    """Certificates and a token."""
    if PROGRAM is None:
        pytest.skip("no kagetsu: set KAGETSU_PROGRAM")
    folder = tmp_path_factory.mktemp("secrets")
    run("certs", folder / "certs")
    token = run("token", "new", "--tokens", folder / "tokens.toml", "--role", "read", "me")
    (folder / "me.token").write_text(token)
    return folder


def serve(book, *arguments):
    command = [PROGRAM, "serve", "--book", str(book), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    server = subprocess.Popen([*command, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    return server, line.rsplit(" ", 1)[1].strip()


def test_a_plain_server_answers(compiled):
    server, address = serve(compiled)
    try:
        client, position = Client(f"http://{address}"), Position("freestyle-15", "h8")
        local = Book(compiled).lookup(position)
        assert client.lookup(position).to_dict() == local.to_dict()
        assert client.pick(position) == local.best
        missing = Position("freestyle-15", "a1")
        assert client.lookup(missing) is None and client.pick(missing) is None
        many = client.lookup_many([position] * 1500 + [missing])
        assert len(many) == 1501 and many[0] is not None and many[-1] is None
        # A read-only server has no jobs.
        with pytest.raises(kagetsu.ServerError, match="does not know this request"):
            client.jobs()
    finally:
        server.terminate()
        server.wait()
    with pytest.raises(kagetsu.ServerError):
        Client(f"http://{address}").lookup(position)


def test_tls_and_tokens_are_used(compiled, secrets, monkeypatch):
    certs = secrets / "certs"
    server, address = serve(
        compiled, "--tls-cert", certs / "coordinator.pem", "--tls-key", certs / "coordinator.key",
        "--tls-client-ca", certs / "ca.pem", "--tokens", secrets / "tokens.toml",
    )
    url, position = f"https://{address}", Position("freestyle-15", "h8")
    own = dict(tls_ca=certs / "ca.pem", tls_cert=certs / "client.pem", tls_key=certs / "client.key")
    token = (secrets / "me.token").read_text().strip()
    try:
        assert Client(url, token=token, **own).lookup(position) is not None
        assert Client(url, token_file=secrets / "me.token", **own).lookup(position) is not None
        monkeypatch.setenv("KAGETSU_TOKEN", token)
        assert Client(url, **own).lookup(position) is not None
        monkeypatch.delenv("KAGETSU_TOKEN")
        with pytest.raises(kagetsu.ServerError, match="token"):
            Client(url, **own).lookup(position)
        with pytest.raises(kagetsu.ServerError):
            Client(url, token=token, tls_ca=certs / "ca.pem").lookup(position)
        with pytest.raises(kagetsu.ServerError, match="tls-ca"):
            Client(url, token=token)
        with pytest.raises(kagetsu.ServerError, match="plain text"):
            Client("http://192.0.2.1:7615", token=token)
        with pytest.raises(ValueError):
            Client(url, tls_cert=certs / "client.pem")
    finally:
        server.terminate()
        server.wait()
