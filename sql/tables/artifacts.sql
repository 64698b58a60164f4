-- Grain: one row per file of an assistant in a home. Key: row_id.
-- A record has a row where a table has one that was made from it.
with
-- Records that several tables have rows of count once.
lines as (
    select artifact, line, record from keyed_rows where line > 0 and kind <> 'problem'
    union
    select artifact, line, record from tokens
    union
    select artifact, line, record from suggestions
    union
    select artifact, line, record from rules
    union
    select artifact, position as line, null as record from entries
),

made as (
    select artifact, count(*) as records from lines group by all
    union all
    select artifact, sum(records) as records from calls group by all
    union all
    select artifact, count(*) as records from contexts group by all
    union all
    select session_files.artifact, count(*) as records
    from session_files
    join places using (artifact)
    where places.session_path = places.home_path
    group by all
),

with_rows as (select artifact, sum(records)::bigint as records from made group by all),

lost as (select artifact, count(*) as losses from faults where text is not null group by all),

passed_over as (select artifact, sum(records)::bigint as records from silent group by all)

select
    places.host,
    places."user",
    places.agent,
    case when sessions.is_readable or sessions.in_index or sessions.is_folder then sessions.session_key end as session_key,
    places.home_path as path,
    places.source_file,
    places.bytes,
    places.mtime_utc,
    places.sha256,
    places.status,
    places.source,
    places.records,
    case when places.records is not null then coalesce(with_rows.records, 0) end as rows,
    case when places.records is not null then coalesce(lost.losses, 0) end as losses,
    case when places.records is not null then coalesce(passed_over.records, 0) end as silent,
    key_of(places.identity, places.agent, concat('artifact', chr(0), places.home_path)) as row_id,
    places.collection_id,
    true as current,
from places
left join session_places as sessions using (artifact)
left join with_rows using (artifact)
left join lost using (artifact)
left join passed_over using (artifact)
