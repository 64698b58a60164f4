"""What the fuzz tests share: how long they run, and what holds of every lake, whatever it was built from.

They are the same each time; with `HOMELAKE_FUZZ=long` (`make fuzz`) they are many more, and others each time.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings

from pipeline.reasons import REASONS
from tests.lake import Lake, Outcome, homelake, opened

IS_LONG = os.environ.get("HOMELAKE_FUZZ") == "long"
_TIMES = 20

_LOSS = re.compile(
    r"parser: (?:"
    r"unparseable (?:line|record|record [0-9]+) \((?P<reason>\w+)\)(?::(?: .*)?)?"
    r"|array cut off after record [0-9]+"
    r"|unparseable data after the JSON (?:array|document)"
    r"|unreadable \((?P<whole>\w+)\)"
    r"|not a JSON array"
    r"|unsupported YAML at line [0-9]+ \(only allow, ask and exclude lists of strings are read\)"
    r")",
    re.DOTALL,
)
"""The texts that a loss may have."""

_DECODERS = re.compile(
    r"Expecting (?:value|property|',')|\(char [0-9]+\)|codec can't|JSON is malformed|Expected `"
    r"|while (?:parsing|scanning) a|Traceback \(most recent|database disk image|file is not a database|no such table"
)
"""Words of our decoders' messages, which are in no file that the tests read."""


def fuzz(examples: int) -> settings:
    """So many examples, the same each time; in a long run many more, and others each time."""
    return settings(
        max_examples=examples * (_TIMES if IS_LONG else 1),
        deadline=None,
        database=None,
        derandomize=not IS_LONG,
        print_blob=True,
        phases=[Phase.generate, Phase.shrink]
        if IS_LONG
        else [Phase.generate],  # the smallest case takes minutes to find
        suppress_health_check=list(HealthCheck),
    )


def build_sound(
    lake: Path, *inputs: Path, codes: frozenset[int] = frozenset((0,)), options: Iterable[str] = ()
) -> Outcome:
    """Build a lake; check how the command ended, and if there is a lake what must hold of every one."""
    outcome = homelake("build", *inputs, "-o", lake, "--workers", "1", *options)
    assert outcome.exit_code in codes, outcome.stderr
    assert all(line.startswith("homelake: ") for line in outcome.stderr.splitlines()), outcome.stderr
    if (lake / "lake.duckdb").exists():
        assert "checks    all passed" in outcome.stdout, outcome.stdout
        with opened(lake) as found:
            check(found)
    return outcome


def check(lake: Lake) -> None:
    """Every record is accounted for, every loss has its two rows, and both speak the closed list of reasons."""
    unbalanced = "select path, records, rows, losses, silent from artifacts where records <> rows + losses + silent"
    assert lake.rows(unbalanced) == []
    assert set(lake.column("select distinct reason from problems")) <= set(REASONS)
    told = "select source_file, source_line, count(*) from problems where lost and home_path is not null group by all"
    shown = "select source_file, source_line, count(*) from timeline where kind = 'problem' group by all"
    assert sorted(lake.rows(told)) == sorted(lake.rows(shown))
    lost = "select source_file, count(*) from problems where lost and current and home_path is not null group by all"
    counted = "select source_file, sum(losses) from artifacts where losses > 0 and current group by all"
    assert sorted(lake.rows(lost)) == sorted(lake.rows(counted))
    for text in lake.column("select text from timeline where kind = 'problem'"):
        form = _LOSS.fullmatch(text)
        assert form, text
        assert {form["reason"], form["whole"]} <= {None, *REASONS}, text
        assert not _DECODERS.search(text), text
    for detail in lake.column("select distinct detail from problems where detail is not null"):
        assert not _DECODERS.search(detail), detail
        assert len(detail) < 2_000, detail
