"""What a build says that it did."""

import json
from pathlib import Path

from pipeline.commands._options import plural
from pipeline.summary import Summary


def as_object(summary: Summary, lake: Path) -> str:
    """The summary of a build, as a JSON object on one line: counts, bytes of input, seconds."""
    rows = [{"agent": agent, "kind": kind, "rows": n} for (agent, kind), n in sorted(summary.rows.items())]
    problems = [{"reason": reason, "lost": lost, "count": n} for (reason, lost), n in sorted(summary.problems.items())]
    told = {
        "lake": str(lake),
        "homes": summary.homes,
        "unchanged": summary.unchanged,
        "archives": summary.archives,
        "failed": summary.failed,
        "nameless": summary.nameless,
        "hostless": summary.hostless,
        "files": summary.files,
        "bytes": summary.bytes,
        "seconds": round(summary.seconds, 3),
        "rows": rows,
        "problems": problems,
        "tables": dict(sorted(summary.tables.items())),
        "statuses": dict(sorted(summary.statuses.items())),
        "failures": dict(sorted(summary.failures.items())),
    }
    return json.dumps(told)


def told(summary: Summary, lake: Path) -> str:
    """The summary of a build, as text."""
    unchanged = [
        f"{summary.unchanged:,} of them unchanged" if summary.unchanged else "",
        f"{plural(summary.archives, 'archive')} unchanged" if summary.archives else "",
    ]
    lines = [
        ", ".join([f"{lake}: {plural(summary.homes, 'home')}", *filter(None, unchanged), plural(summary.files, "file")])
        + f", {summary.bytes / 1e6:,.1f} MB read in {summary.seconds:.1f} s",
        "",
        "files     " + ", ".join(f"{status} {count:,}" for status, count in sorted(summary.statuses.items())),
        "tables    " + ", ".join(f"{name} {count:,}" for name, count in sorted(summary.tables.items())),
    ]
    agents = sorted({agent for agent, _ in summary.rows})
    lines.extend(
        f"{agent:<9} " + ", ".join(f"{kind} {n:,}" for (a, kind), n in sorted(summary.rows.items()) if a == agent)
        for agent in agents
    )
    for lost, label in ((True, "losses"), (False, "notes")):
        counts = [f"{reason} {n:,}" for (reason, is_loss), n in sorted(summary.problems.items()) if is_loss == lost]
        lines.append(f"{label:<9} " + (", ".join(counts) or "none"))
    wrong = [f"{name} {plural(rows, 'row')}" for name, rows in sorted(summary.failures.items())]
    lines.append(f"checks    {'FAILED: ' + ', '.join(wrong) if wrong else 'all passed'}")
    if summary.nameless:
        lines.append(f"users     {plural(summary.nameless, 'home')} without a user: its path names none, see --user")
    if summary.hostless:
        homes = f"{plural(summary.hostless, 'home')} without a host beside others that have one"
        lines.append(f"hosts     {homes}: known by the place alone, see --host and --path-template")
    return "\n".join(lines)
