"""Files that are one JSON array of records: their losses, and each element to the source that reads them."""

from collections.abc import Callable, Iterable

from parsers._documents import read_array
from parsers._faults import Document, Element, Fault, size_of
from parsers._fit import Record, fit
from parsers._json import Json, clean, compact
from parsers._text import Cleaner, decode
from parsers._walk import Whole
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


def fitted(element: Element, kind: type[Record], whole: Whole, cleaner: Cleaner, records: Records) -> Record | None:
    """Return an element as a record of `kind`; null, with its loss, for a fault or what is none by `whole`."""
    value, wrong = element.value, list[str]()
    if isinstance(value, Fault):
        lose(records, element, value.reason, cleaner.text(value.text))
        return None
    record = None
    try:
        if isinstance(value, dict) and whole(value):
            record = fit(kind, value, cleaner, wrong)
        else:
            lose(records, element, "index_entry_invalid", compact(clean(value, cleaner)))
    except RecursionError:
        lose(records, element, "nesting_too_deep", cleaner.text(element.raw))
        return None
    records.note_all(element.position, cleaner.reasons, wrong)
    return record


def lose_around(document: Document, arrays: Iterable[str], records: Records, bad: str | None) -> None:
    """Record what an object lost beside the elements of its arrays, which count on from one to the next.

    That is members of the object, the end of an array, what stands behind the object.
    """
    cleaner, elements = Cleaner(bad), 0
    for fault in document.faults:
        text = f"parser: unparseable record 0 ({fault.reason}): {cleaner.text(fault.text)}"
        records.lose(0, fault.reason, text, size=size_of(fault.text))
    for name in arrays:
        array = document.arrays.get(name, [])
        elements += len(array)
        if name in document.cut and not (array and isinstance(array[-1].value, Fault)):
            records.lose(0, "json_truncated", f"parser: array cut off after record {elements}", size=0)
    if document.trailing is not None:
        fault = document.trailing
        text = "parser: unparseable data after the JSON document"
        records.lose(0, fault.reason, text, size=size_of(fault.text))


def misplaced(value: Json, bad: str | None) -> Fault:
    """The fault of what stands in the place of an array of an object of which something else is read."""
    try:
        return Fault("wrong_type", compact(clean(value, Cleaner(bad))))
    except RecursionError:
        return Fault("nesting_too_deep", "")


def lose(records: Records, element: Element, reason: str, text: str) -> None:
    """Record that an element gives no row; `text` is what it says, cleaned."""
    text = f"parser: unparseable record {element.position} ({reason}): {text}"
    records.lose(element.position, reason, text, size=element.size)
