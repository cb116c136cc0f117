"""The prompt that asks a question without its picture."""


def write_blind_prompt(question: str, title: str = "") -> str:
    """Write the question for a judge that does not see the picture, whose title it may read.

    It asks for the expected answer, so that few judges refuse for want of a picture.

    >>> write_blind_prompt("How many stars are there?", "Greece flag")
    'The image "Greece flag" is hidden. Give the answer you expect. How many stars are there?'
    """
    image = f'The image "{title}"' if title else "The image"
    return f"{image} is hidden. Give the answer you expect. {question}"
