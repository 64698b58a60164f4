"""Continue: tokens of model requests, one event a request.

Files: `~/.continue/dev_data/0.2.0/tokensGenerated.jsonl` (schemas/data/tokensGenerated; written by core/llm/index.ts),
`dev_data/tokens_generated.jsonl` of before the versions. They give no row of the timeline.
"""

import re

from parsers import _token_events
from pipeline.source import Source

SOURCE = Source(
    name="continue.tokens_generated",
    agent="continue",
    pattern=re.compile(r"dev_data/(?:[^/]+/)?(?:tokensGenerated|tokens_generated)\.jsonl"),
    tables=(_token_events.KIND.table(),),
    read=_token_events.KIND.read,
    stage=_token_events.stage,
)
