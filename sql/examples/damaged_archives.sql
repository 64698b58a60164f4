-- Which archives are damaged, cut off, or not what the hash beside them says?
-- What concerns an archive as a whole names no home; `member` is empty then, and `input` begins with the archive's path.
select collections.input, problems.reason, problems.lost, problems.detail, problems.source_file as member,
from problems
left join collections using (collection_id)
where starts_with(problems.reason, 'archive_')
order by collections.input, member nulls first, problems.reason
