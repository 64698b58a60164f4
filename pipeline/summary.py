"""What a build did, and what its lake holds, in numbers."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.lake import Files


@dataclass(slots=True)
class Summary:
    """What a build did, and what its lake holds.

    `homes` are those of the inputs, of which `unchanged` held what the lake knows; `files` and `bytes` are those of the
    homes that were read, `archives` those that did not change and were not opened. Rows by (agent, kind), problems by
    (reason, lost), rows of tables, artifacts by status are those of the lake.
    """

    homes: int = 0
    unchanged: int = 0
    archives: int = 0
    files: int = 0
    bytes: int = 0
    seconds: float = 0.0
    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    problems: Counter[tuple[str, bool]] = field(default_factory=Counter)
    tables: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    nameless: int = 0
    """Homes that were read without a user."""
    hostless: int = 0
    """Homes that were read without a host, into a lake that has others with one."""
    failed: int = 0
    """Homes that were not read because a worker died over them, twice."""
    failures: Counter[str] = field(default_factory=Counter)
    """Rows that checks found wrong, by check; empty where all passed."""

    def count(self, files: Files) -> None:
        """Add the rows of the lake's files."""
        for path, (rows, counts) in files.items():
            table, *partition = Path(path).parts
            self.tables[table] += rows
            for *values, n in counts:
                if table == "timeline":
                    self.rows[partition[0].removeprefix("agent="), values[0]] += n
                elif table == "problems":
                    self.problems[values[0], values[1]] += n
                elif table == "artifacts":
                    self.statuses[values[0]] += n
