-- Which files were changed most?
select host, user, project_path, file_path, edits, lines_added, lines_removed,
from files_changed
order by edits desc, lines_added desc, file_path
