-- Grain: one row per row of an event that repeats a row of a session. Key: artifact, sequence.
-- An exchange's completion repeats the reply: its message, else its first call; its prompt the user's message before.
with
replies as (
    select
        pairs.event_artifact,
        pairs.event_record,
        pairs.artifact,
        pairs.line,
        coalesce(
            min(rows.sequence) filter (rows.kind = 'message' and rows.turn_type = 'assistant'),
            min(rows.sequence) filter (rows.kind = 'tool_call'),
            min(rows.sequence) filter (rows.kind = 'message')
        ) as reply,
    from exchange_pairs as pairs
    left join rows on rows.artifact = pairs.artifact and rows.line = pairs.line
    group by all
),

prompts as (
    select artifact, line, sequence from rows
    semi join exchange_pairs as pairs using (artifact)
    where kind = 'message' and turn_type = 'user'
),

asked as (
    select replies.*, prompts.sequence as prompt
    from replies
    asof left join prompts on prompts.artifact = replies.artifact and prompts.line < replies.line
),

said as (
    select
        rows.artifact,
        rows.sequence,
        asked.artifact as of_artifact,
        case when rows.turn_type = 'user' then asked.prompt else asked.reply end as of_sequence,
    from asked
    join rows on rows.artifact = asked.event_artifact and rows.record = asked.event_record
    where rows.kind = 'message'
),

-- Materialized: else the planner may join all rows with all of their kind first.
called as materialized (
    select rows.artifact, rows.sequence, rows.kind, pairs.artifact as of_artifact, pairs.call_no
    from usage_pairs as pairs
    join rows on rows.artifact = pairs.event_artifact and rows.record = pairs.event_record
    where rows.kind in ('tool_call', 'tool_result')
),

done as (
    select called.artifact, called.sequence, called.of_artifact, min(own.sequence) as of_sequence
    from called
    join rows as own
        on own.artifact = called.of_artifact and own.call_no = called.call_no and own.kind = called.kind
    group by all
),

repeated as (from said union all by name from done)

select repeated.artifact, repeated.sequence, row_ids.row_id as repeats_row_id
from repeated
join row_ids on row_ids.artifact = repeated.of_artifact and row_ids.sequence = repeated.of_sequence
