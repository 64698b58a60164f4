"""Values that no text may show: the login token in `userId` and the provider's key in `apiKey`.

Continue's event lines carry the first (core/data/log.ts); its log shows the second, with `--verbose` in clear. Both
stand in JSON, in JSON inside a string, in a line that was cut in the middle of them, or in what an error says: an
object as the console shows it (`apiKey: 'k'`), an address (`?apiKey=k`) or YAML.
"""

import re

MASK = "***"

_KEYS = ("userId", "apiKey")
_LOST = r"\0\ufffd"
"""What stands for bytes that a write lost, also around a colon or in the place of a mark."""
_SPACE = rf"(?:[\s{_LOST}]|\\++[nrt{_LOST}])*+"
_COLON = rf"(?:{_SPACE}[:=]|(?:\s|\\++[nrt])*+\\*+[{_LOST}])"
# No letter before a key, but for that of an escaped line feed or the like.
_START = r"(?:(?<![\w$])|(?<=\\[nrt]))"
_FIELD = re.compile(
    rf"""{_START}(?:{"|".join(_KEYS)})[{_LOST}]*+(?:\\*+["'`{_LOST}])?{_COLON}{_SPACE}(?:(\\*+)(["'`]))?"""
)
_NO_VALUE = rf"""\s"'`,:{{}}\[\]()\\{_LOST}"""
_TOKEN = re.compile(rf"""(?:\A|(?<=[{_NO_VALUE}]))[^{_NO_VALUE}]++(?=\\*+"\s*+,\s*+\\*+"userAgent\b)""")
"""What stands before `userAgent` in an event is the end of the token, also where its key is lost."""
_BARE = re.compile(r"(?!(?:null|undefined)\b)[^\s,;&\"'`\\{}\[\]()]*+")
_QUOTE = re.compile(r'(?<!\\)(\\*+)"')


def mask(text: str) -> str:
    """Return `text` with the values of the two keys replaced by `***`, the empty ones, `null` and lists left.

    A value in quotes that does not end reaches to the end of the text, one without quotes to a space or a mark. Inside
    a string that holds JSON, quotes have a backslash in front, inside a string of that one three, and so on.
    """
    if "userAgent" in text:
        text = _TOKEN.sub(MASK, text)
    if not any(key in text for key in _KEYS):
        return text
    kept, position = list[str](), 0
    while field := _FIELD.search(text, position):
        end = _value_end(text, field)
        kept += [text[position : field.end()], MASK if end > field.end() else ""]
        position = end
    return "".join([*kept, text[position:]])


def _value_end(text: str, field: re.Match[str]) -> int:
    """Return where the value behind `field` ends."""
    start = field.end()
    if field[2] is None:
        bare = _BARE.match(text, start)
        return bare.end() if bare else start
    if field[2] == '"':
        return _string_end(text, start, len(field[1]))
    end = text.find(field[2], start)
    while end > start and text[end - 1] == "\\":
        end = text.find(field[2], end + 1)
    return end if end >= 0 else len(text)


def _string_end(text: str, start: int, depth: int) -> int:
    """Return where the string value at `start` ends, whose own quotes have `depth` backslashes in front."""
    for quote in _QUOTE.finditer(text, start):
        run = len(quote[1])
        if run < depth:  # the string around it ends
            return quote.start()
        if not _is_inner(run, depth):
            return quote.end() - 1 - depth
    return len(text)


def _is_inner(run: int, depth: int) -> bool:
    """Say whether a quote with `run` backslashes is part of a value whose own quotes have `depth` of them.

    Each level of strings doubles the backslashes and adds one. A value can end in backslashes of its own.
    """
    level = depth + 1
    if level & depth:  # no level that JSON makes
        return run > depth
    return (run - depth) % (2 * level) == level
