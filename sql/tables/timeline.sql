-- Grain: one row per thing that was said, done or decided. Key: row_id.
select timeline_rows.* exclude (twin_artifact, twin_sequence, seconds_apart)
from timeline_rows
where twin_sequence is null
