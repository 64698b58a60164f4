-- Grain: one row per view of the lake.
select view_name as "view", comment as "rows",
from duckdb_views()
where not internal
order by view_name
