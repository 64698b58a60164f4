"""`homelake share`."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated

import duckdb
import typer

from pipeline.commands._options import Lake, fail, plural
from pipeline.lake import LakeError
from pipeline.share.choice import Choice
from pipeline.share.copy import share as share_lake
from pipeline.share.masks import Masking, Texts, left_out
from pipeline.tables import TABLES
from pipeline.textgrid import safe

KEY_BYTES = 16
"""A shorter key could be guessed."""
AGENTS = ("continue", "pearai")


def share(
    lake: Lake,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Directory of the share: new, empty, or a share.")],
    table: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A table to share, again for more; without it all.")
    ] = None,
    without_column: Annotated[
        list[str] | None,
        typer.Option(metavar="TABLE.COLUMN", help="A column to leave empty; without TABLE that of every table."),
    ] = None,
    host: Annotated[list[str] | None, typer.Option(metavar="H", help="A host to share, again for more.")] = None,
    user: Annotated[list[str] | None, typer.Option(metavar="U", help="A user to share, again for more.")] = None,
    agent: Annotated[
        list[str] | None, typer.Option(metavar="A", help="An assistant to share: continue or pearai.")
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="Share what happened on this day or later.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="... on this day (UTC) or earlier.")] = None,
    undated: Annotated[
        bool, typer.Option("--undated", help="With --since or --until: share rows without a time, too.")
    ] = False,
    texts: Annotated[
        Texts, typer.Option(help="Show of texts a length and a keyed hash, mask secrets in them, or keep them.")
    ] = Texts.HASH,
    pseudonyms: Annotated[
        bool, typer.Option("--pseudonyms", help="Name hosts and users by pseudonyms, and hash paths and ids.")
    ] = False,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Key of hashes and pseudonyms: the same one gives the same in every share."),
    ] = None,
) -> None:
    """Make a reduced or masked copy of a lake, which is a lake itself: numbers without transcripts.

    homelake share LAKE OUT

    Every row stays, and every column; of texts, paths and ids there are hashes, of a key that is not in the share.
    See docs/sensitive.md.
    """
    _check_names(table or (), agent or ())
    tables, hosts, users, agents = (tuple(values or ()) for values in (table, host, user, agent))
    choice = Choice(tables, hosts, users, agents, _day(since), _day(until, end=True), undated)
    try:
        masking = Masking(texts, pseudonyms, left_out(without_column or (), TABLES))
        shared = share_lake(lake, out, choice, masking, _key(key))
    except OSError as error:
        fail(safe(f"{error.filename}: {error.strerror}" if error.filename else str(error)))
    except (LakeError, ValueError, duckdb.Error) as error:
        fail(safe(str(error).splitlines()[0]))
    typer.echo(f"{out}: {plural(sum(shared.rows.values()), 'row')}; texts: {texts.value}")
    typer.echo("tables    " + ", ".join(f"{name} {count:,}" for name, count in sorted(shared.rows.items())))
    if shared.undated:
        typer.echo(f"note      {plural(shared.undated, 'row')} without a time left out (--undated takes them)")
    if not pseudonyms:
        typer.echo("note      hosts and users are named (--pseudonyms hides them)")
    if pseudonyms and texts != Texts.HASH:
        typer.echo("note      texts are kept, and texts can name people and machines")


def _check_names(tables: list[str] | tuple[str, ...], agents: list[str] | tuple[str, ...]) -> None:
    for asked, known, what in ((tables, [table.name for table in TABLES], "table"), (agents, AGENTS, "assistant")):
        for name in asked:
            if name not in known:
                fail(f"no {what} {name!r}; there are {', '.join(known)}")


def _key(file: Path | None) -> bytes | None:
    """The key that a file holds."""
    if file is None:
        return None
    key = file.read_bytes()
    if len(key) < KEY_BYTES:
        raise ValueError(f"{file}: a key has {KEY_BYTES} bytes or more (head -c 32 /dev/urandom > {file})")
    return key


def _day(text: str | None, *, end: bool = False) -> datetime | None:
    """Where a span begins or ends (UTC): a day's start, or its end; a time is taken as it is."""
    if text is None:
        return None
    try:
        day = datetime.combine(date.fromisoformat(text), time())
    except ValueError:
        pass
    else:
        return day + timedelta(days=1) if end else day
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        fail(f"{text!r} is no date (write 2026-09-18, or 2026-09-18T10:00:00Z)")
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
