-- Grain: one row per tool call. Key: artifact, call_no. What was decided, where the call's event tells more than it does.
-- A call that was canceled without a word was denied where its event says: not accepted, and no failure.
with
told as (
    select
        calls.artifact,
        calls.call_no,
        calls.decision = 'unknown'
            and calls.status = 'canceled'
            and calls.output is null
            and not pairs.accepted
            and pairs.succeeded as is_denied,
    from calls
    left join usage_pairs as pairs on pairs.artifact = calls.artifact and pairs.call_no = calls.call_no
)

select
    calls.artifact,
    calls.call_no,
    case when told.is_denied then 'denied' else calls.decision end as decision,
    case when told.is_denied then 'user' else calls.decision_reason end as decision_reason,
from calls
join told on told.artifact = calls.artifact and told.call_no = calls.call_no
