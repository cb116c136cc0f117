"""The server's own troubles, and whom and what it does not serve."""

from tests.providers import anthropic_wire, gemini_wire, openai_wire
from tests.providers.faults.base import fault_called
from tests.providers.http import Response

SERVER_ERROR = fault_called(
    "500",
    openai=lambda _: openai_wire.error(
        500, "The server had an error while processing your request.", "server_error"
    ),
    gemini=lambda _: gemini_wire.error(500, "INTERNAL", "An internal error has occurred."),
    anthropic=lambda _: anthropic_wire.error(500, "Internal server error", "api_error"),
)
OVERLOADED = fault_called(
    "503",
    openai=lambda _: openai_wire.error(
        503, "The engine is currently overloaded, please try again later.", "server_error"
    ),
    gemini=lambda _: gemini_wire.error(503, "UNAVAILABLE", "The model is overloaded."),
    anthropic=lambda _: anthropic_wire.error(529, "Overloaded", "overloaded_error"),
)
BAD_GATEWAY = fault_called(
    "502 of a gateway",
    lambda _: Response(b"<html><h1>502 Bad Gateway</h1></html>", 502, media_type="text/html"),
)
NO_CREDIT = fault_called(
    "no credit",
    openai=lambda _: openai_wire.error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
        "insufficient_quota",
    ),
    gemini=lambda x: gemini_wire.error(
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
        [
            {
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [
                    {
                        "quotaMetric": "generativelanguage.googleapis.com/generate_requests",
                        "quotaId": "GenerateRequestsPerDayPerProjectPerModel",
                        "quotaDimensions": {"location": "global", "model": x.received.model},
                        "quotaValue": "250",
                    }
                ],
            }
        ],
    ),
    anthropic=lambda _: anthropic_wire.error(
        400,
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing "
        "to upgrade or purchase credits.",
    ),
)
INVALID_KEY = fault_called(
    "invalid key",
    openai=lambda x: openai_wire.error(
        401, f"Incorrect API key provided: {x.received.key}.", code="invalid_api_key"
    ),
    gemini=lambda _: gemini_wire.error(
        400,
        "INVALID_ARGUMENT",
        "API key not valid. Please pass a valid API key.",
        [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
                "metadata": {"service": "generativelanguage.googleapis.com"},
            }
        ],
    ),
    anthropic=lambda _: anthropic_wire.error(401, "Invalid bearer token", "authentication_error"),
)
FORBIDDEN = fault_called(
    "forbidden",
    openai=lambda _: openai_wire.error(
        403,
        "Country, region, or territory not supported",
        "request_forbidden",
        "unsupported_country_region_territory",
    ),
    gemini=lambda _: gemini_wire.error(
        403, "PERMISSION_DENIED", "Your API key was reported as leaked. Use another API key."
    ),
    anthropic=lambda _: anthropic_wire.error(
        403,
        "Your API key does not have permission to use the specified resource.",
        "permission_error",
    ),
)
UNKNOWN_MODEL = fault_called(
    "unknown model",
    openai=lambda x: openai_wire.error(
        404,
        f"The model `{x.served}` does not exist or you do not have access to it.",
        code="model_not_found",
    ),
    gemini=lambda x: gemini_wire.error(
        404, "NOT_FOUND", f"models/{x.served} is not found for API version v1."
    ),
    anthropic=lambda x: anthropic_wire.error(404, f"model: {x.served}", "not_found_error"),
)
INVALID_REQUEST = fault_called(
    "invalid request",
    openai=lambda _: openai_wire.error(
        400, "Invalid value: 'enormous'.", code="invalid_value", param="size"
    ),
    gemini=lambda _: gemini_wire.error(
        400, "INVALID_ARGUMENT", "Invalid value at 'generation_config.temperature'."
    ),
    anthropic=lambda _: anthropic_wire.error(
        400, "messages.0.content.1.text: text content blocks must be non-empty"
    ),
)
TOO_LARGE = fault_called(
    "413 of a gateway",
    lambda _: Response(
        b"<html><h1>413 Request Entity Too Large</h1></html>", 413, media_type="text/html"
    ),
)
