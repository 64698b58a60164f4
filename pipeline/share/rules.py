"""What a secret looks like in a text: token shapes that providers document, and values that stand behind a key's name.

Patterns are of RE2's syntax, which takes time in proportion to a text; none repeats a long run before an ending that
may be missing, so that a hostile text does not make many matches slow. Rules mask an odd harmless value
(`token="string"`) rather than leave a secret. None finds a password in prose.
"""

from dataclasses import dataclass

MASK = "***"


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern of secrets. With `keeps` its two groups, what stands around the secret, are kept of a match."""

    pattern: str
    keeps: bool = False


_START = r"(\b|_|\\+(?:[nrtbf]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}|\[[0-9;]*[mK])"
"""What stands before a token: no letter, but for that of an escape of JSON, of an address or of a terminal's colour."""

_START = r"(\b|_|\\+(?:[nrtbf]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}|\[[0-9;]*[mK])"
"""What stands before a token: no letter, but for that of an escape of JSON, of an address or of a terminal's colour."""

_SHAPES = (
    # Amazon, GitHub, GitLab, Slack, Discord
    r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    r"gh[oprsu]_[A-Za-z0-9]{30,255}",
    r"github_pat_[A-Za-z0-9_]{20,255}",
    r"gl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|soat)-[A-Za-z0-9_.-]{20,}",
    r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}",
    r"xapp-[A-Za-z0-9-]{20,}",
    r"hooks\.slack\.com/(?:services|triggers|workflows)/[A-Za-z0-9/_+-]+",
    r"discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]+",
    # Providers of models: OpenAI, Anthropic, OpenRouter, DeepSeek; Groq, Perplexity, xAI, Hugging Face, Replicate
    r"sk-[A-Za-z0-9_-]{20,}",
    r"gsk_[A-Za-z0-9]{30,}",
    r"pplx-[A-Za-z0-9]{30,}",
    r"xai-[A-Za-z0-9]{30,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"r8_[A-Za-z0-9]{30,}",
    # Google
    r"AIza[A-Za-z0-9_-]{35}",
    r"ya29\.[A-Za-z0-9_-]{20,}",
    r"GOCSPX-[A-Za-z0-9_-]{20,}",
    # Registries, payments, clouds, trackers, Telegram
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{50,}",
    r"dckr_pat_[A-Za-z0-9_-]{20,}",
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"whsec_[A-Za-z0-9+/=]{20,}",
    r"do[opr]_v1_[a-f0-9]{64}",
    r"dapi[a-f0-9]{32}\b",
    r"hvs\.[A-Za-z0-9_-]{24,}",
    r"lin_api_[A-Za-z0-9]{30,}",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b",
)
"""Tokens that are known by their first characters; what is behind these is of no matter."""

_LONGER = (
    # Private keys: a whole block, or the lines that are left of one that was cut.
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-]|-{1,4}[^-])*-----END [A-Z0-9 ]+-----"
    r"|(?:(?:\s|\\+[rnt])*[A-Za-z0-9+/=]{16,})*)",
    r"Private-Lines: [0-9]+(?:(?:\s|\\+[rnt])+[A-Za-z0-9+/=]{16,})+",
)
"""Secrets that nothing need stand before, each a rule of its own."""

_TOKENS = tuple(
    f"{_START}(?:{shape})()"
    for shape in (
        # JSON Web Tokens, signed and encrypted; SendGrid; the others
        r"eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){2,4}",
        r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}",
        "|".join(_SHAPES),
    )
)
"""Tokens, each a rule of its own, and what stands before them."""

_NAME = (
    r"(?:passw(?:or)?d|passphrase|passwd|pwd|secret|token|api[_-]?key|(?:access|account|auth|client|encryption|private"
    r"|secret|service|shared|signing|master)[_-]?(?:access[_-]?)?(?:key|secret|token)|credential|signature)"
)
_KEY = rf"""(?i:{_NAME})(?:\\*["'`\]])*"""
_IS = r"[ \t]*(?::=|=>|={1,3}|:)[ \t]*"
_BARE = r"""[^\s"'`&;,|<>(){}\[\]\\]"""
_FIRST = r"""[^\s"'`&;,|<>(){}\[\]\\$%*=]"""
_END = r"""(\\*(?:["'`\s&;,|)<>]|$)|\\+[nrtu])"""
_EQUALS = r"(?:=|%3[Dd]|\\+u003[Dd])"
_OPTION = rf"--[A-Za-z_-]{{0,40}}(?i:{_NAME})[ \t]+"
_TAG = rf"<[A-Za-z_.:-]{{0,40}}(?i:{_NAME})>"

_AROUND = (
    # user:password@ in an address
    r"""(\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'`<>\\]{0,200}:)[^\s/"'`<>\\]+(@)""",
    # Headers, `Bearer` and `Basic` wherever they stand, `curl -u user:password`
    r"""((?i:authorization)(?:\\*["'`])*[ \t]*[:=][ \t]*(?:\\*["'`])*(?:[A-Za-z]+[ \t]+)?)[A-Za-z0-9._~+/=:-]{6,}()""",
    r"((?:\b|_|\\+[nrt])(?i:bearer|basic)[ \t]+)[A-Za-z0-9._~+/=-]{16,}()",
    r"""((?:\s-u|--user)[ \t=]+\\*["'`]?[^\s:"'`\\]+:)[^\s"'`\\]+()""",
    # The value of a named key: in quotes, in quotes inside a string
    rf"""({_KEY}{_IS}")(?:[^"\\\n\r]|\\[^\n\r])+()""",
    rf"""({_KEY}{_IS}')(?:[^'\\\n\r]|\\[^\n\r])+()""",
    rf"""({_KEY}{_IS}`)(?:[^`\\\n\r]|\\[^\n\r])+()""",
    rf"""({_KEY}{_IS}\\+")[^"\n\r]*[^"\n\r\\](\\+")""",
    # ... and without quotes: of `name=value` any, else one of letters and digits
    rf"({_KEY}{_EQUALS}){_FIRST}{_BARE}{{2,}}{_END}",
    rf"({_KEY}{_IS})(?:[A-Za-z_.+/@!#%^~-]+[0-9]|[0-9]+[A-Za-z_.+/@!#%^~-]){_BARE}*{_END}",
    # `--password value`, `<password>value</password>`, an Azure signature
    rf"""({_OPTION})(?:(?:\\+)?"[^"\s,:}}\\][^"\n\r]*"|'[^'\s,:}}][^'\n\r]*'"""
    rf"""|[^\s"'`&;,|<>(){{}}\[\]\\$%*=-]{_BARE}{{2,}})()""",
    rf"({_TAG})[^<>\s][^<>\n\r]*(</)",
    r"([?&;]sig=)[A-Za-z0-9%+/=_-]{20,}()",
)
"""Values that are secret for what stands around them."""

RULES = (*map(Rule, _LONGER), *(Rule(pattern, keeps=True) for pattern in (*_TOKENS, *_AROUND)))
"""All rules, to be applied in order."""

GUARDS = (
    "|".join((*_LONGER, *_TOKENS)),
    rf"""{_KEY}(?:[ \t]*[:=]|{_EQUALS})|:[^\s/]+@|(?i:bearer|basic|authorization)[ \t"'`\\:=]|(?:\s-u|--user)[ \t=]"""
    rf"|{_OPTION}|{_TAG}|[?&;]sig=",
)
"""A text in which none of these is found holds nothing that a rule finds; two passes instead of one for each rule."""
