"""`homelake share --texts secrets`: what is taken out of a text, and what stays."""

import json
from pathlib import Path

import duckdb
import pytest

from pipeline.share.masks import scrubbed
from tests.bounded import ending
from tests.lake import homelake, opened
from tests.made import MadeHome, call, reply, user

# Put together here, so that no tool that looks for secrets takes a test for one.
BODY = "\n".join("MIIEpAIBAAKCAQEA" + str(number) * 48 for number in range(1, 5))
PEM = f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{BODY}\nAb==\n-----END RSA PRIVATE {'KEY'}-----"
JWT = ".".join(("eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiIxIn0", "c2lnbmF0dXJl-_x"))
TOKENS = {
    "aws": "AKIA" + "QZ7" * 5 + "Q",
    "github": "ghp" + "_" + "a1B2" * 9,
    "github_fine": "github" + "_pat_" + "a1B2" * 12,
    "gitlab": "glpat" + "-" + "a1B2-_" * 4,
    "slack": "xoxb" + "-123456789012-" + "a1B2" * 6,
    "openai": "sk" + "-proj-" + "a1B2_-" * 8,
    "anthropic": "sk" + "-ant-api03-" + "a1B2_-" * 15,
    "google": "AIza" + "a1B2-" * 7,
    "stripe": "sk" + "_live_" + "a1B2" * 6,
    "npm": "npm" + "_" + "a1B2" * 9,
    "hugging_face": "hf" + "_" + "aBcD" * 9,
    "jwt": JWT,
    "pem": PEM,
    "pem_escaped": json.dumps(PEM)[1:-1],
    "pem_cut": PEM.split("Ab==")[0].rstrip(),
}


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def masked(connection: duckdb.DuckDBPyConnection, text: str | None) -> str | None:
    """A text as a share shows it."""
    (row,) = connection.execute(f"select {scrubbed('text')} from (select ? as text)", [text]).fetchall()
    found: str | None = row[0]
    return found


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_is_masked_and_nothing_beside_it(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    around = 'run "{}" -- then\n\u2028 go \x00 é {}\n'

    assert masked(connection, around.format(TOKENS[name], TOKENS[name])) == around.format("***", "***")


@pytest.mark.parametrize("before", ["\\n", "\\\\t", "%3D", "%20", "\\u003d", "\x1b[31m", "\\u001b[1m", "MY_"])
@pytest.mark.parametrize("name", ["aws", "github", "openai", "jwt"])
def test_a_token_is_masked_behind_an_escape(connection: duckdb.DuckDBPyConnection, name: str, before: str) -> None:
    assert masked(connection, f'{{"a": "x{before}{TOKENS[name]}"}}') == f'{{"a": "x{before}***"}}'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgres://svc:hunter2@db/x", "postgres://svc:***@db/x"),
        ("https://bob:p@ss:w@web01/", "https://bob:***@web01/"),
        ("https://web01:8080/a@b and a@example.org", None),
        ("password=hunter2&x=1", "password=***&x=1"),
        ("PASSWORD=b!c$d\n", "PASSWORD=***\n"),
        ('Password: "s3 cr et" ok', 'Password: "***" ok'),
        ("os.environ['DB_PASSWORD'] = 'abc def'", "os.environ['DB_PASSWORD'] = '***'"),
        ('{"password": "a\\"b\\\\c", "x": 1}', '{"password": "***", "x": 1}'),
        ('"{\\"api_key\\": \\"a\\\\\\\\b\\", \\"x\\": 1}"', '"{\\"api_key\\": \\"***\\", \\"x\\": 1}"'),
        ("const apiKey = `abc`;", "const apiKey = `***`;"),
        ("secret: hunter2", "secret: ***"),
        ("aws_secret_access_key = wJalrX/K7MDENG+bPx\nregion", "aws_secret_access_key = ***\nregion"),
        ("Authorization: Basic dXNlcjpwYXNz\nAccept: */*", "Authorization: Basic ***\nAccept: */*"),
        ('"authorization":"Bearer abc.def-123"', '"authorization":"Bearer ***"'),
        ("curl -u admin:geheim http://x", "curl -u admin:*** http://x"),
        ('"A=1\\nDB_PASSWORD=hunter2\\nB=2"', '"A=1\\nDB_PASSWORD=***\\nB=2"'),
        ('"token\\u003dhunter2\\u0026b"', '"token\\u003d***\\u0026b"'),
        ("/x?password%3Dhunter2&b", "/x?password%3D***&b"),
        ('"x\\nBearer abcdefghijklmnop"', '"x\\nBearer ***"'),
        ("run --db-password hunter -v", "run --db-password *** -v"),
        ('"run --token \\"a b\\" -v"', '"run --token *** -v"'),
        ("<dbPassword>hunter2</dbPassword>", "<dbPassword>***</dbPassword>"),
        ("?sv=1&sig=" + "aB3%2B" * 6 + "&x", "?sv=1&sig=***&x"),
        # What names a secret and holds none
        ("docker login --password-stdin <file; x --token $T --password -v", None),
        ("token = get_token(x)", None),
        ("def f(password: str, token: int = 5):", None),
        ("max_tokens: 4096, prompt_tokens=12", None),
        ("client_secret=$SECRET password=${PW} token=", None),
        ("password = input('Enter: ')", None),
        ("the secret of tokens: patience", None),
        ("Bearer of bad news; basic arithmetic", None),
        ("task-management-with-a-long-name-in-kebab-case", None),
        ("sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", None),
        ("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", None),
        ("", None),
        (None, None),
    ],
)
def test_values_beside_a_name_are_masked(
    connection: duckdb.DuckDBPyConnection, text: str | None, shown: str | None
) -> None:
    assert masked(connection, text) == (text if shown is None else shown)


