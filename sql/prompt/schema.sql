-- Grain: one row per column of a view.
select column_name as "column", data_type as "type", comment as meaning,
from duckdb_columns()
where not internal and table_name = $view
order by column_index
