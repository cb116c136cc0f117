"""Prompts that ask a model to rate how well one picture fits a text (ProtoBias, Table 6 and §4).

Table 6 stands here letter for letter, as plain text: without what sets type bold, in italics or as
code. The paper does not say where the text goes; here it stands after all else, under a heading of
the same kind. Of its filter the paper gives the scale and no wording: that prompt is ours, in the
manner of Table 6.
"""

_JUDGING = """\
Instruction:

You are a strict expert judge of text–image alignment.

Task:

Given a text prompt and one image, rate the image from 1 to 4 based only on how well it matches \
the text description.

Rules:

- Focus purely on semantic correctness.
- Ignore artistic style, beauty, lighting, realism, resolution, and aesthetics.
- Do not reward images for being more realistic or typical.
- Interpret LEFT/RIGHT and spatial relations from the viewer’s perspective.

Key Checks:

- Is the main element correct?
- Is the extra element correct?
- Are attributes and relations correct (color, count, position, foreground/background)?
- Is the overall meaning of the text preserved?

Rating Guide (1-4):

- 4 - Perfect match: All elements and attributes are correct.
- 3 - Mostly correct: Main element correct, minor ambiguity in one detail.
- 2 - One major mistake: Main element correct, but extra element or attribute is wrong.
- 1 - Poor match: Main element wrong or multiple critical mismatches.

Output Format:

{
  "score": <integer 1–4>
}"""

_FILTERING = """\
Instruction:

You check whether a generated image shows what its prompt asks for.

Task:

Given a text prompt and the one image that was generated from it, rate from 1 to 10 how well the \
image fits the prompt. Judge by the prompt alone, not by what is usual or looks good.

Rating Guide (1-10):

- 10: Everything in the prompt is shown, and shown as the prompt says.
- 8 or 9: Everything in the prompt can be recognized, with at most a slight doubt about a detail.
- 5 to 7: The main element is shown, but another element, a number, a color, a size or a position \
is wrong or missing.
- 2 to 4: The main element is wrong or hard to recognize, or several things are wrong.
- 1: The image has nothing to do with the prompt.

Output Format:

{
  "score": <integer 1–10>
}"""

_WITH_TEXT = "{instruction}\n\nText prompt:\n\n{text}"

JUDGE_SCALE = (1, 4)
"""The lowest and the highest rating of `write_rating_prompt`."""

FILTER_SCALE = (1, 10)
"""The lowest and the highest rating of `write_filter_prompt`."""


def write_rating_prompt(text: str) -> str:
    """Table 6's prompt about a picture, with the text by which it is rated from 1 to 4."""
    return _WITH_TEXT.format(instruction=_JUDGING, text=text)


def write_filter_prompt(prompt: str) -> str:
    """The filter's prompt about a picture, with the one that it was painted from: 1 to 10 (§4)."""
    return _WITH_TEXT.format(instruction=_FILTERING, text=prompt)
