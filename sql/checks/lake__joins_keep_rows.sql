-- Fails for each table of which the joins made more or fewer rows than there were before them.
with
counts as (
    select 'timeline and twins' as name, (select count(*) from rows) as before, ['timeline', 'twins'] as tables
    union all
    select 'tool_calls', (select count(*) from calls), ['tool_calls']
    union all
    select 'context_items', (select count(*) from contexts), ['context_items']
    union all
    select 'permissions', (select count(*) from rules), ['permissions']
    union all
    select 'token_usage', (select count(*) from tokens), ['token_usage']
    union all
    select 'completions', (select count(*) from suggestions), ['completions']
    union all
    select 'problems', (select count(*) from faults), ['problems']
    union all
    select 'artifacts', (select count(*) from files), ['artifacts']
),

compared as (
    select
        counts.name,
        counts.before,
        (select coalesce(sum(rows), 0) from joined where list_contains(counts.tables, joined.name)) as after,
    from counts
)

select name, before, after from compared where before <> after
