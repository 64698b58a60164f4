-- Fails for each table of which a join made more or fewer rows than there were before it.
with
kept as (
    select
        unnest(['rows', 'calls', 'contexts', 'rules', 'tokens', 'suggestions', 'faults', 'files']) as staged,
        unnest([
            ['timeline', 'twins'], ['tool_calls'], ['context_items'], ['permissions'], ['token_usage'], ['completions'],
            ['problems'], ['artifacts'],
        ]) as tables,
),

compared as (
    select
        counts."join",
        kept.tables,
        sum(counts.rows) filter (counts.name = kept.staged and not counts.is_table) as before,
        coalesce(sum(counts.rows) filter (list_contains(kept.tables, counts.name) and counts.is_table), 0) as after,
    from kept
    cross join counts
    group by all
)

select tables, before, after from compared where before <> after
