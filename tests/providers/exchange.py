"""A request and the means to answer it in its provider's own format."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.providers import anthropic_wire, gemini_wire, openai_wire
from tests.providers.http import Response
from tests.providers.received import Received


@dataclass(frozen=True)
class Exchange:
    """One request on its way to a reply."""

    received: Received
    served: str
    """The model that says it has answered."""
    normal: Callable[[], Response]
    """The reply where nothing goes wrong."""
    publish: Callable[[bytes], str]
    """Puts a file at a URL of this server."""
    seconds: float = 1.0
    """How long a fault that has a duration lasts, or asks to wait."""

    def text(self, text: str) -> Response:
        """A reply of text."""
        if self.received.provider == "openai":
            if self.received.task != "text":
                raise TypeError("OpenAI's image endpoints answer no text: give bytes")
            return openai_wire.completion(self.received, self.served, text)
        if self.received.provider == "anthropic":
            said = [anthropic_wire.text_block(text)]
            return anthropic_wire.message(self.received, self.served, said)
        return gemini_wire.content(self.received, self.served, [gemini_wire.text_part(text)])

    def picture(self, data: bytes) -> Response:
        """A reply of one picture."""
        if self.received.provider == "gemini":
            return gemini_wire.content(self.received, self.served, [gemini_wire.picture_part(data)])
        if self.received.task != "picture":
            raise TypeError("OpenAI's chat answers no pictures: give a str")
        url = self.publish(data) if openai_wire.gives_url(self.received) else None
        return openai_wire.picture(self.received, self.served, [data], url)
