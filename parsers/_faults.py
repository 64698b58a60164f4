"""What is read of a document as disks hold it: its elements and members, and the faults in their places."""

from dataclasses import dataclass, field

from parsers._json import Json


@dataclass(frozen=True, slots=True)
class Fault:
    """A run of text that is no whole element: a loss."""

    reason: str
    text: str


@dataclass(slots=True)
class Element:
    """One element of an array: its value, or the fault that stands in its place. Positions count both, from 1.

    `raw` is its text in the document.
    """

    position: int
    value: Json | Fault
    raw: str

    @property
    def size(self) -> int:
        """Bytes that it takes in the document."""
        return size_of(self.raw)


def size_of(text: str) -> int:
    """Bytes that a text takes."""
    return len(text.encode(errors="replace"))


@dataclass(slots=True)
class Document:
    """What could be read of a document that should be an object.

    `head` holds the members that are not arrays to be walked, the last of a repeated key; `arrays` the walked ones;
    `cut` the names of walked arrays that end without their bracket; `faults` what was lost beside the elements;
    `trailing` what stands behind the object.
    """

    head: dict[str, Json] = field(default_factory=dict)
    arrays: dict[str, list[Element]] = field(default_factory=dict)
    cut: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    trailing: Fault | None = None
