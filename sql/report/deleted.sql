-- How are sessions gone, and what is left of them?
select
    case
        when has_file then 'a later collection lacks it'
        when in_index then 'a list names it, its file is gone'
        else 'events alone name it'
    end as how,
    agent,
    count(*) as sessions,
    sum(user_turns) as prompts,
    sum(tool_calls) as calls,
    count(distinct (host, "user")) as users,
from sessions_deleted
group by all
order by sessions desc, how, agent