@pytest.mark.parametrize(
    "text",
    [
        ("eyJ" + "a" * 8 + "-") * 100_000,
        ("eyJ" + "a" * 8 + "-ghp_" + "x" * 30 + "-") * 30_000,
        f"-----BEGIN PRIVATE {'KEY'}-----" * 50_000,
        f"-----BEGIN PRIVATE {'KEY'}-----" + ("a " * 20 + "AKIA" + "A" * 16 + " ") * 20_000,
        "a://b:" * 200_000,
        'password="' * 120_000,
        'password=\\"' * 120_000,
        "token:a1" * 150_000,
        ("token" + "\\" * 50) * 20_000,
        "password" + " " * 1_200_000,
        ("SG." + "a" * 40 + "-") * 25_000,
    ],
    ids=lambda text: text[:24],
)
def test_hostile_texts_take_no_longer_than_others(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Work that grows with the square of such a length would take many minutes."""
    with ending():
        masked(connection, text)


def test_secrets_are_gone_from_every_column_and_the_rest_stays(tmp_path: Path) -> None:
    tokens = [token for name, token in TOKENS.items() if "pem" not in name]
    home = MadeHome(tmp_path / "home")
    for number, token in enumerate(tokens):
        arguments = json.dumps({"command": f"curl -H 'X-Key: {token}' {number}", "why": "é\u2028"})
        asked = call(f"c{number}", arguments, name="Bash", output=f"said {token} {number}")
        home.session(
            f"s{number}", user(f"use {token} please {number}"), reply(f"I used {token}", asked), title=f"T {token}"
        )
    homelake("build", home.path, "-o", tmp_path / "lake", "--workers", "1")

    outcome = homelake("share", tmp_path / "lake", tmp_path / "out", "--texts", "secrets")

    assert outcome.exit_code == 0, outcome.stderr
    for query in (
        "select text from timeline",
        "select title from sessions",
        "select arguments from tool_calls",
        "select output from tool_calls",
        "select command from tool_calls",
    ):
        with opened(tmp_path / "lake") as lake, opened(tmp_path / "out") as share:
            expected = lake.column(query)
            assert any(token in text for token in tokens for text in expected)
            for token in tokens:
                expected = [text.replace(token, "***") for text in expected]
            assert sorted(share.column(query)) == sorted(expected)
            keys = "select row_id from timeline"
            assert not set(lake.column(keys)) & set(share.column(keys))
