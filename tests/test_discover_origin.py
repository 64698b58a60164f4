"""User, host, time and identity of homes in a loose tree."""

from pathlib import Path

import pytest

from pipeline.discover import Options
from pipeline.paths import Template, collected_ms
from tests.trees import MTIME_MS, found, homes, put, the_home, users

SESSION = ".continue/sessions/s.json"


@pytest.mark.parametrize(
    ("given", "home", "user"),
    [
        ("home/alice", "home/alice", "alice"),
        ("home", "home/alice", "alice"),
        ("fs", "fs/home/alice", "alice"),
        ("fs/C", "fs/C/Users/alice", "alice"),
        ("export/home/alice", "export/home/alice", "alice"),
        ("usr/home/alice", "usr/home/alice", "alice"),
        ("root", "root", "root"),
        ("img", "img/var/root", "root"),
        ("home/alice/.continue", "home/alice", "alice"),
        ("x/home", "x/home", None),
        ("x/alice", "x/alice", None),
        ("homes", "homes/alice", "alice"),
        ("homes", "homes/home", "home"),
        ("fleet", "fleet/a/b/alice", "alice"),
        ("home/alice/old", "home/alice/old", None),
        ("home/alice", "home/alice/old", "old"),
        ("users/alice", "users/alice", None),
    ],
)
def test_user_by_the_path(tmp_path: Path, given: str, home: str, user: str | None) -> None:
    put(tmp_path / home, SESSION)

    assert users(tmp_path / given) == [user]


def test_user_by_the_path_of_a_relative_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "home/alice", SESSION)
    monkeypatch.chdir(tmp_path / "home/alice")

    assert [users(given) for given in (".", "..", "../alice", "../../home")] == [["alice"]] * 4


def test_user_option_names_a_nameless_home_alone(tmp_path: Path) -> None:
    put(tmp_path / "x", SESSION, f"bob/{SESSION}")

    assert users(tmp_path / "x", options=Options(user="carol")) == ["bob", "carol"]


def test_host_option(tmp_path: Path) -> None:
    put(tmp_path, f"homes/alice/{SESSION}", f"homes/deep/home/bob/{SESSION}")

    collections = found(tmp_path / "homes", options=Options(host="web=01"))

    assert [(c.host, [(h.host, h.user) for h in c.homes]) for c in collections] == [
        ("web=01", [("web=01", "alice"), ("web=01", "bob")])
    ]


def test_identity_without_a_host_is_the_place(tmp_path: Path) -> None:
    put(tmp_path / "a", SESSION)
    put(tmp_path / "b", SESSION)

    assert the_home(tmp_path / "a").identity == f"place\0{tmp_path}/a"
    assert the_home(tmp_path / "a").identity != the_home(tmp_path / "b").identity


@pytest.mark.parametrize(
    ("given", "identity"),
    [("home", "h\0alice\0/alice"), ("", "h\0alice\0/home/alice"), ("home/alice", "h\0alice\0/")],
)
def test_identity_with_a_host_is_the_path_on_it(tmp_path: Path, given: str, identity: str) -> None:
    put(tmp_path / "home/alice", SESSION)

    assert the_home(tmp_path / given, options=Options(host="h")).identity == identity


def test_identity_of_a_home_without_a_user(tmp_path: Path) -> None:
    put(tmp_path / "x", SESSION)

    assert the_home(tmp_path / "x", options=Options(host="h")).identity == "h\0\0/"


def test_two_collections_of_one_home(tmp_path: Path) -> None:
    put(tmp_path, f"mon/home/{SESSION}", f"fri/home/{SESSION}")

    collections = found(tmp_path / "mon/home", tmp_path / "fri/home", options=Options(host="h", user="u"))

    assert [home.identity for each in collections for home in each.homes] == ["h\0u\0/"] * 2


def test_template_names_host_and_user(tmp_path: Path) -> None:
    put(tmp_path, *(f"{host}/home/{user}/{SESSION}" for host in ("web1", "web2") for user in ("u", "v")))

    collections = found(tmp_path, options=Options(path_template="{host}/home/{user}"))

    assert [(c.host, c.input) for c in collections] == [
        ("web1", f"{tmp_path}/web1/home"),
        ("web2", f"{tmp_path}/web2/home"),
    ]
    assert [h.identity for c in collections for h in c.homes][:2] == ["web1\0u\0/home/u", "web1\0v\0/home/v"]


def test_template_user_outweighs_the_path(tmp_path: Path) -> None:
    put(tmp_path, f"alice/profile/{SESSION}", f"bob/root/{SESSION}")

    assert users(tmp_path, options=Options(path_template="{user}/profile", user="x")) == ["alice", "root"]


