"""Refusals, each provider's own."""

from tests.providers import anthropic_wire, gemini_wire, openai_wire
from tests.providers.faults.base import Make, fault_called

REFUSED = fault_called(
    "refused by the model",
    openai=lambda x: openai_wire.completion(
        x.received, x.served, None, refusal="I'm sorry, I can't help with that."
    ),
    anthropic=lambda x: anthropic_wire.message(
        x.received,
        x.served,
        [],
        stop="refusal",
        details={"category": "general_harms", "explanation": "This could do harm."},
    ),
    tasks=("text",),
)
FILTERED = fault_called(
    "content filter",
    openai=lambda x: openai_wire.completion(x.received, x.served, None, finish="content_filter"),
    tasks=("text",),
)
PROMPT_FILTERED = fault_called(
    "400 content_filter",
    openai=lambda _: openai_wire.error(
        400,
        "The response was filtered due to the prompt triggering the content management policy.",
        code="content_filter",
        param="prompt",
    ),
)
INVALID_PROMPT = fault_called(
    "400 invalid_prompt",
    openai=lambda _: openai_wire.error(
        400,
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        code="invalid_prompt",
    ),
    tasks=("text",),
)
CONTENT_POLICY = fault_called(
    "400 content_policy_violation",
    openai=lambda _: openai_wire.error(
        400,
        "Your request was rejected as a result of our safety system.",
        code="content_policy_violation",
    ),
    tasks=("picture",),
)
MODERATION = fault_called(
    "400 moderation_blocked",
    openai=lambda _: openai_wire.error(
        400,
        "Your request was rejected by the safety system. safety_violations=[violence].",
        "image_generation_user_error",
        "moderation_blocked",
    ),
    tasks=("picture",),
)
NO_PICTURES = fault_called(
    "no pictures",
    openai=lambda x: openai_wire.picture(x.received, x.served, [], None),
    tasks=("picture",),
)
TEXT_FOR_PICTURE = fault_called(
    "text instead of a picture",
    gemini=lambda x: x.text("I cannot draw that, but here is a description."),
    tasks=("picture",),
)


def _blocked(reason: str) -> Make:
    feedback = {"promptFeedback": {"blockReason": reason}}
    return lambda x: gemini_wire.reply(x.received, x.served, feedback, 0)


def _finished(reason: str) -> Make:
    return lambda x: gemini_wire.content(x.received, x.served, [], finish=reason)


PROMPT_BLOCKED = {
    reason: fault_called(f"prompt blocked: {reason}", gemini=_blocked(reason))
    for reason in ("SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY")
}
"""By Gemini's `promptFeedback.blockReason`."""

FINISHED = {
    reason: fault_called(f"finished: {reason}", gemini=_finished(reason), tasks=("text", "picture"))
    for reason in (
        "SAFETY",
        "RECITATION",
        "PROHIBITED_CONTENT",
        "BLOCKLIST",
        "SPII",
        "OTHER",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "IMAGE_OTHER",
        "NO_IMAGE",
    )
}
"""By Gemini's `finishReason`, with no content."""
