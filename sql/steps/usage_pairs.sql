-- Grain: one row per call whose id an event of its home carries too. Key: artifact, call_no.
-- One call and one event of an id are each other's; else id, tool and arguments tell them, and then their order, where
-- all calls lie in one file and there are as many events. Where that leaves a choice none is taken.
with
events as (
    select
        places.home,
        places.agent,
        usages.artifact,
        usages.record,
        usages.utc,
        usages.tool_use_id,
        coalesce(usages.tool_name, '') as tool_name,
        coalesce(usages.arguments, '') as arguments,
        usages.accepted,
        usages.succeeded,
    from usages
    join places using (artifact)
    where usages.tool_use_id is not null
),

asked as (
    select
        places.home,
        places.agent,
        rows.artifact,
        rows.call_no,
        rows.sequence,
        rows.tool_use_id,
        coalesce(rows.tool_name, '') as tool_name,
        rows.text as arguments,
    from call_rows
    join rows on rows.artifact = call_rows.artifact and rows.sequence = call_rows.sequence
    join places on places.artifact = call_rows.artifact
    semi join events
        on events.home = places.home and events.agent = places.agent and events.tool_use_id = rows.tool_use_id
),

counted_events as (
    select
        *,
        count(*) over (partition by home, agent, tool_use_id) as of_id,
        count(*) over (partition by home, agent, tool_use_id, tool_name, arguments) as many,
        row_number() over (
            partition by home, agent, tool_use_id, tool_name, arguments order by artifact, record
        ) as place,
    from events
),

counted_calls as (
    select
        *,
        count(*) over (partition by home, agent, tool_use_id) as of_id,
        count(*) over (partition by home, agent, tool_use_id, tool_name, arguments) as many,
        min(artifact) over (partition by home, agent, tool_use_id, tool_name, arguments)
            = max(artifact) over (partition by home, agent, tool_use_id, tool_name, arguments) as in_one_file,
        row_number() over (
            partition by home, agent, tool_use_id, tool_name, arguments order by artifact, sequence
        ) as place,
    from asked
),

alone as (
    select calls.artifact, calls.call_no, events.artifact as event_artifact, events.record as event_record
    from counted_calls as calls
    join counted_events as events using (home, agent, tool_use_id)
    where calls.of_id = 1 and events.of_id = 1
),

alike as (
    select calls.artifact, calls.call_no, events.artifact as event_artifact, events.record as event_record
    from counted_calls as calls
    join counted_events as events using (home, agent, tool_use_id, tool_name, arguments, place)
    where (calls.of_id > 1 or events.of_id > 1) and calls.in_one_file and calls.many = events.many
),

unclear as (
    select calls.artifact, calls.call_no
    from counted_calls as calls
    join counted_events as events using (home, agent, tool_use_id, tool_name, arguments)
    where events.place = 1
        and (calls.of_id > 1 or events.of_id > 1)
        and not (calls.in_one_file and calls.many = events.many)
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
