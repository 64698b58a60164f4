-- Grain: one row per tool call, also those that only events tell of; joins `dim_session` on `session_key`.
with
kinds as (
    select tool_name, min(tool_kind) as tool_kind from tool_calls where tool_kind <> 'other' group by all
),

ends as (
    select
        host,
        "user",
        home_path,
        source_file,
        source_line,
        collection_id,
        tool_use_id,
        tool_name,
        min(regexp_extract(text, '^accepted=\S+ succeeded=\S+')) as said,
    from timeline
    where kind = 'tool_result' and call_key is null and repeats_row_id is null
    group by all
    having min(regexp_extract(text, '^accepted=\S+ succeeded=\S+'))
        = max(regexp_extract(text, '^accepted=\S+ succeeded=\S+'))
),

-- Accepted and succeeded: it ran. Neither: it ran and failed. Succeeded alone: a person refused it.
of_events as (
    select
        asked.row_id,
        asked.session_key,
        asked.host,
        asked."user",
        asked.agent,
        asked.event_utc,
        asked.event_basis,
        asked.tool_name,
        coalesce(kinds.tool_kind, 'other') as tool_kind,
        asked.model,
        'agent' as actor,
        case ends.said
            when 'accepted=true succeeded=true' then 'allowed'
            when 'accepted=false succeeded=false' then 'allowed'
            when 'accepted=false succeeded=true' then 'denied'
            else 'unknown'
        end as decision,
        case ends.said when 'accepted=false succeeded=true' then 'user' end as decision_reason,
        case ends.said
            when 'accepted=true succeeded=true' then true
            when 'accepted=false succeeded=false' then true
            when 'accepted=false succeeded=true' then false
        end as ran,
        coalesce(ends.said = 'accepted=false succeeded=false', false) as failed,
        true as is_event_only,
        asked.home_path,
        asked.source_line,
        asked.current,
    from timeline as asked
    left join ends
        on ends.host is not distinct from asked.host
        and ends."user" is not distinct from asked."user"
        and ends.home_path = asked.home_path
        and ends.source_file is not distinct from asked.source_file
        and ends.source_line = asked.source_line
        and ends.collection_id = asked.collection_id
        and ends.tool_use_id is not distinct from asked.tool_use_id
        and ends.tool_name is not distinct from asked.tool_name
    left join kinds on kinds.tool_name = asked.tool_name
    where asked.kind = 'tool_call' and asked.call_key is null and asked.repeats_row_id is null
),

of_sessions as (
    select
        *,
        coalesce(status = 'errored', false) or coalesce(exit_code <> 0, false) as failed,
        case
            when event_basis <> 'tool_usage' and finished_utc >= requested_utc
                then (epoch_ms(finished_utc) - epoch_ms(requested_utc)) / 1000
        end as seconds,
        false as is_event_only,
    from tool_calls
),

found as (
    from of_sessions
    union all by name
    from of_events
)

select
    found.row_id,
    coalesce(
        found.session_key,
        concat('none-', md5(concat(found.agent, chr(0) || 'h' || found.host, chr(0) || 'u' || found."user")))
    ) as session_key,  -- Joins `dim_session`; never null.
    found.event_utc::date as day,  -- Day (UTC) by the best evidence; null where nothing tells.
    date_trunc('week', found.event_utc)::date as week,  -- Monday of that day's week.
    found.event_utc,
    coalesce(found.event_basis <> 'session', false) as has_own_time,  -- False: the day is that of the session's start.
    found.tool_name,
    found.tool_kind,
    found.model,
    found.actor,
    found.decision,
    found.decision_reason,
    found.ran,
    found.failed,  -- Whether it errored, or a command ended with an exit code but 0.
    found.exit_code,
    found.seconds,  -- Time from the call to its end (seconds), where both are known.
    found.output_bytes,
    found.lines_added,
    found.lines_removed,
    found.command,
    found.file_path,
    found.is_event_only,  -- Whether no session's file holds it: an event of the editor is all that is known of it.
    coalesce(copies.copy > 1, false)
    or (
        sessions.forked_from is not null
        and found.home_path = sessions.home_path
        and found.source_line > 0
        and coalesce(found.source_line < sessions.forked_at_item, true)
    ) as is_copied,  -- Whether an earlier session holds it: the session is a copy, or a fork that begins with it.
    found.current,
from found
left join sessions on sessions.session_key = found.session_key
left join session_copies as copies on copies.session_key = found.session_key
