"""Schemas of the hosted backends' replies, as far as they are used.

The SDKs' own shapes check nothing (OpenAI's), or warn of and drop what they do not know yet
(Google's). These ask for no more than is read, since servers differ in the rest.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from resources.models.replies import Fault, Interrupted, NoAnswer, UnparsableReply
from resources.untrusted_input import BadJson, IncompleteJson, parse_untrusted

Shape = TypeVar("Shape", bound=BaseModel)

_NOT_THIS = "The reply is not what this API sends"


def _counted(tokens: Any) -> int | None:
    return tokens if isinstance(tokens, int) and 0 <= tokens < 2**31 else None


Count = Annotated[int | None, BeforeValidator(_counted)]
"""Tokens; a count that cannot be one is unknown, and spoils no answer that was paid for."""


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


Aside = Annotated[str | None, BeforeValidator(_text)]
"""What is said beside an answer, such as a model's name, which spoils none either."""


def an_object(value: Any) -> Any:
    """What is said beside an answer in an object; an empty one for what is none."""
    return value if isinstance(value, Mapping) else {}


def within(*path: str, default: Any = None) -> Any:
    """A field that stands deeper in the reply, or what counts where nothing stands there."""
    return Field(default, validation_alias=AliasPath(*path))


def _said(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    parts = (part for part in content if isinstance(part, Mapping) and part.get("type") == "text")
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "".join(texts) if texts else None


Said = Annotated[str | None, BeforeValidator(_said)]
"""Text, whole or (as some servers that speak like OpenAI send it) as a list of parts."""


def shaped(shape: type[Shape], body: str | bytes) -> Shape:
    """A reply's body as what the API promises.

    Raises `UnparsableReply` where no JSON came, or not all of it, `Interrupted` where it is an
    error after all, and `NoAnswer` where it is something else.
    """
    try:
        return fitted(shape, parse_untrusted(body))
    except IncompleteJson as error:
        problem: Fault = UnparsableReply(f"{_NOT_THIS}: the body: {error}")
    except BadJson as error:
        problem = NoAnswer(f"{_NOT_THIS}: the body: {error}")
    raise problem


def fitted(shape: type[Shape], value: Any) -> Shape:
    """JSON of a reply as what the API promises; raises as `shaped` does."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        problem: Fault = NoAnswer(f"{_NOT_THIS}: {where}: {first['msg']}")
    if isinstance(value, Mapping) and value.get("error"):
        problem = Interrupted("The server sent an error as if it was a good reply.")
    raise problem


class Message(BaseModel):
    """OpenAI's message: what the model says, or why it says nothing."""

    content: Said = None
    refusal: Aside = None


class Choice(BaseModel):
    """One of OpenAI's answers to a chat."""

    message: Message
    finish_reason: Aside = None


class Completion(BaseModel):
    """OpenAI's reply to a chat."""

    choices: list[Choice] = Field(min_length=1)
    model: Aside = None
    prompt_tokens: Count = within("usage", "prompt_tokens")
    completion_tokens: Count = within("usage", "completion_tokens")


class Image(BaseModel):
    """A picture as OpenAI sends it, as base64 or by its address."""

    b64_json: str | None = None
    url: str | None = None


class Images(BaseModel):
    """OpenAI's reply with pictures."""

    created: int
    data: list[Image] | None = None
    output_format: Aside = None
    input_tokens: Count = within("usage", "input_tokens")
    output_tokens: Count = within("usage", "output_tokens")


class Listed(BaseModel):
    """A model in OpenAI's list."""

    id: str


class Listing(BaseModel):
    """A page of OpenAI's list of models; OpenAI's own is one page, and says nothing of more."""

    data: list[Listed]
    has_more: bool = False


class Google(BaseModel):
    """JSON of Google's, whose names are in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


class Blob(Google):
    """A file in a part of Gemini's content, as base64."""

    data: str
    mime_type: str | None = None


class Part(Google):
    """A part of Gemini's content: words or a picture, said aloud or thought."""

    text: str | None = None
    thought: bool = False
    inline_data: Blob | None = None


class Content(Google):
    """What a Gemini model says and shows."""

    parts: list[Part] = []


class Candidate(Google):
    """One of Gemini's answers."""

    content: Content = Field(default_factory=Content)
    finish_reason: str = "STOP"
    finish_message: str = ""


class Generated(Google):
    """Gemini's reply; `block_reason` says why its filter let no model see the prompt."""

    candidates: list[Candidate] = []
    block_reason: str | None = within("promptFeedback", "blockReason")
    block_reason_message: str = within("promptFeedback", "blockReasonMessage", default="")
    prompt_token_count: Count = within("usageMetadata", "promptTokenCount")
    candidates_token_count: Count = within("usageMetadata", "candidatesTokenCount")
    thoughts_token_count: Count = within("usageMetadata", "thoughtsTokenCount")
    model_version: Aside = None


class Quota(Google):
    """A quota of Google's that was exceeded."""

    quota_id: str = ""


class Detail(Google):
    """One detail of Google's error, of the three kinds that are read."""

    reason: str = ""
    retry_delay: str = ""
    violations: list[Quota] = []


class Problem(Google):
    """Google's error."""

    status: str = ""
    message: str = ""
    details: list[Detail] = []


class Failure(Google):
    """The envelope of Google's error."""

    error: Problem
