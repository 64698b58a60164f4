-- Grain: one row per row of the timeline, or of the twins. Key: row_id. `text` is null but for a session's row: the whole
-- texts are those of `rows` at `number`, and are put in behind the joins.
with
opened as (select artifact, sequence, text from rows where kind = 'session')

select
    keyed_rows.timestamp_utc,
    places.host,
    places."user",
    places.agent,
    coalesce(sessions.session_id, keyed_rows.session_id) as session_id,
    coalesce(sessions.project_path, keyed_rows.project_path) as project_path,
    null::varchar as git_branch,
    rows.turn_type,
    rows.model,
    rows.tool_name,
    rows.tool_use_id,
    case
        when rows.kind = 'session' then concat_ws(
            ' ', 'session start:', nullif(sessions.title, ''), nullif(opened.text, ''),
            case when sessions.session_utc is null then 'dateCreated unknown' end
        )
    end as text,
    places.source_file,
    rows.line as source_line,
    places.source,
    rows.kind,
    rows.sequence,
    keyed_rows.timestamp_basis,
    keyed_rows.event_utc,
    keyed_rows.event_basis,
    places.twin_rule is not null as secondary,
    secondary and keyed_rows.twin_sequence is null and rows.kind = 'message' as recovered,
    repeated.repeats_row_id,
    row_ids.row_id,
    coalesce(sessions.session_key, keyed_rows.session_key) as session_key,
    coalesce(row_ids.call_key, keyed_rows.call_key) as call_key,
    places.home_path,
    places.collection_id,
    true as current,
    keyed_rows.twin_artifact,
    keyed_rows.twin_sequence,
    keyed_rows.seconds_apart,
    rows.number,
from rows
join keyed_rows on keyed_rows.artifact = rows.artifact and keyed_rows.sequence = rows.sequence
join row_ids on row_ids.artifact = rows.artifact and row_ids.sequence = rows.sequence
join places on places.artifact = rows.artifact
left join session_places as sessions on sessions.artifact = rows.artifact
left join repeated_rows as repeated on repeated.artifact = rows.artifact and repeated.sequence = rows.sequence
left join opened on opened.artifact = rows.artifact and opened.sequence = rows.sequence
