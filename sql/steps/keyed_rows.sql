-- Grain: one row per row of the timeline. Key: artifact, sequence. All that the joins give it, without its text.
with
timed as (
    select
        rows.artifact,
        rows.sequence,
        rows.line,
        rows.kind,
        rows.turn_type,
        rows.model,
        rows.call_no,
        case when rows.own_basis is null then sessions.session_utc else rows.own_utc end as timestamp_utc,
        case when rows.own_basis is null then 'session' else rows.own_basis end as basis,
        case
            when rows.own_basis is not null then rows.own_utc
            else coalesce(rows.call_id_utc, rows.reasoning_utc, sessions.session_utc)
        end as event_utc,
        case
            when rows.own_basis is not null then rows.own_basis
            when rows.call_id_utc is not null then 'call_id'
            when rows.reasoning_utc is not null then 'reasoning'
            else 'session'
        end as evidence,
        sessions.session_key,
        case when rows.kind = 'tool_call' then call_rows.row_id
            else row_key(
                places.place, concat(rows.kind, chr(0), rows.turn_type), rows.key, call_rows.row_id, rows.occurrence,
                case when rows.keyed_by_text then rows.text else '' end
            )
        end as row_id,
        call_rows.call_key,
    from rows
    join places using (artifact)
    left join session_places as sessions using (artifact)
    left join call_rows on call_rows.artifact = rows.artifact and call_rows.call_no = rows.call_no
)

select
    artifact,
    sequence,
    line,
    kind,
    turn_type,
    model,
    call_no,
    timestamp_utc,
    case when timestamp_utc is not null then basis end as timestamp_basis,
    event_utc,
    case when event_utc is not null then evidence end as event_basis,
    session_key,
    row_id,
    call_key,
from timed
