"""Which directories of a loose tree are homes, and how homes make collections."""

import os
import sys
from pathlib import Path

import pytest

from pipeline.discover import Options, discover
from tests.trees import LAYOUTS, artifacts, classify, found, homes, put, source_files, the_home, users


def test_home_itself(tmp_path: Path) -> None:
    root = put(tmp_path / "h", ".continue/sessions/a.json", ".continue/sessions/sessions.json")

    assert source_files(root) == ["/.continue/sessions/a.json", "/.continue/sessions/sessions.json"]
    assert [a.home_path for a in artifacts(root)] == [
        ".continue/sessions/a.json",
        ".continue/sessions/sessions.json",
    ]
    assert users(root) == [None]


def test_directory_of_homes_is_one_collection(tmp_path: Path) -> None:
    put(tmp_path, "bob/.continue/sessions/b.json", "alice/.pearai/sessions/a.json", "carol/notes.txt")

    (collection,) = found(tmp_path)

    assert [home.user for home in collection.homes] == ["alice", "bob"]
    assert source_files(tmp_path) == ["/alice/.pearai/sessions/a.json", "/bob/.continue/sessions/b.json"]
    assert collection.input == str(tmp_path)


def test_agents_of_one_home_are_together(tmp_path: Path) -> None:
    put(tmp_path, ".pearai/sessions/p.json", ".continue/sessions/c.json")

    assert [(a.agent, a.source) for a in the_home(tmp_path).artifacts] == [
        ("continue", "continue.session"),
        ("pearai", "pearai.session"),
    ]


@pytest.mark.parametrize("state", ["sessions/", "dev_data/", "logs/cn.log", "input_history.json", "permissions.yaml"])
def test_state_makes_a_home(tmp_path: Path, state: str) -> None:
    put(tmp_path, f".continue/{state}")

    assert len(homes(tmp_path)) == 1


@pytest.mark.parametrize("path", ["rules/x.md", "config.yaml", "logs/core.log", "index/x", "prompts/p.prompt"])
def test_agent_directory_without_state_makes_none(tmp_path: Path, path: str) -> None:
    put(tmp_path, f"shop/.continue/{path}", f".continue/{path}")

    assert found(tmp_path) == []


def test_empty_agent_directory_is_a_home_without_artifacts(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/")

    (collection,) = found(tmp_path)

    assert collection.homes[0].artifacts == ()
    assert collection.collected_ms is None


@pytest.mark.parametrize("name", [".continue", ".pearai"])
def test_single_agent_directory(tmp_path: Path, name: str) -> None:
    put(
        tmp_path,
        f"alice/{name}/sessions/a.json",
        "alice/.continue/sessions/c.json",
        "bob/.continue/sessions/b.json",
    )

    home = the_home(tmp_path / "alice" / name)

    assert {a.source_file.split("/")[1] for a in home.artifacts} == {name}
    assert home.user is None
    assert home.identity == f"place\0{tmp_path}/alice"


def test_single_agent_directory_from_within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "home/alice/.continue/sessions/a.json")

    monkeypatch.chdir(tmp_path / "home/alice/.continue")

    assert source_files(".") == ["/.continue/sessions/a.json"]
    assert users(".") == ["alice"]


def test_fleet_has_a_collection_for_each_topmost_directory(tmp_path: Path) -> None:
    put(
        tmp_path,
        *(f"dc/{host}/home/{user}/.continue/sessions/s.json" for host in "ab" for user in ("u", "v")),
    )

    collections = found(tmp_path)

    assert [c.input for c in collections] == [f"{tmp_path}/dc/a/home", f"{tmp_path}/dc/b/home"]
    assert [h.user for c in collections for h in c.homes] == ["u", "v", "u", "v"]
    assert source_files(tmp_path)[0] == "/dc/a/home/u/.continue/sessions/s.json"


