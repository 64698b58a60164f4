"""Files that are one JSON array of records: their losses, and each element to the source that reads them."""

from collections.abc import Callable

from parsers._documents import Element, Fault, Whole, read_array, size_of
from parsers._text import Cleaner, decode
from pipeline.source import Records


def read_elements(data: bytes, whole: Whole, records: Records, add: Callable[[Element, Cleaner], None]) -> bool:
    """Read an array element by element, on past damage; `add` takes each, also the faults in the place of one.

    Says whether any of it could be read. `whole` says of an object found behind damage whether it is an element.
    """
    decoded = decode(data)
    if not decoded.text.strip():
        records.lose(0, "empty_file", "parser: unreadable (empty_file)", size=len(data))
        return False
    found = read_array(decoded.text, whole)
    if isinstance(found, Fault):
        text = "not a JSON array" if found.reason == "not_an_object" else f"unreadable ({found.reason})"
        records.lose(0, found.reason, f"parser: {text}", size=len(data))
        return False
    elements, faults, closed = found
    for element in elements:
        add(element, Cleaner(decoded.bad))
    for fault in faults:
        text = "parser: unparseable data after the JSON array"
        records.lose(0, fault.reason, text, size=size_of(fault.text))
    if not closed and not (elements and isinstance(elements[-1].value, Fault)):
        records.lose(0, "json_truncated", f"parser: array cut off after record {len(elements)}", size=0)
    return True


def lose(records: Records, element: Element, reason: str, text: str) -> None:
    """Record that an element gives no row; `text` is what it says, cleaned."""
    text = f"parser: unparseable record {element.position} ({reason}): {text}"
    records.lose(element.position, reason, text, size=element.size)
