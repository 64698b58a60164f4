-- Grain: one row per artifact. Key: artifact. Where it lies, and the keys that rest on that.
-- `collection_id` is the number of the home until the rows of all its collections are merged.
select
    files.artifact,
    home,
    homes.host,
    homes."user",
    homes.identity,
    agent,
    source,
    session_path,
    resume,
    twin_rule,
    home_path,
    source_file,
    bytes,
    mtime_utc,
    sha256,
    status,
    records,
    home::varchar as collection_id,
    key_of(identity, agent, concat(source, chr(0), home_path)) as place,
    -- What a file tells is the same whether that file tells it or one that stands in for it.
    key_of(identity, agent, concat(source, chr(0), told_path)) as told_place,
    case when session_path is not null then key_of(identity, agent, session_path) end as session_key,
    case
        when session_path = home_path then regexp_extract(home_path, '([^/]*?)(\.[^./]*)?$', 1)
        else regexp_extract(session_path, '([^/]*)$', 1)
    end as session_name,
from files
join homes using (home)