def test_mounted_image_is_one_collection(tmp_path: Path) -> None:
    put(tmp_path, "root/.continue/sessions/r.json", "home/alice/.continue/sessions/a.json", "usr/lib/x/y.so")

    (collection,) = found(tmp_path)

    assert [home.user for home in collection.homes] == ["alice", "root"]


def test_home_above_homes_loses_none(tmp_path: Path) -> None:
    put(
        tmp_path,
        ".continue/sessions/s.json",
        "alice/.continue/sessions/a.json",
        "bob/.continue/sessions/b.json",
    )

    (collection,) = found(tmp_path)

    assert [home.user for home in collection.homes] == ["alice", "bob", None]


def test_stray_agent_directory_in_an_image_loses_no_home(tmp_path: Path) -> None:
    put(
        tmp_path,
        ".continue/sessions/s.json",
        "home/.continue/sessions/s.json",
        "home/alice/.continue/sessions/a.json",
    )

    (collection,) = found(tmp_path)

    assert [home.user for home in collection.homes] == ["alice", "home", None]


def test_home_is_not_searched_for_others(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/s.json", "backup/2025/.continue/sessions/s.json")

    assert source_files(tmp_path) == ["/.continue/sessions/s.json"]


@pytest.mark.parametrize("name", ["node_modules", ".git"])
def test_some_directories_are_passed_by(tmp_path: Path, name: str) -> None:
    put(tmp_path, f"{name}/alice/.continue/sessions/s.json")
    put(
        tmp_path,
        f"home/{name}/m/sessions/sessions.json",
        f"home/{name}/m/index/",
        "home/.continue/sessions/a.json",
    )

    assert source_files(tmp_path) == ["/home/.continue/sessions/a.json"]


def test_explicit_moved_directory(tmp_path: Path) -> None:
    put(
        tmp_path,
        "home/work-state/sessions/a.json",
        "home/shop/.continue/rules/x.md",
        "home/shop/sessions/users.json",
    )
    options = Options(moved={"continue": ("work-state",), "pearai": ()})

    home = the_home(tmp_path / "home", options=options)

    assert [(a.home_path, a.source) for a in home.artifacts] == [("work-state/sessions/a.json", "continue.session")]
    assert home.user is None
    assert found(tmp_path / "home") == []


def test_explicit_moved_directory_of_each_home(tmp_path: Path) -> None:
    put(
        tmp_path,
        "alice/a/state/sessions/x.json",
        "bob/.continue/sessions/y.json",
        "bob/a/state/sessions/z.json",
    )

    assert source_files(tmp_path, options=Options(moved={"pearai": ("./a/state/",)})) == [
        "/alice/a/state/sessions/x.json",
        "/bob/.continue/sessions/y.json",
        "/bob/a/state/sessions/z.json",
    ]


def test_explicit_moved_directory_as_input(tmp_path: Path) -> None:
    put(tmp_path, "alice/a/state/sessions/x.json")
    options = Options(moved={"pearai": ("a/state",)})

    home = the_home(tmp_path / "alice/a/state", options=options)

    assert [a.source_file for a in home.artifacts] == ["/a/state/sessions/x.json"]
    assert home.identity == f"place\0{tmp_path}/alice"


def test_explicit_moved_directory_inside_an_agent_directory_is_listed_once(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/a.json", ".continue/sub/sessions/b.json")

    listed = artifacts(tmp_path, options=Options(moved={"pearai": (".continue/sub",)}))

    assert [(a.agent, a.home_path) for a in listed] == [
        ("continue", ".continue/sessions/a.json"),
        ("pearai", ".continue/sub/sessions/b.json"),
    ]


@pytest.mark.parametrize("path", ["/abs", "a/../../b", "", ".", "./"])
def test_moved_directory_outside_of_homes_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match=r"moved directory of continue: .* is not a path below a home"):
        found(tmp_path, options=Options(moved={"continue": (path,)}))


@pytest.mark.parametrize("beside", ["dev_data", "index"])
@pytest.mark.parametrize("path", ["state", "a/state", "a/.b/state"])
def test_moved_directory_is_found_up_to_three_levels_below_a_home(tmp_path: Path, path: str, beside: str) -> None:
    put(tmp_path, ".continue/sessions/a.json", f"{path}/sessions/sessions.json", f"{path}/{beside}/")

    assert f"/{path}/sessions/sessions.json" in source_files(tmp_path)


def test_what_is_no_moved_directory(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/a.json", "a/b/c/d/sessions/sessions.json", "a/b/c/d/index/")
    put(tmp_path, "app/sessions/sessions.json", "web/sessions/users.json", "web/index/", "api/index/")

    assert source_files(tmp_path) == ["/.continue/sessions/a.json"]


@pytest.mark.parametrize(
    ("index", "agent"), [("[]", "continue"), ('[{"integrationType":"x"}]', "pearai"), ("", "continue")]
)
def test_moved_directory_belongs_to_the_agent_of_its_index(tmp_path: Path, index: str, agent: str) -> None:
    put(tmp_path, ".continue/sessions/a.json", "state/dev_data/")
    put(tmp_path, "state/sessions/sessions.json", text=index)

    assert {a.agent for a in artifacts(tmp_path) if a.home_path.startswith("state/")} == {agent}


def test_home_with_a_moved_directory_alone(tmp_path: Path) -> None:
    put(tmp_path / "x/home", "a/state/sessions/sessions.json", "a/state/index/")

    home = the_home(tmp_path / "x/home")

    assert [a.source_file for a in home.artifacts] == ["/a/state/index", "/a/state/sessions/sessions.json"]
    assert home.user is None


def test_home_with_a_moved_directory_alone_beside_other_homes(tmp_path: Path) -> None:
    put(tmp_path, "h/home/alice/.continue/sessions/a.json", "h/home/bob/state/sessions/sessions.json")
    put(
        tmp_path,
        "h/home/bob/state/index/",
        "i/home/carol/state/sessions/sessions.json",
        "i/home/carol/state/index/",
    )

    collections = found(tmp_path)

    assert [[home.user for home in each.homes] for each in collections] == [["alice", "bob"], ["carol"]]
    assert [each.input for each in collections] == [f"{tmp_path}/h/home", f"{tmp_path}/i/home"]


def test_moved_directory_as_input(tmp_path: Path) -> None:
    put(tmp_path, "alice/state/sessions/sessions.json", "alice/state/dev_data/")

    home = the_home(tmp_path / "alice/state")

    assert [a.source_file for a in home.artifacts] == ["/state/sessions/sessions.json"]
    assert home.identity == f"place\0{tmp_path}/alice"


def test_moved_directories_of_a_home_in_a_home_are_its_own(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/s.json", "alice/.continue/sessions/a.json")
    put(tmp_path, "alice/state/sessions/sessions.json", "alice/state/index/")

    listed = {home.user: [a.home_path for a in home.artifacts] for home in homes(tmp_path)}

    assert "state/sessions/sessions.json" in listed["alice"]
    assert listed[None] == [".continue/sessions/s.json"]


def test_homes_and_collections_are_in_order(tmp_path: Path) -> None:
    names = ["z", "a", "M", "10", "2", "ä"]
    put(tmp_path, *(f"{top}/{name}/.continue/sessions/s.json" for top in ("two", "one") for name in names))

    collections = found(tmp_path / "two", tmp_path / "one")

    assert [c.input for c in collections] == [f"{tmp_path}/two", f"{tmp_path}/one"]
    assert [h.user for h in collections[0].homes] == ["10", "2", "M", "a", "z", "ä"]


def test_order_does_not_come_from_the_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, *(f"t{t}/u{u}/.continue/sessions/{s}.json" for t in "21" for u in "231" for s in "cab"))
    before = found(tmp_path)

    monkeypatch.setattr("pipeline.volume.Disk.listed", lambda _, path: (list(reversed(list(os.scandir(path)))), None))

    assert found(tmp_path) == before


def test_the_same_input_twice_is_read_once(tmp_path: Path) -> None:
    put(tmp_path, "alice/.continue/sessions/a.json", "bob/.continue/sessions/b.json")
    (tmp_path / "link").symlink_to(tmp_path)
    once = found(tmp_path)

    assert found(tmp_path, tmp_path, f"{tmp_path}/", tmp_path / "alice/..", tmp_path / "link") == once


def test_an_input_inside_another_is_read_once(tmp_path: Path) -> None:
    put(tmp_path, "alice/.continue/sessions/a.json", "bob/.continue/sessions/b.json")

    assert users(tmp_path, tmp_path / "alice", tmp_path / "bob/.continue") == ["alice", "bob"]
    assert users(tmp_path / "alice", tmp_path) == [None, "bob"]


def test_agent_directories_of_one_home_as_inputs_make_one_home(tmp_path: Path) -> None:
    put(tmp_path, "alice/.continue/sessions/a.json", "alice/.pearai/sessions/p.json")

    home = the_home(tmp_path / "alice/.pearai", tmp_path / "alice/.continue", tmp_path / "alice")

    assert [a.source_file for a in home.artifacts] == [
        "/.continue/sessions/a.json",
        "/.pearai/sessions/p.json",
    ]


def test_inputs_that_cannot_be_opened_are_one_line_each(tmp_path: Path) -> None:
    put(tmp_path, "alice/.continue/sessions/a.json", "a.tar", "new\nline")
    names = [str(tmp_path / name) for name in ("missing", "alice", "a.tar", "a.tar/x", "new\nline")]

    collections, errors = discover([*names, ""], LAYOUTS, classify, Options())

    assert [c.input for c in collections] == [names[1]]
    assert [str(error) for error in errors] == [
        f"cannot open {names[0]}: no such file or directory",
        f"{names[2]}: not a directory, and no archive that can be read",
        f"cannot open {names[3]}: not a directory",
        f"{tmp_path}/new\\nline: not a directory, and no archive that can be read",
        "'': not a directory, and no archive that can be read",
    ]


def test_input_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)

    _, errors = discover([str(tmp_path)], LAYOUTS, classify, Options())

    assert [str(error) for error in errors] == [f"cannot open {tmp_path}: permission denied"]


def test_links_are_never_followed(tmp_path: Path) -> None:
    put(tmp_path, "away/.continue/sessions/secret.json", "homes/alice/.continue/sessions/a.json")
    (tmp_path / "homes/bob").symlink_to(tmp_path / "away")
    (tmp_path / "homes/alice/.pearai").symlink_to(tmp_path / "away/.continue")
    put(tmp_path, "homes/carol/x/")
    (tmp_path / "homes/carol/.continue").symlink_to(tmp_path / "away/.continue")
    (tmp_path / "homes/alice/moved").symlink_to(tmp_path / "away")

    (collection,) = found(tmp_path / "homes", options=Options(moved={"continue": ("moved/.continue",)}))

    assert [(h.user, [a.source_file for a in h.artifacts]) for h in collection.homes] == [
        ("alice", ["/alice/.continue/sessions/a.json"])
    ]
    assert collection.homes[0].links == ("/alice/.pearai", "/alice/moved")
    assert collection.links == ("/carol/.continue",)


def test_links_are_told_of_where_there_is_no_home(tmp_path: Path) -> None:
    (tmp_path / ".continue").symlink_to("elsewhere")

    (collection,) = found(tmp_path)

    assert (collection.homes, collection.links, collection.collected_ms) == ((), ("/.continue",), None)


def test_the_input_may_be_a_link(tmp_path: Path) -> None:
    put(tmp_path, "data/alice/.continue/sessions/a.json")
    (tmp_path / "home").symlink_to("data")
    (tmp_path / ".continue").symlink_to("data/alice/.continue")
    (tmp_path / "state").symlink_to("data/alice/.continue")

    assert [h.identity for h in homes(tmp_path / "home")] == [f"place\0{tmp_path}/data/alice"]
    assert source_files(tmp_path / ".continue") == ["/.continue/sessions/a.json"]
    assert source_files(tmp_path / "state") == ["/.continue/sessions/a.json"]


def test_links_of_moved_directories_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, ".continue/sessions/a.json", "real/sessions/sessions.json", "half/index/")
    put(tmp_path, "other/index/", "other/sessions/")
    (tmp_path / "half/sessions").symlink_to(tmp_path / "real/sessions")
    (tmp_path / "other/sessions/sessions.json").symlink_to(tmp_path / "real/sessions/sessions.json")

    assert source_files(tmp_path) == ["/.continue/sessions/a.json"]


