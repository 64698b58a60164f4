-- Which sessions were deleted or damaged?
select user, title, started_utc, started_basis, case when has_file and current then 'damaged' else 'deleted' end as fate,
    deleted_between, project_path,
from sessions
where damaged or not has_file or not current
order by user, started_utc, title
