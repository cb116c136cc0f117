"""Prompts of models that are no chat models, as they were trained, in place of a template."""

_PALIGEMMA = "paligemma"
_QUESTION = "messages[0].role != 'user' or messages[1 if add_generation_prompt else 2:]"
_TEMPLATES = {
    # The processor itself writes what begins a text after the pictures, and the end of the line.
    _PALIGEMMA: "{% if " + _QUESTION + " %}{{ raise_exception('it answers a single question, "
    "without a system prompt or earlier turns') }}{% endif %}{% for turn in messages %}"
    "{% for part in turn.content %}{{ '<image>' if part.type == 'image' else part.text }}"
    "{% endfor %}{% endfor %}"
}
_ANSWER_TYPES = {(_PALIGEMMA, "token_type_ids"): 1}
"""Types of an answer's tokens: PaliGemma reads those of type 0 both ways, so it would copy them."""


def find_plain_template(model_type: str) -> str | None:
    """The chat template of a model that comes without one; None for an unknown `model_type`."""
    return _TEMPLATES.get(model_type)


def get_answer_type(model_type: str, field: str) -> int:
    """The number of an answer's tokens in a field of token types: that of text, usually 0."""
    return _ANSWER_TYPES.get((model_type, field), 0)
