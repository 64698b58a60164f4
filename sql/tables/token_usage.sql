-- Grain: one row per request, reply or task that states tokens. Key: row_id. A reply has the time of its item; what has
-- no time of its own has its session's.
with
happened as (
    select artifact, line, min(event_utc) as event_utc
    from keyed_rows
    where line > 0 and timestamp_basis is distinct from 'record'
    group by all
)

select
    places.host,
    places."user",
    places.agent,
    coalesce(sessions.session_key, named.session_key) as session_key,
    coalesce(sessions.session_id, named.session_id) as session_id,
    coalesce(sessions.project_path, named.project_path) as project_path,
    tokens.grain,
    coalesce(
        case when tokens.grain = 'reply' then happened.event_utc else tokens.own_utc end, sessions.session_utc,
        named.session_utc
    ) as utc,
    tokens.model,
    tokens.provider,
    tokens.prompt_tokens,
    tokens.completion_tokens,
    tokens.cache_read_tokens,
    tokens.cache_write_tokens,
    tokens.cost_usd,
    utc as event_utc,
    places.source,
    places.source_file,
    tokens.line as source_line,
    row_key(places.told_place, concat('tokens', chr(0), tokens.grain), tokens.key, null, tokens.occurrence, '') as row_id,
    places.home_path,
    places.collection_id,
    true as current,
from tokens
join places on places.artifact = tokens.artifact
left join session_places as sessions on sessions.artifact = tokens.artifact
left join named_sessions as named
    on named.home = places.home and named.agent = places.agent and named.session_id = tokens.named_session
left join happened on happened.artifact = tokens.artifact and happened.line = tokens.line
