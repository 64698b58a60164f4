-- Grain: one row per session file that can be read or that the index knows, per index entry without a file, and per
-- session that events alone name. Key: session_key.
with
held as (
    select keyed_rows.*, places.is_session
    from keyed_rows
    join places using (artifact)
    where keyed_rows.twin_sequence is null and keyed_rows.session_key is not null
),

counted as (
    select
        session_key,
        min(event_utc) as first_event_utc,
        max(event_utc) as last_event_utc,
        count(*) filter (repeats_row_id is null and kind = 'message' and turn_type = 'user') as user_turns,
        count(*) filter (repeats_row_id is null and kind = 'message' and turn_type = 'assistant') as assistant_turns,
        count(*) filter (repeats_row_id is null and kind = 'tool_call') as tool_calls,
    from held
    group by all
),

acted as (
    select
        sessions.session_key,
        count(*) filter (calls.status = 'errored' or calls.exit_code <> 0) as tool_errors,
        count(*) filter (judged.decision = 'denied') as denied_calls,
        count(*) filter (calls.tool_kind in ('edit', 'write') and calls.status = 'done') as edits,
        sum(calls.lines_added) as lines_added,
        sum(calls.lines_removed) as lines_removed,
    from calls
    join judged_calls as judged on judged.artifact = calls.artifact and judged.call_no = calls.call_no
    join session_places as sessions on sessions.artifact = calls.artifact
    group by all
),

first_named as (
    select distinct on (session_key, model) session_key, model, is_session, artifact, sequence
    from held
    where model is not null
    order by is_session desc, artifact, sequence
),

named as (
    select session_key, list(model order by is_session desc, artifact, sequence) as models
    from first_named
    group by all
),

lost as (select distinct artifact from faults where text is not null),

of_files as (
    select
        sessions.artifact,
        sessions.session_key,
        sessions.session_id,
        sessions.file_id,
        sessions.title,
        sessions.project_path,
        sessions.workspace_directory,
        sessions.mode,
        coalesce(sessions.session_utc, places.mtime_utc) as started_utc,
        case
            when sessions.session_utc is not null then 'session'
            when places.mtime_utc is not null then 'file'
        end as started_basis,
        sessions.prompt_tokens,
        sessions.completion_tokens,
        sessions.cached_tokens,
        sessions.total_cost_usd,
        sessions.message_count as index_message_count,
        true as has_file,
        sessions.in_index,
        sessions.compacted,
        sessions.scratch,
        lost.artifact is not null as damaged,
        sessions.integration_type,
    from session_places as sessions
    join places using (artifact)
    left join lost using (artifact)
    where sessions.is_readable or sessions.in_index
),

of_entries as (
    select
        artifact,
        session_key,
        session_id,
        title,
        project_path,
        workspace_directory,
        created_utc as started_utc,
        case when created_utc is not null then 'session' end as started_basis,
        message_count as index_message_count,
        false as has_file,
        true as in_index,
        false as compacted,
        scratch,
        false as damaged,
        integration_type,
    from entry_sessions
),

of_events as (
    select
        artifact,
        session_key,
        session_id,
        first_utc as started_utc,
        case when first_utc is not null then 'record' end as started_basis,
        false as has_file,
        false as in_index,
        false as compacted,
        false as scratch,
        false as damaged,
    from named_sessions
    where is_unlisted
),

found as (from of_files union all by name from of_entries union all by name from of_events)

select
    places.host,
    places."user",
    places.agent,
    found.session_key,
    found.session_id,
    found.file_id,
    found.title,
    found.project_path,
    nullif(regexp_extract(found.project_path, '([^/\\]+)[/\\]*$', 1), '') as project_name,
    found.workspace_directory,
    found.mode,
    named.models,
    found.started_utc,
    found.started_basis,
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
    found.prompt_tokens,
    found.completion_tokens,
    found.cached_tokens,
    found.total_cost_usd,
    found.index_message_count,
    found.has_file,
    found.in_index,
    found.compacted,
    found.scratch,
    found.damaged,
    found.integration_type,
    places.source,
    places.source_file,
    places.home_path,
    places.collection_id,
    true as current,
from found
join places using (artifact)
left join counted using (session_key)
left join named using (session_key)
left join acted using (session_key)
