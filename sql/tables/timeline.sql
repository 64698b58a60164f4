-- Grain: one row per thing that was said, done or decided. Key: row_id.
select
    keyed_rows.timestamp_utc,
    places.host,
    places."user",
    places.agent,
    sessions.session_id,
    sessions.project_path,
    null::varchar as git_branch,
    keyed_rows.turn_type,
    keyed_rows.model,
    rows.tool_name,
    rows.tool_use_id,
    case
        when keyed_rows.kind = 'session' then concat_ws(
            ' ', 'session start:', nullif(sessions.title, ''), nullif(rows.text, ''),
            case when sessions.session_utc is null then 'dateCreated unknown' end
        )
        else rows.text
    end as text,
    places.source_file,
    keyed_rows.line as source_line,
    places.source,
    keyed_rows.kind,
    keyed_rows.sequence,
    keyed_rows.timestamp_basis,
    keyed_rows.event_utc,
    keyed_rows.event_basis,
    false as secondary,
    false as recovered,
    null::varchar as repeats_row_id,
    keyed_rows.row_id,
    keyed_rows.session_key,
    keyed_rows.call_key,
    places.home_path,
    places.collection_id,
    true as current,
from rows
join keyed_rows on keyed_rows.artifact = rows.artifact and keyed_rows.sequence = rows.sequence
join places on places.artifact = rows.artifact
left join session_places as sessions on sessions.artifact = rows.artifact
