"""The closed word classes of English, and short lists of open words that questions turn on."""

BE = frozenset(["is", "are", "was", "were", "am"])
DO = frozenset(["do", "does", "did"])
MODALS = frozenset(
    ["can", "could", "will", "would", "should", "shall", "may", "might", "must"]
)  # fmt: skip
HAVE = frozenset(["has", "have", "had"])
AUXILIARIES = BE | DO | MODALS | HAVE
"""The words that a yes/no question begins with."""
QUESTION_WORDS = frozenset(["what", "which", "who", "whose", "where", "when", "why", "how"])

ARTICLES = frozenset(["a", "an"])
POSSESSIVES = frozenset(["my", "your", "his", "her", "its", "our", "their"])
DEMONSTRATIVES = frozenset(["this", "that", "these", "those"])
QUANTIFIERS = frozenset(
    ["all", "any", "both", "each", "every", "either", "some", "several", "many", "most", "few",
     "more", "no", "another"]
)  # fmt: skip
NUMBERS = frozenset(
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
     "twelve"]
)  # fmt: skip
DETERMINERS = ARTICLES | POSSESSIVES | DEMONSTRATIVES | QUANTIFIERS | {"the"}
INDEFINITE = frozenset(
    ["someone", "somebody", "something", "anyone", "anybody", "anything", "everyone", "everybody",
     "everything"]
)  # fmt: skip
PRONOUNS = INDEFINITE | {"it", "he", "she", "they", "we", "you", "i"}
"""Words that can be a subject by themselves."""

VALUES = frozenset(
    ["number", "answer", "time", "result", "sum", "total", "value", "score", "price", "year",
     "date", "count", "digit", "temperature", "speed"]
)  # fmt: skip
"""Nouns that can be a number: "the number on the jersey 23"."""

NEGATIONS = frozenset(
    ["no", "not", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "cannot",
     "false", "untrue"]
)  # fmt: skip
ABSOLUTE = frozenset(["all", "both", "each", "every", "either", "everyone", "everything", "always"])
"""Words with which "not" after the subject asks something else than the negated question."""

PREPOSITIONS = frozenset(
    ["of", "in", "on", "at", "by", "with", "without", "to", "from", "for", "about", "above",
     "below", "under", "underneath", "beneath", "over", "behind", "beside", "besides", "between",
     "among", "near", "next", "inside", "outside", "within", "into", "onto", "off", "around",
     "across", "along", "against", "through", "thru", "toward", "towards", "upon", "during",
     "beyond", "past", "like", "atop", "amid", "opposite", "alongside", "throughout", "out", "up",
     "down", "away"]
)  # fmt: skip
JOINS = frozenset(["and", "or", "but", "than", "as", "while", "because", "if", "when"])
CLAUSE_WORDS = QUESTION_WORDS | {"whom", "because", "if", "while"}
"""The words that a clause within a question begins with, beside "that"."""

ADVERBS = frozenset(
    ["very", "too", "quite", "more", "less", "most", "least", "almost", "also", "already", "still",
     "just", "now", "only", "rather", "so", "even", "not", "never", "always", "mostly", "somewhat",
     "there", "here", "indeed", "maybe", "perhaps", "together", "apart", "yet", "ever", "both",
     "exactly", "hyper", "super", "ultra", "forward", "forwards", "backward", "backwards"]
)  # fmt: skip
SHADES = frozenset(["light", "dark", "bright", "deep", "pale"])
"""Adjectives that may stand before a colour, as adverbs do."""
SHADING_NOUNS = frozenset(
    ["brand", "sky", "jet", "blood", "snow", "ice", "crystal", "navy", "pitch", "olive", "lime",
     "rose", "baby", "neon", "forest", "stone", "platinum", "ash", "honey",
     "semi"]
)  # fmt: skip
"""Nouns that stand before an adjective, as in "brand new" and "sky blue"."""
PICTURES = frozenset(
    ["image", "images", "picture", "pictures", "photo", "photos", "photograph", "photographs"]
)  # fmt: skip
PLACES = frozenset(
    ["scene", "figure", "painting", "video", "frame", "screenshot", "illustration", "drawing",
     "diagram", "chart", "map", "left", "right", "top", "bottom", "middle", "center", "centre",
     "front", "back", "end", "edge", "side", "sides", "corner", "foreground", "background",
     "distance", "box", "boxes"]
)  # fmt: skip
"""Places in a picture. They act on nothing: "wearing a hat" is said of no "left"."""
AROUND = frozenset(
    ["here", "there", "nearby", "outside", "inside", "outdoors", "indoors", "upstairs",
     "downstairs"]
)  # fmt: skip
"""Adverbs that belong to the noun before them as well as to what is said: "the items here"."""
SHOWN = frozenset(
    ["seen", "shown", "pictured", "depicted", "displayed", "featured", "photographed", "portrayed",
     "visible", "present"]
)  # fmt: skip
"""Words that may belong to the noun before them: "the tracks seen"."""
NAMING = frozenset(
    ["word", "words", "color", "colour", "letter", "letters", "name", "phrase", "number"]
)  # fmt: skip
"""Nouns that what they name may follow: "the color red"."""
FIXED_PLACES = PICTURES | {"foreground", "background", "distance", "scene"}
"""Places that no noun begins with."""
PARTICLES = frozenset(
    ["on", "off", "in", "out", "up", "down", "over", "away", "inside", "outside", "near", "around"]
)  # fmt: skip
"""Prepositions that can be all that is said: "the light is on"."""
FITTING = frozenset(
    ["accessible", "friendly", "free", "proof", "resistant", "worthy", "compatible", "specific",
     "sized", "shaped", "themed"]
)  # fmt: skip
COMBINING = FITTING | {
    "deep",
    "high",
    "long",
    "tall",
    "wide",
    "thick",
    "old",
    "safe",
    "ready",
    "colored",
}
"""Adjectives that a noun may stand before, as in "waist deep" and "wheelchair accessible"."""
COMPOUNDS = frozenset(
    ["traffic light", "fire hydrant", "stop sign", "parking meter", "sports ball", "baseball bat",
     "baseball glove", "tennis racket", "wine glass", "hot dog", "potted plant", "dining table",
     "cell phone", "teddy bear", "hair drier", "hair dryer"]
)  # fmt: skip
"""COCO's categories of two words, which POPE and its like ask about."""


def is_number(word: str) -> bool:
    """True if a word is a number, in digits or letters."""
    return word[:1].isdigit() or word in NUMBERS
