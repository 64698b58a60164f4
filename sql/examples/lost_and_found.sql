-- Which sessions were deleted or damaged?
select user, title, started_utc, started_basis, case when not has_file then 'deleted' else 'damaged' end as fate, project_path,
from sessions
where damaged or not has_file
order by user, started_utc, title
