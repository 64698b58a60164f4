-- Grain: one row per request, reply or task that states tokens, of one session those of its first grain; joins
-- `dim_session` on `session_key`.
with
counted as (
    select
        *,
        list_position(['request', 'reply', 'task'], grain) as place,
        min(list_position(['request', 'reply', 'task'], grain)) over (partition by session_key) as first_place,
    from token_usage
)

select
    counted.row_id,
    coalesce(
        counted.session_key,
        concat('none-', md5(concat(counted.agent, chr(0) || 'h' || counted.host, chr(0) || 'u' || counted."user")))
    ) as session_key,  -- Joins `dim_session`; never null.
    counted.utc::date as day,  -- Day (UTC) by the best evidence; null where nothing tells.
    date_trunc('week', counted.utc)::date as week,  -- Monday of that day's week.
    counted.event_utc,
    counted.grain,
    counted.model,
    counted.provider,
    counted.prompt_tokens,
    counted.completion_tokens,
    counted.cache_read_tokens,
    counted.cache_write_tokens,
    counted.cost_usd,
    coalesce(copies.copy > 1, false)
    or (
        sessions.forked_from is not null
        and counted.home_path = sessions.home_path
        and counted.source_line > 0
        and coalesce(counted.source_line < sessions.forked_at_item, true)
    ) as is_copied,  -- Whether an earlier session holds it: the session is a copy, or a fork that begins with it.
    counted.current,
from counted
left join sessions on sessions.session_key = counted.session_key
left join session_copies as copies on copies.session_key = counted.session_key
where counted.session_key is null or counted.place = counted.first_place
