-- Grain: one row per row of the timeline. Key: artifact, sequence. Its stable id, of its own key.
select
    rows.artifact,
    rows.sequence,
    case
        when rows.kind = 'tool_call' and call_rows.row_id is not null then call_rows.row_id
        else row_key(
            case when rows.kind = 'problem' then places.place else places.told_place end,
            concat(rows.kind, chr(0), rows.turn_type), rows.key, call_rows.row_id, rows.occurrence,
            case when rows.keyed_by_text then rows.text else '' end
        )
    end as row_id,
    call_rows.call_key,
from rows
join places using (artifact)
left join call_rows
    on call_rows.artifact = coalesce(rows.call_artifact, rows.artifact) and call_rows.call_no = rows.call_no
