"""Schemas of the hosted backends' replies, as far as they are used.

The SDKs' own shapes check nothing (OpenAI's), or warn of and drop what they do not know yet
(Google's). These ask for no more than is read, since servers differ in the rest.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from resources.models.model_lists import ListedModel, find_listed_roles, to_listed_price
from resources.models.replies import Interrupted, NoAnswer, RequestFault, UnparsableReply
from resources.untrusted_input.json_text import BadJson, IncompleteJson, parse_untrusted

Shape = TypeVar("Shape", bound=BaseModel)

_NOT_THIS = "The reply is not what this API sends"


def _parse_count(tokens: Any) -> int | None:
    return tokens if isinstance(tokens, int) and 0 <= tokens < 2**31 else None


TokenCount = Annotated[int | None, BeforeValidator(_parse_count)]
"""Tokens; a count that cannot be one is unknown, and spoils no answer that was paid for."""


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


OptionalText = Annotated[str | None, BeforeValidator(_text)]
"""Text beside an answer, such as a model's name; a malformed one is ignored."""


def _words(value: Any) -> tuple[str, ...] | None:
    return tuple(filter(_text, value)) if isinstance(value, list) else None


OptionalWords = Annotated[tuple[str, ...] | None, BeforeValidator(_words)]
"""A list of words beside an answer; what is no list is unknown."""


def to_object(value: Any) -> Any:
    """Return a mapping as it is, and an empty one for any other value."""
    return value if isinstance(value, Mapping) else {}


def nested_field(*path: str, default: Any = None) -> Any:
    """A field that stands deeper in the reply, or what counts where nothing stands there."""
    return Field(default, validation_alias=AliasPath(*path))


def _parse_content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    parts = (part for part in content if isinstance(part, Mapping) and part.get("type") == "text")
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "".join(texts) if texts else None


ChatText = Annotated[str | None, BeforeValidator(_parse_content)]
"""Text, whole or (as some servers that speak like OpenAI send it) as a list of parts."""


class ErrorReply(Interrupted):
    """A reply with a status of success whose body is an error: `error`, as the server wrote it."""

    def __init__(self, error: Any) -> None:
        super().__init__("The server sent an error as if it was a good reply.")
        self.error = error


def parse_reply(shape: type[Shape], body: str | bytes) -> Shape:
    """A reply's body as what the API promises.

    Raises `UnparsableReply` where no JSON came, or not all of it, `ErrorReply` where it is an
    error after all, and `NoAnswer` where it is something else.
    """
    try:
        return validate_reply(shape, parse_untrusted(body))
    except IncompleteJson as error:
        problem: RequestFault = UnparsableReply(f"{_NOT_THIS}: the body: {error}")
    except BadJson as error:
        problem = NoAnswer(f"{_NOT_THIS}: the body: {error}")
    raise problem


def validate_reply(shape: type[Shape], value: Any) -> Shape:
    """JSON of a reply as what the API promises; raises as `parse_reply` does."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field_path = ".".join(map(str, first["loc"])) or "the body"
        problem: RequestFault = NoAnswer(f"{_NOT_THIS}: {field_path}: {first['msg']}")
    if isinstance(value, Mapping) and value.get("error"):
        problem = ErrorReply(value["error"])
    raise problem


class OpenAIMessage(BaseModel):
    """OpenAI's message: what the model says, or why it says nothing.

    Servers send thoughts apart, under either name.
    """

    content: ChatText = None
    refusal: OptionalText = None
    reasoning_content: OptionalText = None
    reasoning: OptionalText = None


class OpenAIChoice(BaseModel):
    """An OpenAI answer to a chat."""

    message: OpenAIMessage
    finish_reason: OptionalText = None


class ChatCompletion(BaseModel):
    """OpenAI's reply to a chat."""

    choices: list[OpenAIChoice] = Field(min_length=1)
    model: OptionalText = None
    prompt_tokens: TokenCount = nested_field("usage", "prompt_tokens")
    completion_tokens: TokenCount = nested_field("usage", "completion_tokens")
    reasoning_tokens: TokenCount = nested_field(
        "usage", "completion_tokens_details", "reasoning_tokens"
    )


class OpenAIImage(BaseModel):
    """A picture as OpenAI sends it, as base64 or by its address."""

    b64_json: str | None = None
    url: str | None = None


