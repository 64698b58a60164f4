"""What a model saw of a talk before it answered: the prompt that both assistants log with every reply."""

from dataclasses import dataclass, field

LONGEST_PART = 6000


@dataclass(slots=True)
class Talk:
    """A talk: the last messages that fit into `room` characters are what the model sees, behind its system prompt."""

    system: str
    room: int
    _said: list[str] = field(default_factory=list)

    def say(self, role: str, text: str) -> None:
        """Add a message; of a long one the beginning counts."""
        self._said.append(f"<{role}>\n{text[:LONGEST_PART]}\n\n")

    def prompt(self) -> str:
        """The system prompt and as many of the last messages as there is room for, one at least."""
        first, room = len(self._said) - 1, self.room
        while first > 0 and room > len(self._said[first]):
            room -= len(self._said[first])
            first -= 1
        return self.system + "".join(self._said[first:])
