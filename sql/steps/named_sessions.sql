-- Grain: one row per session that a record of the home names. Key: home, agent, session_id.
-- Of several files of one id it is the one of that name, else the first; without a file its entry in the index.
with
named as (
    select artifact, named_session as session_id, own_utc as utc from rows where named_session is not null
    union all
    select artifact, named_session as session_id, own_utc as utc from tokens where named_session is not null
),

of_homes as (
    select
        places.home,
        places.agent,
        places.identity,
        named.session_id,
        min(named.utc) as first_utc,
        min(named.artifact) as first_artifact,
    from named
    join places using (artifact)
    group by all
),

held as (
    select home, agent, session_id, session_key, project_path, session_utc, session_name, artifact
    from session_places
    where is_readable or in_index
    union all by name
    select home, agent, names."name" as session_id, session_key, project_path, session_utc, names."name" as session_name
    from file_names as names
    union all by name
    -- Folders of which no file tells anything are sessions, too.
    select
        folders.home,
        folders.agent,
        regexp_extract(folders.session_path, '([^/]*)$', 1) as session_id,
        key_of(homes.identity, folders.agent, folders.session_path) as session_key,
        indexed.project_path,
        indexed.created_utc as session_utc,
        indexed.session_id as session_name,
    from folders
    join homes using (home)
    left join indexed
        on indexed.home = folders.home
        and indexed.agent = folders.agent
        and indexed.session_id = regexp_extract(folders.session_path, '([^/]*)$', 1)
    anti join session_places as sessions
        on sessions.session_key = key_of(homes.identity, folders.agent, folders.session_path)
),

files as (
    select distinct on (home, agent, session_id) home, agent, session_id, session_key, project_path, session_utc
    from held
    order by session_name = session_id desc, artifact nulls last, session_key
)

select
    of_homes.home,
    of_homes.agent,
    of_homes.session_id,
    coalesce(
        files.session_key, entries.session_key, id_key_of(of_homes.identity, of_homes.agent, of_homes.session_id)
    ) as session_key,
    coalesce(files.project_path, entries.project_path) as project_path,
    coalesce(files.session_utc, entries.created_utc) as session_utc,
    files.session_key is null and entries.session_key is null as is_unlisted,
    of_homes.first_utc,
    of_homes.first_artifact as artifact,
from of_homes
left join files
    on files.home = of_homes.home and files.agent = of_homes.agent and files.session_id = of_homes.session_id
left join entry_sessions as entries
    on entries.home = of_homes.home and entries.agent = of_homes.agent and entries.session_id = of_homes.session_id
