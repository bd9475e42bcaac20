"""The word lists of `words/`, read once."""
from pathlib import Path

FOLDER = Path(__file__).parent / "words"


def _lines(name):
    return [line.strip() for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines() if line.strip()]


def _words(name):
    return " ".join(_lines(name)).split()


NOUNS = _words("nouns")
ADJECTIVES = _words("adjectives")
ROLES = _words("roles")
FIRST = _words("first")
LAST = _words("last")
PLACES = _words("places")
SPOTS = _lines("spots")[0].split("|")
ACTS = [(" ".join(line.split()[: len(line.split()) // 2]), " ".join(line.split()[len(line.split()) // 2 :])) for line in _lines("acts")]
REASONS = _lines("reasons")[0].split("|")
# (base, past, participle)
VERBS = [tuple(line.split()) for line in _lines("verbs")]
# (names of the topic, its words)
TOPICS = [(line.split(": ")[0].split(","), line.split(": ")[1].split()) for line in _lines("topics")]
# (singular, plural, members)
THINGS = [(*line.split(": ")[0].split(","), line.split(": ")[1].split()) for line in _lines("things")]
# Kinds of which one may count among the other.
MIXED = [{"animal", "bird", "fish"}, {"fruit", "vegetable"}, {"metal", "colour", "planet"}]
LANGUAGES = next(words for one, _, words in THINGS if one == "language")
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
