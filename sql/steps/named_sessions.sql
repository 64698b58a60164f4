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

files as (
    select distinct on (home, agent, session_id) home, agent, session_id, session_key, project_path
    from session_places
    where is_readable or in_index
    order by session_name = session_id desc, artifact
)

select
    of_homes.home,
    of_homes.agent,
    of_homes.session_id,
    coalesce(
        files.session_key, entries.session_key, id_key_of(of_homes.identity, of_homes.agent, of_homes.session_id)
    ) as session_key,
    coalesce(files.project_path, entries.project_path) as project_path,
    files.session_key is null and entries.session_key is null as is_unlisted,
    of_homes.first_utc,
    of_homes.first_artifact as artifact,
from of_homes
left join files
    on files.home = of_homes.home and files.agent = of_homes.agent and files.session_id = of_homes.session_id
left join entry_sessions as entries
    on entries.home = of_homes.home and entries.agent = of_homes.agent and entries.session_id = of_homes.session_id