class OpenAIImages(BaseModel):
    """OpenAI's reply with pictures."""

    created: int
    data: list[OpenAIImage] | None = None
    output_format: OptionalText = None
    input_tokens: TokenCount = nested_field("usage", "input_tokens")
    output_tokens: TokenCount = nested_field("usage", "output_tokens")


class OpenAIListedModel(BaseModel):
    """A model in OpenAI's list, and what other lists say beside its id.

    vLLM and SGLang give `max_model_len`, Anthropic `max_input_tokens` and `max_tokens`, OpenRouter
    its window, what goes in and out, and dollars per token.
    """

    id: str
    max_model_len: TokenCount = None
    context_length: TokenCount = None
    max_input_tokens: TokenCount = None
    max_tokens: TokenCount = None
    most_output: TokenCount = nested_field("top_provider", "max_completion_tokens")
    inputs: OptionalWords = nested_field("architecture", "input_modalities")
    outputs: OptionalWords = nested_field("architecture", "output_modalities")
    input_price: OptionalText = nested_field("pricing", "prompt")
    output_price: OptionalText = nested_field("pricing", "completion")

    def to_listed(self) -> ListedModel:
        """What is known of the model by its list."""
        return ListedModel(
            id=self.id,
            context_tokens=self.max_model_len or self.context_length or self.max_input_tokens,
            output_tokens=self.max_tokens or self.most_output,
            roles=find_listed_roles(self.inputs, self.outputs),
            price=to_listed_price(self.input_price, self.output_price),
        )


class ModelListPage(BaseModel):
    """A page of a list of models; OpenAI's own is one page, and says nothing of more."""

    data: list[OpenAIListedModel]
    has_more: bool = False


async def collect_pages(
    get: Callable[[Mapping[str, Any]], Awaitable[bytes]], after: str
) -> list[ListedModel]:
    """The models of all pages; the query's field `after` names the last one of the page before.

    Raises what `get` raises, and as `parse_reply`.
    """
    models: list[ListedModel] = []
    query: dict[str, Any] = {}
    while True:
        page = parse_reply(ModelListPage, await get(query))
        ids = {model.id for model in models}
        new = [model.to_listed() for model in page.data if model.id not in ids]
        models += new
        if not page.has_more or not new:
            return models
        query = {after: new[-1].id}


class GoogleForm(BaseModel):
    """JSON of Google's, whose names are in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


class GeminiBlob(GoogleForm):
    """A file in a part of Gemini's content, as base64."""

    data: str
    mime_type: str | None = None


class GeminiPart(GoogleForm):
    """A part of Gemini's content: words or a picture, said aloud or thought."""

    text: str | None = None
    thought: bool = False
    inline_data: GeminiBlob | None = None


class GeminiContent(GoogleForm):
    """The content of a Gemini model's answer."""

    parts: list[GeminiPart] = []


class GeminiCandidate(GoogleForm):
    """A Gemini answer."""

    content: GeminiContent = Field(default_factory=GeminiContent)
    finish_reason: str = "STOP"
    finish_message: str = ""


class GeminiResponse(GoogleForm):
    """Gemini's reply; `block_reason` says why its filter let no model see the prompt."""

    candidates: list[GeminiCandidate] = []
    block_reason: str | None = nested_field("promptFeedback", "blockReason")
    block_reason_message: str = nested_field("promptFeedback", "blockReasonMessage", default="")
    prompt_token_count: TokenCount = nested_field("usageMetadata", "promptTokenCount")
    candidates_token_count: TokenCount = nested_field("usageMetadata", "candidatesTokenCount")
    thoughts_token_count: TokenCount = nested_field("usageMetadata", "thoughtsTokenCount")
    model_version: OptionalText = None


class GoogleQuota(GoogleForm):
    """A quota of Google's that was exceeded."""

    quota_id: str = ""


class GoogleErrorDetail(GoogleForm):
    """A detail of Google's error, of the three kinds that are read."""

    reason: str = ""
    retry_delay: str = ""
    violations: list[GoogleQuota] = []


class GoogleError(GoogleForm):
    """Google's error."""

    status: str = ""
    message: str = ""
    details: list[GoogleErrorDetail] = []


class GoogleErrorEnvelope(GoogleForm):
    """The envelope of Google's error."""

    error: GoogleError
