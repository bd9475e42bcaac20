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
MIXED = [
    # Plants and food.
    {"fruit", "vegetable", "nut", "part of a plant"},
    {"fruit", "tree", "flower", "herb"},
    {"fruit", "dessert", "sweet", "colour"},
    {"tree", "nut", "material", "part of a plant", "colour"},
    {"flower", "herb", "colour", "part of a plant", "tree"},
    {"vegetable", "herb", "spice", "cereal", "mushroom", "part of a plant"},
    {"cereal", "farm word", "vegetable", "part of a plant"},
    {"dish", "meal", "kind of pasta", "kind of meat", "kind of seafood", "sauce", "kind of bread", "cake or pastry", "dessert", "vegetable",
     "mushroom"},
    {"cake or pastry", "kind of bread", "dessert", "sweet", "dairy product", "nut", "sauce"},
    {"cheese", "dairy product", "dish", "sauce"},
    {"drink", "alcoholic drink", "hot drink", "dairy product", "herb", "sweet"},
    {"dish", "spice", "herb", "sauce", "cooking verb", "cereal", "nut"},
    {"kind of seafood", "fish", "sea animal", "dish"},
    {"kind of meat", "bird", "animal", "farm animal", "wild animal", "baby animal", "organ of the body", "body part", "cooking verb"},
    {"taste", "word for smells", "cooking verb", "spice"},
    # Animals.
    {"animal", "bird", "fish", "insect", "reptile", "amphibian", "sea animal", "wild animal", "farm animal", "pet", "baby animal", "dog breed"},
    {"animal", "home of animals", "animal sound", "farm word"},
    {"farm animal", "farm word", "home of animals"},
    {"sea animal", "kind of seafood", "beach thing", "fish"},
    {"animal sound", "sound", "way of speaking", "bird"},
    {"animal", "computer part", "constellation", "sign of the zodiac"},
    # Bodies, doctors and people.
    {"body part", "organ of the body", "bone", "dentist word", "hair word", "unit of length", "baby animal"},
    {"illness", "symptom", "disaster", "dentist word"},
    {"medicine", "medical instrument", "dentist word", "symptom", "bathroom thing"},
    {"medical profession", "profession", "scientist", "dentist word"},
    {"profession", "medical profession", "building trade", "office job", "artist", "food job", "scientist", "transport job", "legal profession",
     "political office", "member of the clergy", "military rank"},
    {"transport job", "flight word", "ship word", "railway word", "post word", "military rank"},
    {"legal profession", "legal word", "crime", "political office"},
    {"artist", "theatre word", "musical word", "famous painter", "famous composer", "famous writer", "singing voice"},
    {"profession", "theatre word", "bank word", "farm word", "army word", "school thing", "office thing", "post word", "election word"},
    {"food job", "shop", "kitchen machine"},
    {"member of the clergy", "religion", "place of worship"},
    {"political office", "election word", "form of government", "fairy-tale figure", "member of the clergy"},
    {"scientist", "famous scientist", "science"},
    {"famous scientist", "famous writer", "famous painter", "famous composer", "unit of physics"},
    {"family member", "person by age", "fairy-tale figure", "stage of life"},
    {"feeling", "virtue", "fault of character", "trait of character", "word for good", "word for bad"},
    {"word for good", "word for bad", "word for size", "taste", "word for smells", "trait of character"},
    {"way of walking", "way of speaking", "sound", "dance", "hobby", "sport"},
    # Things of the house.
    {"tool", "garden tool", "kitchen tool", "sewing thing", "measuring device", "building material", "cleaning thing", "farm machine",
     "construction machine"},
    {"tool", "weapon", "camping thing", "beach thing", "winter thing", "material"},
    {"tool", "vehicle", "army word", "bicycle part", "electric device"},
    {"kitchen tool", "piece of tableware", "kitchen machine", "kind of clock", "cooking verb", "container", "measuring device"},
    {"piece of tableware", "container", "unit of volume", "bathroom thing"},
    {"electric device", "kitchen machine", "computer part", "kind of light", "bathroom thing", "cleaning thing", "office thing", "kind of clock",
     "measuring device", "hair word"},
    {"electric device", "metal", "chemical element", "medicine", "camera word", "part of a house", "sewing thing"},
    {"furniture", "bedroom thing", "office thing", "school thing", "camping thing", "beach thing", "thing in a street", "bathroom thing",
     "home of animals"},
    {"room", "building", "part of a house", "shop", "performing place", "place of worship", "theatre word", "bathroom thing", "home of animals"},
    {"building", "farm word", "travel word", "kind of light", "army word", "railway word", "flight word", "post word", "fire word",
     "thing in a street"},
    {"part of a house", "fire word", "thing in a street", "post word", "bathroom thing", "camera word", "electric device"},
    {"bathroom thing", "cleaning thing", "hair word", "kind of make-up", "beach thing", "medical instrument", "bedroom thing"},
    {"bedroom thing", "clothing", "kind of light", "kind of clock", "camping thing", "fabric"},
    {"container", "travel word", "camping thing", "cleaning thing", "beach thing", "kitchen machine", "school thing", "office thing"},
    {"kind of light", "camping thing", "fire word", "theatre word", "car part", "bicycle part", "thing in a street", "part of a house"},
    {"garden tool", "cleaning thing", "farm machine", "farm word", "beach thing", "winter thing"},
    # Clothes and looks.
    {"clothing", "kind of shoe", "kind of hat", "piece of jewellery", "winter thing", "beach thing", "fabric", "sewing thing", "bathroom thing"},
    {"kind of shoe", "winter thing", "piece of sports equipment", "beach thing"},
    {"kind of hat", "piece of jewellery", "army word", "piece of sports equipment", "dentist word", "hair word", "beach thing"},
    {"clothing", "army word", "piece of sports equipment", "camping thing"},
    {"piece of jewellery", "gem", "hair word", "shape", "kind of clock", "sound", "currency"},
    {"fabric", "material", "building material", "sewing thing", "clothing", "bathroom thing"},
    {"kind of clock", "measuring device", "piece of sports equipment"},
    # Play, sport and arts.
    {"toy", "board game", "card game", "children's game", "thing on a playground", "sport", "hobby", "piece of sports equipment"},
    {"toy", "vehicle", "weapon", "instrument", "sound", "beach thing", "winter thing", "material"},
    {"sport", "piece of sports equipment", "hobby", "dance", "winter thing", "beach thing", "insect", "way of walking"},
    {"piece of sports equipment", "thing on a playground", "beach thing", "winter thing"},
    {"dance", "music style", "art form", "hobby"},
    {"art form", "hobby", "film genre", "school subject", "performing place", "music style", "kind of text", "kind of book", "camera word"},
    {"music style", "musical word", "singing voice", "instrument", "sound"},
    {"musical word", "theatre word", "kind of text", "army word"},
    {"film genre", "kind of book", "kind of text", "camera word", "school subject"},
    {"drawing instrument", "school thing", "office thing", "measuring device", "musical word"},
    {"performing place", "theatre word", "building", "art form"},
    {"thing on a playground", "thing in a street", "hobby", "music style"},
    {"fairy-tale figure", "god or goddess", "wild animal"},
    {"card game", "virtue", "ship word"},
    # Travel and work.
    {"vehicle", "kind of boat", "farm machine", "construction machine", "fire word", "army word", "railway word", "flight word", "camping thing",
     "winter thing", "post word"},
    {"kind of boat", "ship word", "vehicle", "disaster"},
    {"ship word", "flight word", "railway word", "travel word", "transport job"},
    {"car part", "bicycle part", "flight word", "vehicle", "measuring device", "kind of shoe", "kind of hat", "kind of light"},
    {"travel word", "landform", "post word", "beach thing", "kind of book", "school thing", "flight word", "railway word", "camping thing"},
    {"farm machine", "construction machine", "farm word", "garden tool"},
    {"weapon", "army word", "military rank", "ship word", "crime"},
    {"army word", "election word", "disaster", "flight word"},
    {"money word", "bank word", "currency", "legal word", "post word"},
    {"legal word", "crime", "election word", "grammar word", "money word", "bank word"},
    {"post word", "kind of text", "internet word", "office thing", "thing in a street"},
    {"school thing", "office thing", "kind of book", "kind of text", "computer part"},
    {"crime", "fire word", "fault of character", "disaster"},
    # Computers, language, numbers and science.
    {"computer part", "kind of software", "internet word", "programming word", "file format"},
    {"programming word", "data structure", "mathematical word", "grammar word", "kind of software", "sewing thing", "room"},
    {"data structure", "kind of book", "shape", "tree"},
    {"programming language", "gem", "island", "animal", "board game", "science"},
    {"mathematical word", "shape", "number", "ordinal number", "drawing instrument", "bone", "part of a plant"},
    {"unit of time", "time of day", "day", "month", "season", "ordinal number", "kind of clock"},
    {"unit of weight", "currency", "unit of volume", "unit of length", "unit of physics", "container"},
    {"part of speech", "grammar word", "pronoun", "preposition", "kind of text"},
    {"punctuation mark", "grammar word", "organ of the body", "file format", "mathematical word"},
    {"kind of book", "kind of text", "part of speech", "school thing"},
    {"Greek letter", "landform", "programming word"},
    {"language", "school subject", "religion"},
    {"school subject", "science", "art form", "hobby", "mathematical word"},
    {"medicine", "science", "medical profession"},
    # Materials and nature.
    {"metal", "chemical element", "colour", "planet", "god or goddess", "material", "building material", "container", "fuel"},
    {"gas", "fuel", "chemical element", "fire word", "cooking verb"},
    {"material", "building material", "rock", "fuel", "fabric", "metal", "gem", "toy"},
    {"rock", "gem", "landform", "farm word", "school thing", "drawing instrument", "beach thing", "fuel"},
    {"building material", "medical instrument", "piece of tableware", "part of a house"},
    {"gem", "colour", "shape", "rock"},
    {"kind of weather", "disaster", "thing of the sky", "winter thing", "body of water"},
    {"landform", "body of water", "sea or ocean", "river", "mountain", "mountain range", "island", "continent", "beach thing"},
    {"season", "body of water", "time of day", "festival"},
    {"body of water", "ship word", "farm word"},
    {"fuel", "drawing instrument", "fire word", "camping thing"},
    {"fire word", "tree", "disaster", "camping thing", "winter thing"},
    {"thing of the sky", "planet", "constellation", "sign of the zodiac", "god or goddess", "shape", "time of day"},
    {"thing of the sky", "internet word", "kind of light"},
    {"country", "island", "continent", "capital"},
    {"day", "festival", "month"},
    {"illness", "constellation", "sign of the zodiac"},
    {"stage of life", "person by age", "time of day"},
    {"part of a plant", "container", "bank word", "garden tool", "sewing thing", "sound", "animal sound", "kind of light", "farm word", "cereal"},
    # Words that have one more sense.
    {"medical instrument", "measuring device", "camping thing", "camera word", "drawing instrument", "sewing thing"},
    {"river", "country", "sea or ocean"},
    {"programming language", "reptile", "unit of physics", "famous scientist"}, {"constellation", "god or goddess", "mountain range", "mountain"},
    {"weapon", "piece of sports equipment", "instrument", "sound", "car part", "bicycle part"}, {"number", "pronoun", "ordinal number", "unit of time"},
    {"instrument", "shape", "mathematical word", "container", "musical word"}, {"vehicle", "container", "army word", "farm word"},
    {"profession", "legal word", "flight word"}, {"artist", "railway word", "transport job"}, {"religion", "festival", "place of worship"},
    {"dance", "sauce"}, {"sweet", "mushroom"}, {"sea animal", "bathroom thing", "cleaning thing"}, {"body part", "container"}, {"organ of the body", "shape"},
    {"internet word", "way of speaking", "cake or pastry"}, {"pet", "computer part"}, {"bird", "construction machine", "toy"},
    {"person by age", "baby animal"},
    {"feeling", "taste"}, {"drink", "body of water"}, {"piece of tableware", "material", "bicycle part"}, {"building material", "beach thing"},
    {"material", "farm word"}, {"thing in a street", "election word", "post word", "flight word", "container"}, {"clothing", "ship word"},
]
LANGUAGES = next(words for one, _, words in THINGS if one == "language")
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
