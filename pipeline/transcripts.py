"""One talk in two transcripts: rows that hold only where their session has no better one.

A row on standby is left out where a file of its session holds a message of the better transcript. What stays of such a
file, a decision, is told of the last call that the better transcript has at or before it.
"""

import polars as pl

Staged = dict[str, pl.DataFrame]
_CALL = ("call_artifact", "call_no")


def choose_transcripts(staged: Staged) -> Staged:
    """Return the frames of `pipeline.staging` without the rows, calls and tokens that a better transcript repeats."""
    if not staged["rows"]["standby"].any():
        return staged
    passed = _passed_over(staged)
    rows = _pass_over(staged["rows"], passed, pl.col("standby").fill_null(value=False))
    staged = {
        **staged,
        "calls": _pass_over(staged["calls"], passed, pl.lit(value=True)),
        "tokens": _pass_over(staged["tokens"], passed, pl.lit(value=True)),
        "silent": pl.concat([staged["silent"], _silent(staged["rows"], rows, passed)]),
    }
    decisions = _decisions(rows, passed, staged["files"])
    return {
        **staged,
        "rows": _numbered(_told(rows, decisions)),
        "calls": _judged(staged["calls"], decisions),
    }


def _passed_over(staged: Staged) -> pl.DataFrame:
    """Files whose rows on standby do not hold: those beside a transcript that has a message."""
    told = staged["session_files"].filter(pl.col("messages") > 0)
    files = staged["files"].select("artifact", "home", "session_path")
    folders = files.join(told.select("artifact"), on="artifact", how="semi").select("home", "session_path").unique()
    standby = staged["rows"].filter("standby").select("artifact").unique()
    return files.join(standby, on="artifact", how="semi").join(folders, on=("home", "session_path"), how="semi")


def _pass_over(frame: pl.DataFrame, passed: pl.DataFrame, rows: pl.Expr) -> pl.DataFrame:
    """Leave out `rows` of the files that are passed over."""
    return frame.filter(~(pl.col("artifact").is_in(passed["artifact"].implode()) & rows))


def _silent(before: pl.DataFrame, after: pl.DataFrame, passed: pl.DataFrame) -> pl.DataFrame:
    """Count the records of which no row is left."""
    lines = before.filter((pl.col("line") > 0) & (pl.col("kind") != "problem")).select("artifact", "line").unique()
    lines = lines.join(passed, on="artifact", how="semi")
    gone = lines.join(after.filter(pl.col("kind") != "problem"), on=("artifact", "line"), how="anti")
    return gone.group_by("artifact", maintain_order=True).agg(records=pl.len().cast(pl.Int64))


def _decisions(rows: pl.DataFrame, passed: pl.DataFrame, files: pl.DataFrame) -> pl.DataFrame:
    """Rows of decisions in the files that are passed over, each with the call that it is about."""
    folders = files.select("artifact", "home", "session_path")
    left = rows.join(passed, on="artifact").filter(pl.col("kind") == "permission_decision")
    asked = rows.filter((pl.col("kind") == "tool_call") & pl.col("own_utc").is_not_null())
    asked = asked.join(passed, on="artifact", how="anti").join(folders, on="artifact")
    asked = asked.select("home", "session_path", "own_utc", "tool_use_id", "call_no", call_artifact="artifact")
    return (
        left.select("artifact", "sequence", "home", "session_path", "own_utc", "text")
        .filter(pl.col("own_utc").is_not_null())
        .sort("own_utc")
        .join_asof(asked.sort("own_utc"), on="own_utc", by=["home", "session_path"], check_sortedness=False)
    )


def _told(rows: pl.DataFrame, decisions: pl.DataFrame) -> pl.DataFrame:
    """Rows with the decisions' own calls in the place of those that were passed over."""
    own = decisions.select("artifact", "sequence", "tool_use_id", *_CALL, is_told=pl.lit(value=True))
    joined = rows.join(own, on=("artifact", "sequence"), how="left", suffix="_told", maintain_order="left")
    is_told = pl.col("is_told").fill_null(value=False)
    told = {name: pl.when(is_told).then(f"{name}_told").otherwise(name) for name in ("tool_use_id", *_CALL)}
    return joined.with_columns(**told).select(rows.columns)


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
    ).select(calls.columns)


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with their order among those of their file that are left."""
    return rows.with_columns(
        sequence=pl.col("sequence").rank("ordinal").over("artifact").cast(rows.schema["sequence"]) - 1
    )
