-- Grain: one row per row of the timeline, or of the twins. Key: row_id. `text` is null but for a session's row: the whole
-- texts are those of `rows` at `number`, and are put in behind the joins.
with
opened as (select artifact, sequence, text from rows where kind = 'session')

select
    keyed_rows.timestamp_utc,
    places.host,
    places."user",
    places.agent,
    keyed_rows.session_id,
    keyed_rows.project_path,
    null::varchar as git_branch,
    keyed_rows.turn_type,
    keyed_rows.model,
    rows.tool_name,
    rows.tool_use_id,
    case
        when keyed_rows.kind = 'session' then concat_ws(
            ' ', 'session start:', nullif(sessions.title, ''), nullif(opened.text, ''),
            case when sessions.session_utc is null then 'dateCreated unknown' end
        )
    end as text,
    places.source_file,
    keyed_rows.line as source_line,
    places.source,
    keyed_rows.kind,
    keyed_rows.sequence,
    keyed_rows.timestamp_basis,
    keyed_rows.event_utc,
    keyed_rows.event_basis,
    keyed_rows.secondary,
    keyed_rows.recovered,
    keyed_rows.repeats_row_id,
    keyed_rows.row_id,
    keyed_rows.session_key,
    keyed_rows.call_key,
    places.home_path,
    places.collection_id,
    true as current,
    keyed_rows.twin_artifact,
    keyed_rows.twin_sequence,
    keyed_rows.seconds_apart,
    rows.number,
from rows
join keyed_rows on keyed_rows.artifact = rows.artifact and keyed_rows.sequence = rows.sequence
join places on places.artifact = rows.artifact
left join session_places as sessions on sessions.artifact = rows.artifact
left join opened on opened.artifact = rows.artifact and opened.sequence = rows.sequence
