-- Grain: one row per request, reply or task that states tokens, of one session those of its first grain; else per session
-- that states its own. Joins `dim_session` on `session_key`.
with
counted as (
    select
        *,
        list_position(['request', 'reply', 'task'], grain) as place,
        min(list_position(['request', 'reply', 'task'], grain)) over (partition by session_key) as first_place,
    from token_usage
),

stated as (
    from counted
    where session_key is null or place = first_place
    union all by name
    select
        session_key as row_id,
        session_key,
        host,
        "user",
        agent,
        coalesce(last_event_utc, started_utc) as utc,
        coalesce(last_event_utc, started_utc) as event_utc,
        'session' as grain,
        case when len(models) = 1 then models[1] end as model,
        prompt_tokens,
        completion_tokens,
        cached_tokens as cache_read_tokens,
        total_cost_usd as cost_usd,
        home_path,
        current,
    from sessions
    anti join token_usage on token_usage.session_key = sessions.session_key
    where greatest(prompt_tokens, completion_tokens, cached_tokens, total_cost_usd) > 0
)

select
    stated.row_id,
    coalesce(
        stated.session_key,
        concat('none-', md5(concat(stated.agent, chr(0) || 'h' || stated.host, chr(0) || 'u' || stated."user")))
    ) as session_key,  -- Joins `dim_session`; never null.
    stated.utc::date as day,  -- Day (UTC) by the best evidence; null where nothing tells.
    date_trunc('week', stated.utc)::date as week,  -- Monday of that day's week.
    stated.event_utc,
    stated.grain,  -- `request`, `reply`, `task`; `session` for one that states its tokens as a whole alone.
    stated.model,
    stated.provider,
    stated.prompt_tokens,
    stated.completion_tokens,
    stated.cache_read_tokens,
    stated.cache_write_tokens,
    stated.cost_usd,
    coalesce(copies.copy > 1, false)
    or (
        sessions.forked_from is not null
        and stated.home_path = sessions.home_path
        and stated.source_line > 0
        and coalesce(stated.source_line < sessions.forked_at_item, true)
    ) as is_copied,  -- Whether an earlier session holds it: the session is a copy, or a fork that begins with it.
    stated.current,
from stated
left join sessions on sessions.session_key = stated.session_key
left join session_copies as copies on copies.session_key = stated.session_key
