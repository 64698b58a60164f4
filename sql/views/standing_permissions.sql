-- Grain: one row per standing rule that lets commands through without asking, and that the assistant honours.
-- An agent's own settings allow commands where they say so of all of them; lists of commands stand beside.
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
from permissions
where current
    and ((scope = 'allow' and honoured and regexp_matches(rule, '^(Bash|run_terminal_command|\*)'))
        or (scope = 'setting' and rule in ('alwaysAllowExecute', 'allowedCommands') and value not in ('false', '[]')))
