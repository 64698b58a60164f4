-- Grain: one row per tool call. Key: artifact, call_no. The id of its row, on which the ids of its other rows rest.
select
    rows.artifact,
    rows.call_no,
    rows.sequence,
    row_key(
        places.told_place, rows.kind, rows.key, null, rows.occurrence, case when rows.keyed_by_text then rows.text else '' end
    ) as row_id,
    call_key_of(places.session_key, row_id) as call_key,
from rows
join places using (artifact)
where rows.kind = 'tool_call' and rows.call_no is not null
