-- Grain: one row per call whose id an event of its home carries too. Key: artifact, call_no.
-- One call and one event of an id are each other's; else id, tool and arguments tell them, and then their order, where
-- all calls lie in one file and as many events in one. Where that leaves a choice none is taken.
with
events as (
    select places.home, places.agent, usages.tool_use_id, usages.artifact, usages.record
    from usages
    join places using (artifact)
    where usages.tool_use_id is not null
),

asked as (
    select places.home, places.agent, rows.tool_use_id, rows.artifact, rows.call_no, rows.sequence
    from call_rows
    join rows on rows.artifact = call_rows.artifact and rows.sequence = call_rows.sequence
    join places on places.artifact = call_rows.artifact
    where rows.tool_use_id is not null
),

-- Of an id of one call and one event these are the call and the event.
counted as (
    select
        home,
        agent,
        tool_use_id,
        calls.many = 1 and told.many = 1 as is_clear,
        calls.artifact,
        calls.call_no,
        told.artifact as event_artifact,
        told.record as event_record,
    from (
        select home, agent, tool_use_id, count(*) as many, min(artifact) as artifact, min(call_no) as call_no
        from asked
        group by all
    ) as calls
    join (
        select home, agent, tool_use_id, count(*) as many, min(artifact) as artifact, min(record) as record
        from events
        group by all
    ) as told using (home, agent, tool_use_id)
),

alone as (select artifact, call_no, event_artifact, event_record from counted where is_clear),

shared as (select home, agent, tool_use_id from counted where not is_clear),

shared_events as (
    select
        events.*,
        coalesce(usages.tool_name, '') as tool_name,
        coalesce(nullif(usages.arguments, ''), '{}') as arguments,
    from events
    semi join shared using (home, agent, tool_use_id)
    join usages on usages.artifact = events.artifact and usages.record = events.record
),

-- An event of a call without arguments has none as they were sent, the call's row those of its state.
shared_calls as (
    select asked.*, coalesce(rows.tool_name, '') as tool_name, coalesce(nullif(rows.text, ''), '{}') as arguments
    from asked
    semi join shared using (home, agent, tool_use_id)
    join rows on rows.artifact = asked.artifact and rows.sequence = asked.sequence
),

counted_events as (
    select
        *,
        count(*) over same as many,
        min(artifact) over same = max(artifact) over same as in_one_file,
        row_number() over (same order by artifact, record) as place,
    from shared_events
    window same as (partition by home, agent, tool_use_id, tool_name, arguments)
),

counted_calls as (
    select
        *,
        count(*) over same as many,
        min(artifact) over same = max(artifact) over same as in_one_file,
        row_number() over (same order by artifact, sequence) as place,
    from shared_calls
    window same as (partition by home, agent, tool_use_id, tool_name, arguments)
),

alike as (
    select calls.artifact, calls.call_no, events.artifact as event_artifact, events.record as event_record
    from counted_calls as calls
    join counted_events as events using (home, agent, tool_use_id, tool_name, arguments, place)
    where calls.in_one_file and events.in_one_file and calls.many = events.many
),

unclear as (
    select calls.artifact, calls.call_no
    from counted_calls as calls
    join counted_events as events using (home, agent, tool_use_id, tool_name, arguments)
    where events.place = 1 and not (calls.in_one_file and events.in_one_file and calls.many = events.many)
),

found as (
    from alone
    union all by name
    from alike
    union all by name
    from unclear
)

select
    found.artifact,
    found.call_no,
    found.event_artifact,
    found.event_record,
    case when found.event_record is null then 'ambiguous' else 'matched' end as usage_match,
    usages.utc,
    usages.accepted,
    usages.succeeded,
from found
left join usages on usages.artifact = found.event_artifact and usages.record = found.event_record
