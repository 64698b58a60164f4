"""JSON documents as disks hold them: whole, cut, zero-filled, overwritten.

Nothing readable is lost because something beside it is not: `read_array` and `read_object` walk a document element by
element. Where an element does not parse they look for the next whole object, so that one run of garbage is one fault
and what stands behind it is read.
"""

from dataclasses import replace

from parsers._elements import MOST_FAULTS, walk_array
from parsers._faults import Document, Element, Fault
from parsers._json import NotJsonError, parse, reason_of, skip_space
from parsers._text import WHITE
from parsers._walk import Walk, Whole, budget_of


def read_array(text: str, whole: Whole) -> tuple[list[Element], list[Fault], bool] | Fault:
    """Read a document that should be an array.

    Returns its elements, the faults beside them and whether it was closed; or the fault of a document of which nothing
    is read. `whole` says of an object found behind damage whether it is an element.
    """
    start = skip_space(text, 0)
    walk = Walk(text, whole, budget=budget_of(text))
    if text.startswith("[", start):
        elements, end, closed = walk_array(walk, start + 1)
    else:
        reason = _foreign_reason(text)
        if reason is None:
            return Fault("not_an_object", text)
        elements, end, closed = walk_array(walk, start)
        if not any(whole(element.value) for element in elements):
            return Fault(reason, text)
    rest = text[end:].strip(WHITE) if closed else ""
    return elements, [_trailing(rest)] if rest else [], closed


def _foreign_reason(text: str) -> str | None:
    """Say why a document of the wrong beginning is none; null where it is whole JSON of another type.

    One that begins with a whole value may have lost its first bracket: what stands behind is looked at.
    """
    reason = reason_of(text)
    return "not_an_object" if reason == "trailing_data" else reason


def _trailing(rest: str) -> Fault:
    return Fault("trailing_data" if rest.strip("\0" + WHITE) else "zero_filled", rest)


def read_object(text: str, walked: tuple[str, ...], known: tuple[str, ...], whole: Whole) -> Document | Fault:
    """Read a document that should be an object, its members `walked` element by element where they are arrays.

    `known` are the keys by which reading is taken up behind damage. Returns the fault of a document of which nothing
    is read.
    """
    start = skip_space(text, 0)
    walk = Walk(text, whole, (*walked, *known), walked, budget_of(text))
    document = Document()
    if text.startswith("{", start):
        end = _read_members(walk, start + 1, document)
        while document.arrays and walk.is_early(end, document.head, document.arrays):
            end = _read_members(walk, end, document)
        is_known = document.arrays or not document.head.keys().isdisjoint(walk.keys)
        if not is_known and text[end:].strip(WHITE):
            behind = _read_elements(walk, start, document)
            end = behind if document.arrays else end
    else:
        reason = _foreign_reason(text)
        if reason is None:
            return Fault("not_an_object", text)
        end = _read_headless(walk, start, document)
    if not document.head and not document.arrays:
        if reason_of(text) is None:  # an object without members
            return document
        return Fault(document.faults[0].reason if document.faults else _foreign_reason(text) or "json_invalid", text)
    rest = text[end:].strip(WHITE)
    document.trailing = _trailing(rest) if rest else None
    return document


def _read_headless(walk: Walk, start: int, document: Document) -> int:
    """Read an object whose beginning is damaged: behind what stands in front of it, else from its first element.

    An array holds others: its first one is not the document, nor is one that more stands behind.
    """
    text = walk.text
    brace = -1 if text.startswith("[", start) else text.find("{", start)
    line = walk.find_line(0)
    own = line if line is not None and line < brace else walk.find_head(start, brace)
    if own is None and brace >= 0 and walk.opens_document(brace):
        own = brace
    if own is not None:
        end = _read_members(walk, own + (own == brace), document)
        if document.arrays or (document.head.keys() & set(walk.keys) and not text[end:].strip(WHITE)):
            document.faults.insert(0, _lead(text[start:own].strip(WHITE + ",")))
            return end
    document.head, document.faults = {}, []
    end = _read_elements(walk, start, document)
    if document.arrays or text.startswith("[", start):
        return end
    own = walk.find_line(start)
    own = walk.find_tail(start) if own is None else own
    if own is None:
        return end
    document.faults.append(_lead(text[start:own].strip(WHITE + ",")))
    return _read_members(walk, own, document)


