"""Continue: the prompts typed in the `cn` command line, `~/.continue/input_history.json`.

A JSON array of `{text, timestamp}` (`timestamp` in ms since 1970), newest first, at most 1000, rewritten whole with
each prompt; one typed again moves to the front, so that only its latest time is kept. It names no session and no
directory. Reference: extensions/cli/src/util/inputHistory.ts of continuedev/continue.
"""

import re
from collections.abc import Mapping

import polars as pl

from parsers._array import lose, read_elements
from parsers._faults import Element, Fault
from parsers._json import Json, clean, compact, token
from parsers._text import Cleaner
from pipeline.normalize import has_text, moment, notes, trim
from pipeline.schema import Column, Table
from pipeline.source import Records, Source, TwinRule

PROMPTS = Table(
    "prompts",
    "one record per prompt",
    ("artifact", "position"),
    (
        Column("position", pl.Int32(), "1-based position."),
        Column("text", pl.String(), "`text`."),
        Column("timestamp", pl.String(), "`timestamp`, a JSON token (ms); `{}` or `[]` for what is no scalar."),
    ),
)


def is_prompt(value: Json) -> bool:
    """Say whether a value is an object with a text."""
    return isinstance(value, dict) and isinstance(value.get("text"), str)


def read(data: bytes, path: str, records: Records) -> None:
    """Read the prompts one by one, on past damage."""
    read_elements(data, is_prompt, records, lambda element, cleaner: _add(element, cleaner, records))


def _add(element: Element, cleaner: Cleaner, records: Records) -> None:
    """Add one prompt, or its loss."""
    value = element.value
    if isinstance(value, Fault):
        lose(records, element, value.reason, cleaner.text(value.text))
    elif isinstance(value, dict) and isinstance(value.get("text"), str):
        records.count += 1
        records.rows["prompts"].append(
            (element.position, cleaner.text(value["text"]), _timestamp(value.get("timestamp"), cleaner))
        )
        records.note_all(element.position, cleaner.reasons, [])
    else:
        _lose_foreign(element, value, cleaner, records)


def _timestamp(value: Json, cleaner: Cleaner) -> str | None:
    """The token of a prompt's time."""
    if isinstance(value, dict | list):
        return "{}" if isinstance(value, dict) else "[]"
    return token(clean(value, cleaner))


def _lose_foreign(element: Element, value: Json, cleaner: Cleaner, records: Records) -> None:
    """Record the loss of an element that is no prompt."""
    try:
        text = compact(clean(value, cleaner))
    except RecursionError:
        lose(records, element, "nesting_too_deep", cleaner.text(element.raw))
        return
    lose(records, element, "wrong_type" if isinstance(value, dict) else "not_an_object", text)


def stage(raw: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Turn the raw prompts into the frames of `pipeline.staging`; one without text gives no row."""
    prompts = raw["prompts"].with_columns(trim(pl.col("text")), own_utc=moment(pl.col("timestamp")))
    said = prompts.filter(has_text(pl.col("text")))
    bad_time = pl.col("timestamp").is_not_null() & pl.col("own_utc").is_null()
    drafts = said.select(
        "artifact",
        "text",
        "own_utc",
        line="position",
        record="position",
        order_line="position",
        rank=pl.lit(0),
        part=pl.lit(0),
        sub=pl.lit(0),
        kind=pl.lit("message"),
        turn_type=pl.lit("user"),
        own_basis=pl.lit("record"),
        key=pl.concat_str("text", pl.lit("\0"), pl.col("timestamp").fill_null("")),
        keyed_by_text=pl.lit(value=False),
    )
    blank = prompts.filter(~has_text(pl.col("text"))).group_by("artifact", maintain_order=True)
    return {
        "drafts": drafts,
        "faults": notes(said, pl.col("position"), [("timestamp", pl.when(bad_time).then(pl.lit("bad_timestamp")))]),
        "silent": blank.agg(records=pl.len().cast(pl.Int64)),
    }


SOURCE = Source(
    name="continue.input_history",
    agent="continue",
    pattern=re.compile(r"input_history\.json"),
    tables=(PROMPTS,),
    read=read,
    stage=stage,
    twin_rule=TwinRule.HISTORY,
)
