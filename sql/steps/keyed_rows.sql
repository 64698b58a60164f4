-- Grain: one row per row of the timeline or of its twins. Key: artifact, sequence. When it was, and what the joins tell of
-- it beside its own file: its twin, and of an event the session and the call.
with
replied as (select artifact, line, max(utc) as utc from exchange_pairs group by all),

recalled as (
    select twin_artifact as artifact, twin_sequence as sequence, min(utc) as utc
    from twin_pairs
    where twin_rule = 'history'
    group by all
),

told as (
    select pairs.event_artifact, pairs.event_record, call_rows.call_key, sessions.*
    from usage_pairs as pairs
    join call_rows using (artifact, call_no)
    join session_places as sessions using (artifact)
    where pairs.event_record is not null
),

timed as (
    select
        rows.artifact,
        rows.sequence,
        rows.line,
        rows.record,
        rows.kind,
        case rows.own_basis when 'file' then places.mtime_utc else rows.own_utc end as own_utc,
        rows.own_basis,
        sessions.session_utc,
        sessions.rows_utc,
        -- Of an item's rows those of a call's end have the call's time first.
        ended.utc as ended_utc,
        case when rows.kind <> 'problem' then replied.utc end as replied_utc,
        rows.kind in ('tool_result', 'permission_decision') as is_end,
        rows.call_id_utc,
        rows.reasoning_utc,
        recalled.utc as recalled_utc,
        coalesce(told.session_key, named.session_key) as session_key,
        coalesce(told.session_id, named.session_id) as session_id,
        coalesce(told.project_path, named.project_path) as project_path,
        coalesce(told.session_utc, named.session_utc) as named_utc,
        told.call_key,
        twins.twin_artifact,
        twins.twin_sequence,
        twins.seconds_apart,
    from rows
    join places using (artifact)
    left join session_places as sessions on sessions.artifact = rows.artifact
    left join told on told.event_artifact = rows.artifact and told.event_record = rows.record
    left join named_sessions as named
        on named.home = places.home and named.agent = places.agent and named.session_id = rows.named_session
    left join usage_pairs as ended on ended.artifact = rows.artifact and ended.call_no = rows.call_no
    left join replied on replied.artifact = rows.artifact and replied.line = rows.line
    left join recalled on recalled.artifact = rows.artifact and recalled.sequence = rows.sequence
    left join twin_pairs as twins on twins.artifact = rows.artifact and twins.sequence = rows.sequence
)

select
    artifact,
    sequence,
    line,
    record,
    kind,
    case when own_basis is null then rows_utc else own_utc end as timestamp_utc,
    case when timestamp_utc is not null then coalesce(own_basis, 'session') end as timestamp_basis,
    case
        when own_basis is not null then coalesce(own_utc, named_utc)
        when is_end then coalesce(call_id_utc, ended_utc, replied_utc, reasoning_utc, recalled_utc, session_utc)
        else coalesce(call_id_utc, replied_utc, ended_utc, reasoning_utc, recalled_utc, session_utc)
    end as event_utc,
    case
        when event_utc is null then null
        when own_basis is not null and own_utc is not null then own_basis
        when own_basis is not null then 'session'
        when call_id_utc is not null then 'call_id'
        when ended_utc is not null and (is_end or replied_utc is null) then 'tool_usage'
        when replied_utc is not null then 'chat_interaction'
        when reasoning_utc is not null then 'reasoning'
        when recalled_utc is not null then 'input_history'
        else 'session'
    end as event_basis,
    session_key,
    session_id,
    project_path,
    call_key,
    twin_artifact,
    twin_sequence,
    seconds_apart,
from timed
