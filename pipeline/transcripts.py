"""One talk in two transcripts: rows that hold only where their session has no better one.

A row on standby is left out where a file of its session holds a message of the better transcript. What stays of such a
file, a decision, is told of the last call that the better transcript has at or before it.
"""

import polars as pl

Staged = dict[str, pl.DataFrame]
_CALL = ("call_artifact", "call_no")
_FOLDER = ("home", "session_path")


def choose_transcripts(staged: Staged) -> Staged:
    """Return the frames of `pipeline.staging` without the rows, calls and tokens that a better transcript repeats.

    Several lists of tasks of a home state the tokens of a task once.
    """
    staged = {**staged, "tokens": _told_once(staged["tokens"], staged["files"])}
    passed = _passed_over(staged)
    if passed.is_empty():
        return staged
    is_passed = pl.col("artifact").is_in(passed["artifact"].implode())
    rows = staged["rows"].filter(~is_passed)
    before = staged["rows"].filter(is_passed)
    after = before.filter(pl.col("standby").fill_null(value=False).not_())
    decisions = _decisions(after, rows, staged["files"])
    return {
        **staged,
        "rows": pl.concat([rows, _numbered(_told(after, decisions))], rechunk=True),
        "calls": _judged(staged["calls"].filter(~is_passed), decisions),
        "tokens": staged["tokens"].filter(~is_passed),
        "silent": pl.concat([staged["silent"], _silent(before, after)]),
    }


def _told_once(tokens: pl.DataFrame, files: pl.DataFrame) -> pl.DataFrame:
    """Tokens without those of a task that another list of the home tells of, too: its latest time holds."""
    of_tasks = tokens.filter(pl.col("grain") == "task")
    if of_tasks["artifact"].n_unique() < 2:
        return tokens
    homes = files.select("artifact", "home", "agent")
    known = of_tasks.join(homes, on="artifact").sort("own_utc", "artifact", "line", nulls_last=False)
    last = known.unique(("home", "agent", "named_session"), keep="last").select("artifact", "line", "grain")
    return tokens.filter(pl.col("grain") != "task").vstack(
        of_tasks.join(last, on=("artifact", "line", "grain"), how="semi", maintain_order="left")
    )


def _passed_over(staged: Staged) -> pl.DataFrame:
    """Files whose rows on standby do not hold: those beside a transcript that has a message."""
    told = staged["session_files"].filter(pl.col("messages") > 0)
    files = staged["files"].select("artifact", *_FOLDER)
    folders = files.join(told.select("artifact"), on="artifact", how="semi").select(_FOLDER).unique()
    standby = staged["rows"].filter("standby").select("artifact").unique()
    return files.join(standby, on="artifact", how="semi").join(folders, on=_FOLDER, how="semi")


def _silent(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Count the records of which no row is left."""
    lines = before.filter((pl.col("line") > 0) & (pl.col("kind") != "problem")).select("artifact", "line").unique()
    gone = lines.join(after.filter(pl.col("kind") != "problem"), on=("artifact", "line"), how="anti")
    return gone.group_by("artifact", maintain_order=True).agg(records=pl.len().cast(pl.Int64))


def _decisions(left: pl.DataFrame, rows: pl.DataFrame, files: pl.DataFrame) -> pl.DataFrame:
    """The dated decisions among the rows that are `left`, in order, each with the call that it is about, if any."""
    folders = files.select("artifact", *_FOLDER)
    # What a browser does once it runs is told, not asked.
    is_asked = (pl.col("kind") == "tool_call") & (pl.col("tool_name") != "browser_action").fill_null(value=True)
    asked = rows.filter(is_asked & pl.col("own_utc").is_not_null()).join(folders, on="artifact")
    asked = asked.sort("own_utc", "artifact", "sequence").select(
        *_FOLDER, "own_utc", "tool_use_id", "call_no", call_artifact="artifact"
    )
    return (
        left.filter((pl.col("kind") == "permission_decision") & pl.col("own_utc").is_not_null())
        .join(folders, on="artifact")
        .select("artifact", "sequence", *_FOLDER, "own_utc", "text")
        .sort("own_utc", "artifact", "sequence")
        .join_asof(asked, on="own_utc", by=_FOLDER, check_sortedness=False)
    )


def _told(left: pl.DataFrame, decisions: pl.DataFrame) -> pl.DataFrame:
    """Rows with the decisions' own calls in the place of those that were passed over."""
    own = decisions.select("artifact", "sequence", "tool_use_id", *_CALL)
    joined = left.join(own, on=("artifact", "sequence"), how="left", suffix="_told", maintain_order="left")
    is_decision = pl.col("kind") == "permission_decision"
    told = {name: pl.when(is_decision).then(f"{name}_told").otherwise(name) for name in ("tool_use_id", *_CALL)}
    # Decisions of one moment are counted anew: they can be about one call now.
    said = pl.when("keyed_by_text").then("text")
    same = ("artifact", "kind", "turn_type", "key", said, *_CALL)
    return (
        joined.with_columns(**told)
        .with_columns(
            occurrence=pl.when(is_decision)
            .then(pl.int_range(pl.len(), dtype=pl.Int32).over(*same, order_by="sequence"))
            .otherwise("occurrence")
        )
        .select(left.columns)
    )


def _judged(calls: pl.DataFrame, decisions: pl.DataFrame) -> pl.DataFrame:
    """Calls with what the decisions say of them; the last one of a call holds."""
    denied = pl.col("text").str.starts_with("permission decision: denied")
    found = decisions.filter(pl.col("call_no").is_not_null()).select(
        "call_no",
        artifact="call_artifact",
        told=pl.when(denied).then(pl.lit("denied")).otherwise(pl.lit("allowed")),
        reason=pl.when(denied).then(pl.lit("user")),
        did=~denied,
    )
    last = found.unique(("artifact", "call_no"), keep="last", maintain_order=True)
    joined = calls.join(last, on=("artifact", "call_no"), how="left", maintain_order="left")
    is_told = pl.col("told").is_not_null()
    return joined.with_columns(
        decision=pl.coalesce("told", "decision"),
        decision_reason=pl.when(is_told).then("reason").otherwise("decision_reason"),
        ran=pl.coalesce("did", "ran"),
        status=pl.when(pl.col("told") == "denied").then(pl.coalesce("status", pl.lit("canceled"))).otherwise("status"),
    ).select(calls.columns)


def _numbered(left: pl.DataFrame) -> pl.DataFrame:
    """Rows with their order among those of their file that are left."""
    place = pl.col("sequence").rank("ordinal").over("artifact")
    return left.with_columns(sequence=place.cast(left.schema["sequence"]) - 1)
