-- Grain: one row per row of the timeline, laid out in order: session start plus one second per row of its file.
-- Most rows of a session have no time of their own; `laid_out_utc` is for display and order alone, and no evidence.
select
    timeline.*,
    sessions.started_utc + to_seconds(timeline.sequence) as laid_out_utc,  -- Start of the session plus a second per row (UTC): for display, no evidence.
from timeline
left join sessions on sessions.session_key = timeline.session_key
