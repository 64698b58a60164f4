-- Grain: one row per standing rule or setting. Key: row_id.
with
granted as (
    select places.home, places.agent, grants.rule, max(grants.utc) as utc
    from grants
    join places using (artifact)
    group by all
)

select
    places.host,
    places."user",
    places.agent,
    null::varchar as session_key,
    rules.scope,
    rules.rule,
    rules.value,
    places.mtime_utc as recorded_utc,
    granted.utc as granted_utc,
    rules.honoured,
    places.mtime_utc as event_utc,
    places.source,
    places.source_file,
    rules.line as source_line,
    row_key(places.told_place, 'permission', rules.key, null, rules.occurrence, '') as row_id,
    places.home_path,
    places.collection_id,
    true as current,
from rules
join places on places.artifact = rules.artifact
left join granted
    on granted.home = places.home and granted.agent = places.agent and granted.rule = rules.rule
    and rules.scope = 'allow'
