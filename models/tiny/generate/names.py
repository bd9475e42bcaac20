"""Invented words, names, numbers, dates: what a model can only copy, because it has never seen it."""
from . import lexicon as lex

ONSETS = "b bl br c ch cl cr d dr f fl fr g gl gr h j k kl kr l m n p pl pr qu r s sch sh sk sl sm sn sp st str t th tr v w wh y z".split() + [""]
VOWELS = "a e i o u a e i o ai au ea ee ei ia ie io oa oo ou y".split()
CODAS = "b ck d f g k l ll m n nd ng nk nt p r rd rk rn rt s sh sk ss st t th x z".split() + [""] * 14
ENDS = "a o us is on ia en er el in um ix or ana ori ova ander ingen by ton ville burg ford ham mere wick stad sk".split()
COMPANY = "Ltd|Inc|GmbH|Group|Labs|Systems|Works|Partners|Foods|Motors|Studio|& Sons|Logistics|Software|Energy|Bank|Press|Airways|Robotics|Textiles".split("|")
UNITS = "metres|kilometres|kilograms|grams|litres|tonnes|degrees|watts|volts|euros|dollars|pounds|hours|minutes|days|weeks|months|years|percent|pages|seats|rooms|floors|people|points".split("|")


MARKED = dict(zip("aceghiklnorstuyz", "áàâäãåāă çćč éèêëēęě ğ ħ íìîïī ķ ł ñńňņ óòôöõøőō ř śšşș ťț úùûüūůű ý źžż".split()))


# The pieces of words that a tokenizer has, once there is one. Some come so seldom in whole texts that a model of them cannot copy every name.
PIECES = []


def syllable(r):
    return r.choice(ONSETS) + r.choice(VOWELS) + r.choice(CODAS)


def marked(r, text):
    """The text as it may be written in another language."""
    return "".join(r.choice(MARKED[letter]) if letter in MARKED and r.random() < 0.4 else letter for letter in text)


def word(r, low=1, high=2):
    """An invented word, in lower case but for pieces that have capitals."""
    if PIECES and r.random() < 0.5:
        return "".join(r.choice(PIECES) for _ in range(r.choice((1, 2, 2, 3))))
    text = "".join(syllable(r) for _ in range(r.randint(low, high)))
    if r.random() < 0.35:
        text += r.choice(ENDS)
    text = text[:14] or "an"
    return marked(r, text) if r.random() < 0.06 else text


def proper(r):
    text = word(r)
    return r.choice("ABCDEFGHIJKLMNOPRSTUVWZ") + text if text in PIECES else text[:1].upper() + text[1:]


def first(r):
    return r.choice(lex.FIRST) if r.random() < 0.5 else proper(r)


def last(r):
    return r.choice(lex.LAST) if r.random() < 0.35 else proper(r)


def person(r):
    x = r.random()
    if x < 0.55:
        return f"{first(r)} {last(r)}"
    if x < 0.8:
        return first(r)
    if x < 0.88:
        return f"{r.choice(['Dr.', 'Mrs', 'Mr', 'Ms', 'Professor', 'Captain', 'Sister'])} {last(r)}"
    return f"{first(r)} {proper(r)}-{last(r)}" if x < 0.91 else f"{first(r)} {r.choice('ABCDEFGHJKLMNPRST')}. {last(r)}"


def place(r):
    x = r.random()
    if x < 0.45:
        return r.choice(lex.PLACES)
    if x < 0.85:
        return proper(r)
    return f"{r.choice(['Lake', 'Port', 'New', 'Mount', 'Saint', 'North', 'Upper', 'East', 'Fort'])} {proper(r)}"


def company(r):
    name = proper(r) if r.random() < 0.7 else f"{proper(r)} {r.choice(lex.NOUNS).capitalize()}"
    return f"{name} {r.choice(COMPANY)}" if r.random() < 0.7 else name


def title(r):
    """The name of a thing with a name: a ship, a book, a product."""
    x = r.random()
    if x < 0.3:
        return proper(r)
    if x < 0.5:
        return f"{proper(r)} {r.randint(1, 9) * r.choice([1, 10, 100])}"
    if x < 0.75:
        return f"{r.choice(lex.ADJECTIVES).capitalize()} {r.choice(lex.NOUNS).capitalize()}"
    return f"The {r.choice(lex.NOUNS).capitalize()} of {proper(r)}"