def _lead(lead: str) -> Fault:
    """The fault of what stands in place of a document's beginning."""
    return Fault((reason_of(lead) if lead else None) or "json_invalid", lead)


def _read_elements(walk: Walk, start: int, document: Document) -> int:
    """Read an object from an element of its array on, or leave it as it is; return where reading ended.

    What stands in front of the array's bracket is no element.
    """
    is_open = walk.text.startswith("[", start)
    elements, end, closed = walk_array(walk, start + is_open, is_open=is_open)
    if not any(walk.whole(element.value) for element in elements):
        return start
    document.head, document.faults = {}, []
    first = elements[0].value
    if isinstance(first, Fault) and first.text.endswith("["):
        document.faults.append(first)
        elements = [replace(element, position=element.position - 1) for element in elements[1:]]
    document.arrays[walk.walked[0]] = elements
    if closed:
        return _read_members(walk, end, document)
    document.cut.append(walk.walked[0])
    return end


def _read_members(walk: Walk, position: int, document: Document) -> int:
    """Read the members of an object from behind its brace into `document`; return where reading ended."""
    text, is_lost = walk.text, False
    while True:
        position = skip_space(text, position)
        if text.startswith(",", position):
            position = skip_space(text, position + 1)
        if text.startswith("}", position):
            return position + 1
        if position >= len(text):
            if not document.cut and not is_lost:
                document.faults.append(Fault("json_truncated", ""))
            return position
        try:
            position, is_lost = _read_member(walk, position, document), False
        except (ValueError, RecursionError):
            arrays = len(document.arrays)
            position = _read_on(walk, position, document)
            is_lost = len(document.arrays) == arrays  # the damage itself reaches to where reading goes on


def _read_on(walk: Walk, position: int, document: Document) -> int:
    """Take up reading behind a damaged member: at elements, of an array that lost its key or its end, or at a key."""
    text, may_look = walk.text, len(document.faults) < MOST_FAULTS
    key = walk.find_key(position + 1, "[,{]") if may_look else None
    end = key.start() + 1 if key else len(text)
    line = walk.find_line(position) if may_look else None
    end = end if line is None else min(end, line)
    unread = [name for name in walk.walked if name not in document.arrays and name not in document.head]
    may_look = may_look and bool(unread or document.arrays)
    whole = walk.find_whole(position, end) if may_look else None
    run = text[position : end if whole is None else whole].rstrip(WHITE + ",")
    fault = Fault(_member_reason(run), run)
    if whole is None:
        document.faults.append(fault)
        return end
    elements, end, closed = walk_array(walk, whole)
    if unread and run.endswith("}"):  # the remains of an element
        elements = _joined([Element(1, fault, run)], elements)
    else:
        document.faults.append(fault)
    name = unread[0] if unread else list(document.arrays)[-1]
    document.arrays[name] = _joined(document.arrays.get(name, []), elements)
    if not closed:
        document.cut.append(name)
    return end


def _joined(earlier: list[Element], later: list[Element]) -> list[Element]:
    count = len(earlier)
    earlier.extend([replace(element, position=element.position + count) for element in later])
    return earlier


def _member_reason(run: str) -> str:
    """Classify a damaged member as what it would be inside an object."""
    reason = reason_of("{" + run) if run else None
    if reason == "json_truncated" and reason_of("{" + run + "}") == "nesting_too_deep":
        return "nesting_too_deep"
    return "json_invalid" if reason in (None, "trailing_data") else reason


def _read_member(walk: Walk, position: int, document: Document) -> int:
    """Read one `"key": value` into `document`; return the position behind it. Raises as `parse` does."""
    text = walk.text
    key, position = parse(text, position)
    position = skip_space(text, position)
    if not isinstance(key, str) or not text.startswith(":", position):
        raise NotJsonError("no member")
    position = skip_space(text, position + 1)
    if key in walk.walked and text.startswith("[", position):
        elements, position, closed = walk_array(walk, position + 1)
        document.head.pop(key, None)
        earlier = document.arrays.get(key, [])
        if any(isinstance(element.value, Fault) for element in earlier):
            # No repeated key, of which the last would hold, but one found behind damage.
            elements = _joined(earlier, elements)
        document.arrays[key] = elements
        if not closed:
            document.cut.append(key)
        return position
    value, position = parse(text, position)
    document.arrays.pop(key, None)
    document.head[key] = value
    return position
