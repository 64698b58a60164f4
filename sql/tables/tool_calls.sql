-- Grain: one row per tool call of a session. Key: call_key. Its whole texts are those of `calls` at `number`.
select
    places.host,
    places."user",
    places.agent,
    sessions.session_key,
    sessions.session_id,
    sessions.project_path,
    rows.tool_name,
    rows.tool_use_id,
    calls.tool_kind,
    rows.model,
    calls.status,
    calls.output_bytes,
    case when calls.typed is not null then 'user' else 'agent' end as actor,
    judged.decision,
    judged.decision_reason,
    calls.ran,
    usage_pairs.accepted,
    usage_pairs.succeeded,
    coalesce(usage_pairs.usage_match, 'none') as usage_match,
    case when keyed_rows.event_basis <> 'session' then keyed_rows.event_utc end as requested_utc,
    usage_pairs.utc as finished_utc,
    calls.command,
    calls.file_path,
    calls.lines_added,
    calls.lines_removed,
    calls.exit_code,
    keyed_rows.event_utc,
    keyed_rows.event_basis,
    places.source,
    places.source_file,
    rows.line as source_line,
    rows.sequence,
    call_rows.call_key,
    call_rows.row_id,
    places.home_path,
    places.collection_id,
    true as current,
    calls.number,
from calls
join call_rows on call_rows.artifact = calls.artifact and call_rows.call_no = calls.call_no
join keyed_rows on keyed_rows.artifact = calls.artifact and keyed_rows.sequence = call_rows.sequence
join rows on rows.artifact = calls.artifact and rows.sequence = call_rows.sequence
join places on places.artifact = calls.artifact
join session_places as sessions on sessions.artifact = calls.artifact
join judged_calls as judged on judged.artifact = calls.artifact and judged.call_no = calls.call_no
left join usage_pairs on usage_pairs.artifact = calls.artifact and usage_pairs.call_no = calls.call_no
