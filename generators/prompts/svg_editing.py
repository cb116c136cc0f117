"""The prompt that asks a language model to edit a flag's SVG (VLMBias, Appendix M)."""

_EDITING = """\
You are an expert in editing SVG image code. Modify the SVG code of the flag of {country} \
according to the following instruction:
Instruction: "The flag of {country} has {count} {element}. Modify the SVG code so that it has \
{wanted} {element} instead. Make sure the modified {element} are natural looking and integrate \
seamlessly on the new flag."
Base SVG code:
{svg_code}
1. Modify the base SVG by adding or removing the mentioned feature (stars, stripes, etc.) \
according to the instruction above.
2. Wrap the entire SVG in <code></code>. Do not explain anything."""


def write_svg_editing_prompt(
    country: str, element: str, count: int, target_count: int, svg_code: str
) -> str:
    """The paper's words: a country with its article, "stars" or "stripes", how many, and the SVG.

    Where the paper writes `num_ele + 1` stands the number, which is one fewer for a removal.
    """
    return _EDITING.format(
        country=country, element=element, count=count, wanted=target_count, svg_code=svg_code
    )
