"""Small trees of homes for the tests of discovery, and two made-up layouts to find them by."""

import os
from pathlib import Path

from pipeline.discover import Options, discover
from pipeline.model import Artifact, Collection, Home, Layout, Root

STATE = ("sessions", "dev_data", "logs/cn.log", "input_history.json", "permissions.yaml")
WHOLE = ("index", "extensions")
SECRETS = (
    "config.yaml",
    "config.json",
    "config.ts",
    ".env",
    "auth*.json",
    "index/globalContext.json",
    "mcpServers/*",
)
LAYOUTS = (
    Layout(
        "continue",
        (Root("state", (".continue",), STATE, whole=WHOLE, secrets=SECRETS),),
        lambda index: b"integrationType" not in index,
    ),
    Layout(
        "pearai",
        (Root("state", (".pearai",), STATE, whole=WHOLE, secrets=SECRETS),),
        lambda index: b"integrationType" in index,
    ),
)
MTIME_MS = 1_789_462_800_000


def classify(agent: str, path: str, _root: str) -> str | None:
    """Name the source of a session."""
    folder, _, name = path.rpartition("/")
    if folder != "sessions" or not name.endswith(".json"):
        return None
    return f"{agent}.index" if name == "sessions.json" else f"{agent}.session"


def put(root: Path, *paths: str, text: str = "{}", mtime_ms: int = MTIME_MS) -> Path:
    """Make files, and for a path that ends in `/` directories, below `root`. Returns `root`."""
    for path in paths:
        place = root / path
        if path.endswith("/"):
            place.mkdir(parents=True, exist_ok=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        os.utime(place, ns=(mtime_ms * 1_000_000, mtime_ms * 1_000_000))
    return root


def found(*inputs: Path | str, options: Options | None = None) -> list[Collection]:
    """The collections of inputs that can all be opened."""
    collections, errors = discover([str(name) for name in inputs], LAYOUTS, classify, options or Options())
    assert not errors
    return collections


def homes(*inputs: Path | str, options: Options | None = None) -> list[Home]:
    """The homes of all collections."""
    return [home for each in found(*inputs, options=options) for home in each.homes]


def the_home(*inputs: Path | str, options: Options | None = None) -> Home:
    """The only home."""
    (home,) = homes(*inputs, options=options)
    return home


def artifacts(*inputs: Path | str, options: Options | None = None) -> list[Artifact]:
    """The artifacts of all homes."""
    return [artifact for home in homes(*inputs, options=options) for artifact in home.artifacts]


def source_files(*inputs: Path | str, options: Options | None = None) -> list[str]:
    """Paths of all artifacts, in the order of collections, homes and files."""
    return [artifact.source_file for artifact in artifacts(*inputs, options=options)]


def users(*inputs: Path | str, options: Options | None = None) -> list[str | None]:
    """Users of all homes."""
    return [home.user for home in homes(*inputs, options=options)]
