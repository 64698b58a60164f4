-- Fails for each result whose call is not there: neither the one that it names, nor, of an event, that of its line.
-- A result without a tool's name says that it has no call.
select results.source_file, results.sequence
from timeline as results
left join tool_calls as calls on calls.call_key = results.call_key
left join timeline as asked
    on results.call_key is null
    and asked.kind = 'tool_call'
    and asked.source_file = results.source_file
    and asked.source_line = results.source_line
where results.kind = 'tool_result'
    and results.tool_name is not null
    and calls.call_key is null
    and asked.row_id is null
