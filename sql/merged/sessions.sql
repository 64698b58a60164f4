-- Grain: one row per session of the homes' collections. Key: session_key. What the last collection that holds it states,
-- and counts over the rows of all of them.
with
counted as (
    select
        session_key,
        min(event_utc) as first_event_utc,
        max(event_utc) as last_event_utc,
        count(*) filter (repeats_row_id is null and kind = 'message' and turn_type = 'user') as user_turns,
        count(*) filter (repeats_row_id is null and kind = 'message' and turn_type = 'assistant') as assistant_turns,
        count(*) filter (repeats_row_id is null and kind = 'tool_call') as tool_calls,
    from timeline
    where session_key is not null
    group by all
),

acted as (
    select
        session_key,
        count(*) filter (status = 'errored' or exit_code <> 0) as tool_errors,
        count(*) filter (decision = 'denied') as denied_calls,
        count(*) filter (tool_kind in ('edit', 'write') and status = 'done') as edits,
        sum(lines_added) as lines_added,
        sum(lines_removed) as lines_removed,
    from tool_calls
    group by all
),

-- In the order of their first use: earlier bytes of the session's file before later ones, events last.
placed as (
    select
        rows.session_key,
        rows.model,
        session_sources.source is null as is_event,
        collected.utc as seen_utc,
        rows.home_path,
        rows.sequence,
        rows.row_id,
    from timeline as rows
    left join session_sources on session_sources.source = rows.source
    left join collected on collected.collection_id = rows.collection_id
    where rows.model is not null and rows.session_key is not null
),

first_named as (
    select distinct on (session_key, model) *
    from placed
    order by is_event, seen_utc nulls first, home_path, sequence, row_id
),

named as (
    select
        session_key,
        list(model order by is_event, seen_utc nulls first, home_path, sequence, row_id) as models,
    from first_named
    group by all
),

-- What requests, replies or the whole task state, the first of them that there is.
used as (
    select
        session_key,
        grain,
        sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens,
        sum(cache_read_tokens) as cached_tokens,
        sum(cost_usd order by row_id) as total_cost_usd,
    from token_usage
    where session_key is not null
    group by all
),

summed as (
    select distinct on (session_key) *
    from used
    order by list_position(['request', 'reply', 'task'], grain)
),

gone as (
    select key_of(identity, agent, session_path) as session_key, [last_utc, next_utc] as deleted_between
    from absences
)

select
    stated.host,
    stated."user",
    stated.agent,
    stated.session_key,
    stated.session_id,
    stated.file_id,
    stated.title,
    stated.project_path,
    stated.project_name,
    stated.workspace_directory,
    stated.mode,
    named.models,
    stated.started_utc,
    stated.started_basis,
    counted.first_event_utc,
    counted.last_event_utc,
    coalesce(counted.user_turns, 0) as user_turns,
    coalesce(counted.assistant_turns, 0) as assistant_turns,
    coalesce(counted.tool_calls, 0) as tool_calls,
    coalesce(acted.tool_errors, 0) as tool_errors,
    coalesce(acted.denied_calls, 0) as denied_calls,
    coalesce(acted.edits, 0) as edits,
    coalesce(acted.lines_added, 0) as lines_added,
    coalesce(acted.lines_removed, 0) as lines_removed,
    -- The file of a chat states what it used; of other sessions their requests do.
    case when stated.file_id is null then summed.prompt_tokens else stated.prompt_tokens end as prompt_tokens,
    case when stated.file_id is null then summed.completion_tokens else stated.completion_tokens end as completion_tokens,
    case when stated.file_id is null then summed.cached_tokens else stated.cached_tokens end as cached_tokens,
    case when stated.file_id is null then summed.total_cost_usd else stated.total_cost_usd end as total_cost_usd,
    stated.index_message_count,
    stated.has_file,
    stated.in_index,
    stated.compacted,
    stated.scratch,
    stated.damaged,
    stated.integration_type,
    stated.forked_from,
    stated.forked_at_item,
    stated.content_hash,
    gone.deleted_between,
    stated.resume_command,
    stated.source,
    stated.source_file,
    stated.home_path,
    stated.collection_id,
    stated.current,
from stated_sessions as stated
left join counted on counted.session_key = stated.session_key
left join acted on acted.session_key = stated.session_key
left join named on named.session_key = stated.session_key
left join summed on summed.session_key = stated.session_key
left join gone on gone.session_key = stated.session_key
