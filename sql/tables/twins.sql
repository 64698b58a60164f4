-- Grain: one row per row of a secondary source that repeats a row of the timeline. Key: row_id.
select
    timeline_rows.* exclude (twin_artifact, twin_sequence),
    row_ids.row_id as twin_row_id,
from timeline_rows
join row_ids on row_ids.artifact = timeline_rows.twin_artifact and row_ids.sequence = timeline_rows.twin_sequence
where timeline_rows.twin_sequence is not null
