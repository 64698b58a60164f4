-- Grain: one row per session that an index of the home lists and that no file of it is: a deleted one.
-- Key: home, agent, session_id.
select
    indexed.*,
    id_key_of(places.identity, indexed.agent, indexed.session_id) as session_key,
from indexed
join places using (artifact)
anti join session_places as sessions
    on sessions.home = indexed.home
    and sessions.agent = indexed.agent
    and (sessions.session_name = indexed.session_id or sessions.entry_id = indexed.session_id)
anti join folders
    on folders.home = indexed.home
    and folders.agent = indexed.agent
    and ends_with(folders.session_path, '/' || indexed.session_id)
