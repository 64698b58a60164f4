"""What several test modules share: the real homes, the lake built from them, and the cases."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.answer import Form
from pipeline.query import run_query
from tests.lake import Lake, homelake, opened
from tests.layout import lay_out
from tests.tiny import make_lake

OpenLake = Callable[[Path], Lake]
BuildCase = Callable[..., Lake]
Ask = Callable[..., str]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real homes, one folder a user. No test writes into them."""
    return lay_out("corpus/homes", tmp_path_factory.mktemp("corpus") / "homes")


@pytest.fixture(scope="session")
def corpus_lake(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """The lake of the real homes."""
    path = tmp_path_factory.mktemp("corpus_lake") / "lake"
    outcome = homelake("build", corpus, "-o", path, "--workers", "1")
    assert outcome.exit_code == 0, outcome.stderr
    assert "checks    all passed" in outcome.stdout
    with opened(path) as lake:
        yield lake


@pytest.fixture
def open_lake() -> Iterator[OpenLake]:
    """Open lakes for the time of a test."""
    with contextlib.ExitStack() as stack:
        yield lambda path: stack.enter_context(opened(path))


@pytest.fixture
def build_case(tmp_path: Path, open_lake: OpenLake) -> BuildCase:
    """Lay a case out as `<tmp_path>/<case>`, build its input, and open the lake."""

    def build(case: str, source: str = "home", *options: str) -> Lake:
        folder = tmp_path / case
        if not folder.exists():
            lay_out(f"cases/{case}", folder)
        outcome = homelake("build", folder / source, "-o", tmp_path / "lake", "--workers", "1", *options)
        assert outcome.exit_code == 0, outcome.stderr
        assert "checks    all passed" in outcome.stdout
        return open_lake(tmp_path / "lake")

    return build


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of a few made-up rows, for queries."""
    return make_lake(tmp_path_factory.mktemp("query") / "lake")


@pytest.fixture
def ask(lake: Path, tmp_path: Path) -> Ask:
    """Ask the small lake; return what a file of the answer holds."""

    def run(query: str, form: Form = "table", at: Path = lake) -> str:
        run_query(at, query, form=form, output=tmp_path / "answer")
        return (tmp_path / "answer").read_bytes().decode()

    return run
