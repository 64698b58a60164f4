-- Fails for each table that has more or fewer rows than there were before the joins.
with
counts as (
    select 'timeline and twins' as name, (select count(*) from rows) as before,
        (select count(*) from timeline) + (select count(*) from twins) as after
    union all
    select 'tool_calls', (select count(*) from calls), (select count(*) from tool_calls)
    union all
    select 'context_items', (select count(*) from contexts), (select count(*) from context_items)
    union all
    select 'permissions', (select count(*) from rules), (select count(*) from permissions)
    union all
    select 'token_usage', (select count(*) from tokens), (select count(*) from token_usage)
    union all
    select 'completions', (select count(*) from suggestions), (select count(*) from completions)
    union all
    select 'problems', (select count(*) from faults), (select count(*) from problems)
    union all
    select 'artifacts', (select count(*) from files), (select count(*) from artifacts)
)

select name, before, after from counts where before <> after
