-- Fails for each result whose call is not there: neither the one that it names, nor, of an event, that of its line.
-- A result of no call has no id, or no tool's name.
select results.source_file, results.sequence
from timeline as results
left join tool_calls as calls on calls.call_key = results.call_key
left join timeline as asked
    on results.call_key is null
    and asked.kind = 'tool_call'
    and asked.source_file = results.source_file
    and asked.source_line = results.source_line
where results.kind = 'tool_result'
    and (results.call_key is not null or (results.tool_name is not null and results.tool_use_id is not null))
    and calls.call_key is null
    and asked.row_id is null