def test_host_option_outweighs_the_template(tmp_path: Path) -> None:
    put(tmp_path, f"web1/home/u/{SESSION}")

    home = the_home(tmp_path, options=Options(path_template="{host}/home/{user}", host="real"))

    assert (home.host, home.identity) == ("real", "real\0u\0/home/u")


def test_template_leaves_out_time_and_host_of_the_identity(tmp_path: Path) -> None:
    put(tmp_path, f"1/carol/{SESSION}", f"2/carol/{SESSION}", f"10/carol/{SESSION}")

    collections = found(tmp_path, options=Options(path_template="{collected}/{user}", host="h"))

    assert [home.identity for each in collections for home in each.homes] == ["h\0carol\0/carol"] * 3
    assert sorted(each.collected_ms or 0 for each in collections) == [1, 2, 10]


def test_template_groups_by_time_and_host_under_the_input(tmp_path: Path) -> None:
    put(tmp_path, *(f"{user}/{day}/{SESSION}" for user in ("u", "v") for day in ("2026-09-18", "2026-09-15")))

    collections = found(tmp_path, options=Options(path_template="{user}/{collected}"))

    assert [[home.user for home in each.homes] for each in collections] == [["u", "v"], ["u", "v"]]
    assert [each.collected_ms for each in collections] == [1_789_430_400_000, 1_789_689_600_000]
    assert {each.input for each in collections} == {str(tmp_path)}


def test_home_that_does_not_match_keeps_its_own_origin(tmp_path: Path) -> None:
    put(tmp_path, f"web1/home/u/{SESSION}", f"web2/srv/v/{SESSION}", f"web2/home/deep/w/{SESSION}")

    found_homes = homes(tmp_path, options=Options(path_template="{host}/home/{user}"))

    assert sorted((h.host or "-", h.user or "-") for h in found_homes) == [
        ("-", "v"),
        ("-", "w"),
        ("web1", "u"),
    ]


def test_names_in_a_path_are_compared_exactly(tmp_path: Path) -> None:
    put(tmp_path, f"web1/Home/u/{SESSION}", f"web.*/home/v/{SESSION}")

    found_homes = homes(tmp_path, options=Options(path_template="web.*/home/{host}"))

    assert [(h.host, h.user) for h in found_homes] == [("v", "v"), (None, "u")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{hots}/home/{user}", "{hots} is none of {host}, {user}, {collected}"),
        ("{}/x", "{} is none of"),
        ("web-{host}/{user}", "in 'web-{host}' the braces are not the whole component"),
        ("{user}/{user}", "must name"),
        ("home/alice", "must name"),
        ("", "must name"),
    ],
)
def test_template_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^path template: ") as refused:
        found(tmp_path, options=Options(path_template=text))

    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_template_may_begin_and_end_with_a_slash() -> None:
    assert Template.parse("/{host}/home/{user}/").match(("h", "home", "u")) == {"host": 0, "user": 2}


@pytest.mark.parametrize(
    ("label", "milliseconds"),
    [
        ("2026-09-15T08:30:00Z", 1_789_461_000_000),
        ("2026-09-15T10:30:00+02:00", 1_789_461_000_000),
        ("2026-09-15 08:30:00.123", 1_789_461_000_123),
        ("20260915T083000Z", 1_789_461_000_000),
        ("20260915083000", 1_789_461_000_000),
        ("202609150830", 1_789_461_000_000),
        ("2026-09-15", 1_789_430_400_000),
        ("20260915", 1_789_430_400_000),
        ("2026-09", 1_788_220_800_000),
        ("1789461000", 1_789_461_000_000),
        ("1789461000123", 1_789_461_000_123),
        ("1789461000123456", 1_789_461_000_123),
        ("1", 1),
        ("007", 7),
        ("12345678", 12_345_678),
        ("2026", 2026),
        ("latest", None),
        ("-1", None),
        ("1.5", None),
        ("2026-13-01", None),
        ("1900-01-01", None),
        ("12345678901", None),
        ("1" * 200, None),
        ("", None),
    ],
)
def test_time_of_a_path_component(label: str, milliseconds: int | None) -> None:
    assert collected_ms(label) == milliseconds


def test_collected_is_the_newest_file_without_a_time(tmp_path: Path) -> None:
    put(tmp_path, f"latest/u/{SESSION}", mtime_ms=MTIME_MS)
    put(tmp_path, f"latest/v/{SESSION}", mtime_ms=MTIME_MS + 5)

    (by_mtime,) = found(tmp_path, options=Options(path_template="{collected}/{user}"))
    (by_option,) = found(tmp_path, options=Options(collected_ms=9))

    assert by_mtime.collected_ms == MTIME_MS + 5
    assert by_option.collected_ms == 9
