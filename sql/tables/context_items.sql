-- Grain: one row per context item or citation that came with a message. Key: row_id. The content is
-- that of `contexts` at `number`.
with
happened as (select artifact, line, min(event_utc) as event_utc from keyed_rows where line > 0 group by all)

select
    places.host,
    places."user",
    places.agent,
    sessions.session_key,
    sessions.session_id,
    sessions.project_path,
    contexts.provider,
    contexts.name,
    contexts.description,
    contexts.uri,
    contexts.content_bytes,
    coalesce(happened.event_utc, sessions.session_utc) as event_utc,
    places.source,
    places.source_file,
    contexts.line as source_line,
    contexts.sequence,
    row_key(
        places.place, 'context_item', concat_ws(chr(0), contexts.provider, contexts.name, contexts.description, contexts.uri),
        null, contexts.occurrence, contexts.content
    ) as row_id,
    places.home_path,
    places.collection_id,
    true as current,
    contexts.number,
from contexts
join places on places.artifact = contexts.artifact
join session_places as sessions on sessions.artifact = contexts.artifact
left join happened on happened.artifact = contexts.artifact and happened.line = contexts.line
