-- The homes. One without a host is known by the place that it was read from.
select distinct
    artifacts.host,
    artifacts."user",
    artifacts.agent,
    left(artifacts.source_file, length(artifacts.source_file) - length(artifacts.path)) as home,
    case when artifacts.host is null then collections.input end as place,
from artifacts
left join collections on collections.collection_id = artifacts.collection_id
