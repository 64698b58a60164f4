-- Grain: one row per loss, and per note and reason of a record. Key: row_id.
select
    places.host,
    places."user",
    places.agent,
    sessions.session_key,
    sessions.session_id,
    sessions.project_path,
    faults.reason,
    faults.text is not null as lost,
    faults.detail,
    faults.bytes,
    places.source,
    places.source_file,
    faults.line as source_line,
    row_key(
        places.place, concat(case when faults.text is null then 'note' else 'loss' end, chr(0), faults.reason), null,
        null, faults.occurrence, faults.key
    ) as row_id,
    places.home_path,
    places.collection_id,
    true as current,
from faults
join places on places.artifact = faults.artifact
left join session_places as sessions on sessions.artifact = faults.artifact
