-- Grain: one row per name of a session's file that is no session's id. Key: home, agent, name.
-- A copied file keeps its source's id, and what the assistant writes of the copy names the file.
select
    home,
    agent,
    session_name as "name",
    min_by(session_id, artifact) as session_id,
    min_by(session_key, artifact) as session_key,
    min_by(project_path, artifact) as project_path,
    min_by(session_utc, artifact) as session_utc,
from session_places as sessions
anti join session_places as others
    on others.home = sessions.home
    and others.agent = sessions.agent
    and others.session_id = sessions.session_name
where not is_folder and (is_readable or in_index)
group by all