def code(r):
    """A code such as an order number."""
    x = r.random()
    letters = "".join(r.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(r.randint(1, 3)))
    if x < 0.4:
        return f"{letters}-{r.randint(10, 99999)}"
    if x < 0.7:
        return str(r.randint(100, 9999999))
    if x < 0.85:
        return f"{letters}{r.randint(1, 999)}"
    return "".join(r.choice("abcdef0123456789") for _ in range(r.randint(4, 10)))


def number(r):
    x = r.random()
    if x < 0.3:
        return r.choice(lex.NUMBER_WORDS)
    if x < 0.7:
        return str(r.randint(2, 99))
    if x < 0.9:
        return str(r.randint(100, 9999))
    return f"{r.randint(1, 99)},{r.randint(0, 999):03d}" if x < 0.95 else f"{r.randint(0, 99)}.{r.randint(1, 9)}"


def quantity(r):
    return f"{number(r)} {r.choice(UNITS)}"


def year(r):
    return str(r.randint(1400, 2030) if r.random() < 0.4 else r.randint(1850, 2026))


def day(r):
    number, month = r.randint(1, 28), r.choice(lex.MONTHS)
    return r.choice([f"{number} {month}", f"{month} {number}", f"{number} {month} {year(r)}", f"{month} {number}, {year(r)}"])


def date(r):
    return day(r) if r.random() < 0.8 else f"{r.choice(lex.MONTHS)} {year(r)}"


def clock(r):
    x = r.random()
    if x < 0.4:
        return f"{r.randint(0, 23)}:{r.choice([0, 5, 10, 15, 20, 25, 30, 40, 45, 50]):02d}"
    if x < 0.7:
        return f"{r.randint(1, 12)} {r.choice(['am', 'pm'])}"
    return r.choice(["noon", "midnight", f"{r.randint(1, 12)} o'clock", f"half past {r.choice(lex.NUMBER_WORDS)}"])


def when(r):
    """A time with its preposition."""
    return r.choice(
        [
            f"in {year(r)}", f"in {year(r)}", f"on {r.choice(lex.DAYS)}", f"in {r.choice(lex.MONTHS)}", f"on {day(r)}", f"on {day(r)}", f"at {clock(r)}",
            "yesterday", "last week", "last summer", "last winter", f"{r.choice(lex.NUMBER_WORDS)} years ago", f"{r.choice(lex.NUMBER_WORDS)} days ago",
            f"on {r.choice(lex.DAYS)} morning", f"in the spring of {year(r)}", f"before {r.choice(['lunch', 'dinner', 'sunrise', 'midnight', 'noon'])}",
            f"after the {r.choice(['war', 'flood', 'meeting', 'fire', 'concert', 'harvest', 'wedding', 'storm'])}", "during the night", "every morning",
        ]
    )


def where(r):
    """A place with its preposition."""
    x = r.random()
    if x < 0.4:
        return f"in {place(r)}"
    if x < 0.5:
        return f"near {place(r)}"
    if x < 0.6:
        return f"at the {r.choice(lex.NOUNS)} {r.choice(['shop', 'factory', 'museum', 'fair', 'market'])}"
    return r.choice(lex.SPOTS)


def price(r):
    amount = r.choice([str(r.randint(1, 999)), f"{r.randint(1, 99)}.{r.randint(10, 99)}", f"{r.randint(1, 90)},000"])
    return r.choice([f"{amount} euros", f"{amount} dollars", f"${amount}", f"€{amount}", f"{amount} pounds", f"{amount} francs"])


def an(text):
    return f"an {text}" if text[:1].lower() in "aeiou" else f"a {text}"


def object_(r):
    """A common thing without article: `old copper kettle`."""
    noun = r.choice(lex.NOUNS) if r.random() < 0.8 else word(r, 1, 2)
    x = r.random()
    if x < 0.45:
        return noun
    if x < 0.85:
        return f"{r.choice(lex.ADJECTIVES)} {noun}"
    return f"{r.choice(lex.ADJECTIVES)} {r.choice(lex.ADJECTIVES)} {noun}"


def plural(noun):
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    if noun.endswith("f"):
        return noun[:-1] + "ves" if noun in ("loaf", "scarf", "shelf", "wolf") else noun + "s"
    return noun + "s"
