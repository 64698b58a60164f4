-- Grain: one row per standing rule that lets commands through without asking, and that the assistant honours.
-- An agent's own settings allow commands where they say so of all of them; lists of commands stand beside. None does
-- while the same file switches commands or all approvals off.
with
settled as (
    select
        *,
        bool_or(scope = 'setting' and rule in ('autoApprovalEnabled', 'alwaysAllowExecute') and value = 'false')
            over (partition by host, "user", agent, collection_id, source_file)
            as is_off,
    from permissions
    where current
)

select
    host,
    "user",
    agent,
    scope,
    rule,
    value,
    recorded_utc,
    granted_utc,
    source_file,
    current,
from settled
where (scope = 'allow' and honoured and regexp_matches(rule, '^(Bash|run_terminal_command|\*)'))
    or (
        scope = 'setting'
        and not is_off
        and (rule = 'alwaysAllowExecute' or (rule = 'allowedCommands' and value not in ('null', '[]')))
    )
