-- Grain: one row per column of every view, for completion.
select table_name, column_name,
from duckdb_columns()
where not internal
order by table_oid, column_index
