-- Grain: one row per session that an index of the home lists. Key: home, agent, session_id.
-- Of several entries of one id the earliest time holds, and the last of the other fields.
select
    places.home,
    places.agent,
    entries.session_id,
    min(entries.created_utc) as created_utc,
    last(entries.basis order by entries.artifact, entries.position) as basis,
    last(entries.title order by entries.artifact, entries.position) as title,
    last(entries.workspace_directory order by entries.artifact, entries.position) as workspace_directory,
    last(entries.project_path order by entries.artifact, entries.position) as project_path,
    last(entries.message_count order by entries.artifact, entries.position) as message_count,
    last(entries.integration_type order by entries.artifact, entries.position) as integration_type,
    bool_or(entries.scratch) as scratch,
    last(entries.artifact order by entries.artifact, entries.position) as artifact,
from entries
join places using (artifact)
group by all