def test_directories_that_cannot_be_listed_are_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "alice/.continue/sessions/a.json", "bob/.continue/sessions/b.json")
    scandir = os.scandir
    shut = str(tmp_path / "bob")

    def refuse(path: str) -> object:
        if path == shut:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)

    (collection,) = found(tmp_path)

    assert [home.user for home in collection.homes] == ["alice"]
    assert collection.closed == ("/bob",)


@pytest.mark.parametrize("path", ["{deep}alice/.continue/sessions/a.json", ".continue/sessions/{deep}a.json"])
def test_deep_trees_need_no_deep_stack(tmp_path: Path, path: str) -> None:
    put(tmp_path, ".continue/x", path.format(deep="d/" * 400))
    limit = sys.getrecursionlimit()

    sys.setrecursionlimit(300)
    try:
        listed = source_files(tmp_path)
    finally:
        sys.setrecursionlimit(limit)

    assert any(name.endswith("/a.json") for name in listed)


@pytest.mark.parametrize(
    "name",
    [
        "a=b",
        "100%",
        "sp ace",
        "in[1]*",
        "new\nline",
        "qu'o\"te",
        "{user}",
        "😀",
        "ümläut",
        "x" * 120,
        "-",
        "~",
    ],
)
def test_names_of_every_kind(tmp_path: Path, name: str) -> None:
    put(tmp_path, f"{name}/{name}/.continue/sessions/{name}.json")

    home = the_home(tmp_path / name)

    assert home.user == name
    assert home.identity == f"place\0{tmp_path}/{name}/{name}"
    assert [a.source_file for a in home.artifacts] == [f"/{name}/.continue/sessions/{name}.json"]
    assert home.artifacts[0].location.read_bytes() == b"{}"


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"j\xfcrgen")
    put(tmp_path, f"{name}/.continue/sessions/\udcff.json", "jürgen/.continue/sessions/a.json")

    first, second = homes(tmp_path)

    assert first.user == "j\\xfcrgen"
    assert first.identity == f"place\0{tmp_path}/j\\xfcrgen"
    assert first.artifacts[0].source_file == "/j\\xfcrgen/.continue/sessions/\\xff.json"
    assert first.artifacts[0].home_path == ".continue/sessions/\\xff.json"
    assert first.artifacts[0].location.read_bytes() == b"{}"
    assert second.user == "jürgen"


def test_an_input_whose_name_is_not_utf8(tmp_path: Path) -> None:
    put(tmp_path, "\udcfc/.continue/sessions/a.json")

    (collection,) = found(f"{tmp_path}/\udcfc")

    assert collection.input == f"{tmp_path}/\\xfc"
    assert collection.homes[0].artifacts[0].location.read_bytes()


def test_names_that_look_escaped_stay_apart(tmp_path: Path) -> None:
    put(
        tmp_path,
        ".continue/sessions/\udcff.json",
        ".continue/sessions/\\xff.json",
        ".continue/sessions/a\\b.json",
    )

    assert source_files(tmp_path) == [
        "/.continue/sessions/\\x5cxff.json",
        "/.continue/sessions/\\xff.json",
        "/.continue/sessions/a\\b.json",
    ]
