"""Reads the table of tool families, and makes the values of parameters: what a call carries and how a request says it."""
import re
from collections import namedtuple

from . import lexicon as lex
from . import names as n
from .sheets import Values
from .tool_families import DOMAINS

# params: [(key, wire names, kind, optional)]; result: what the tool answers, as (kind, maker) or None
Family = namedtuple("Family", "names descriptions params result asks domain")

WORDS = {
    "room": "kitchen|bedroom|bathroom|living room|garage|cellar|attic|hall|office|nursery|guest room|dining room|laundry room|studio|workshop|conservatory",
    "door": "front door|back door|garage door|cellar door|garden gate|side entrance|balcony door|barn door|shed|main gate|office door",
    "chore": "call the plumber|feed the cat|water the plants|pay the rent|buy stamps|clean the windows|sign the contract|wash the car|book the dentist|iron the shirts|return the keys|renew the passport|fix the fence|empty the dishwasher",
    "event": "the dentist|lunch|the concert|the exam|the team meeting|yoga|the haircut|the board meeting|parents evening|football practice|the wedding|book club",
    "relday": "today|tomorrow|tonight|this weekend|next week|the day after tomorrow",
    "poi": "bakery|bank|hospital|pharmacy|supermarket|playground|library|cash machine|post office|museum|toilet|hairdresser|bookshop|swimming pool",
    "planet": "Mars|Venus|Jupiter|Saturn|Mercury|Uranus|Neptune",
    "dish": "lasagne|pancakes|goulash|pumpkin soup|paella|apple pie|fried rice|potato salad|chicken curry|lentil stew|carrot cake|risotto|falafel|ratatouille|pizza|dumplings|fish cakes|omelette|porridge|tofu stir-fry",
    "ingredient": "eggs|rice|onions|flour|butter|cream|tomatoes|beans|cheese|spinach|honey|garlic|mushrooms|noodles|yoghurt|lemons|salmon|chickpeas|leeks|basil",
    "cuisine": "Italian|Indian|Thai|French|Greek|vegan|Mexican|Turkish|Korean|Lebanese|Spanish|Ethiopian|Japanese",
    "reason": "too small|too big|broken|scratched|not needed|the wrong colour|late|defective|incomplete",
    "service": "billing|auth|nginx|redis|checkout|mailer|gateway|scheduler|search-api|worker|postgres|frontend",
    "envkey": "LOG_LEVEL|API_KEY|PORT|CACHE_SIZE|REGION|TIMEOUT|DEBUG|MAX_CONN",
    "dbtable": "orders|users|customers|invoices|sessions|products|audit_log|payments|stock_items|visits",
    "column": "email|created_at|status|price|country|user_id|phone|zip_code|amount|last_login",
    "language": "German|French|Spanish|Italian|Polish|Japanese|Dutch|Swedish|Arabic|Turkish|Latin|Finnish|Greek|Chinese|Portuguese",
    "subject": "maths|physics|history|biology|chemistry|geography|music|Latin|art|economics|French|philosophy",
    "doctor": "dentist|dermatologist|cardiologist|surgeon|paediatrician|neurologist|family doctor|physiotherapist|psychologist",
    "sport": "football|tennis|hockey|volleyball|handball|rugby|basketball|judo|boxing|pilates|rowing|badminton|fencing",
    "game": "chess|checkers|sudoku|poker|backgammon|solitaire|hangman|go|dominoes|tetris|battleships",
    "crop": "potatoes|carrots|apples|wheat|barley|cherries|pumpkins|grapes|onions|maize|plums",
    "animals": "cows|pigs|hens|sheep|goats|horses|ducks|rabbits|donkeys|geese",
    "problem": "the printer is jammed|the screen stays black|the login fails|the mouse is dead|the wifi is slow|the app crashes|no sound in calls|the keyboard misses letters|the file will not open|the update hangs",
    "phrase": "good morning|where is the station|I love you|see you soon|the water is cold|my dog is sick|how much is it|we are lost|happy birthday|nice to meet you|the train is late|I would like a coffee|close the window|it is snowing",
    "text": "I will be late|the meeting is cancelled|bring some bread|we won the game|call me back|happy birthday|lunch is ready|the deploy is done|I miss you|the heating is broken|see you at the gate|thanks for everything|the key is under the mat|no milk left",
    "topic": "the election|solar energy|the strike|volcanoes|electric cars|the budget|the storm|space travel|bees|robots|the world cup|housing prices",
    "meaning": "a small boat|very tired|a kind of stew|to walk slowly|an old song|a narrow street|full of joy|a tool for cutting",
    "risk": "low|high|none|moderate|severe",
    "status": "on the way|delivered|waiting|packed|cancelled|in customs|lost|at the depot|sent back",
    "state": "up|down|running|slow|healthy|unreachable|starting|stopped",
    "moon": "full moon|new moon|half moon|a thin crescent",
    "size": "S|M|L|XL|38|40|42|44|46",
    "yesno": "yes|no|not for stays under 90 days|only for work",
}
WORDS = {key: text.split("|") for key, text in WORDS.items()}


def mixed(kind, other, share=0.5):
    return lambda r: r.choice(WORDS[kind]) if r.random() < share else other(r)


def slug(r, mark="-"):
    return mark.join(n.word(r, 1, 2) if r.random() < 0.5 else r.choice(lex.NOUNS) for _ in range(r.randint(1, 2)))


def file_(ends):
    ends = ends.split()
    return lambda r: (slug(r, r.choice("-_")) if r.random() < 0.8 else f"{slug(r)}{r.randint(1, 99)}") + "." + r.choice(ends)


def day(r):
    number, month = r.randint(1, 28), r.choice(lex.MONTHS)
    year = r.randint(2022, 2032)
    return r.choice([f"{number} {month}", f"{month} {number}", f"{number} {month} {year}", f"{month} {number}, {year}", f"{year}-{r.randint(1, 12):02d}-{number:02d}", f"{number}.{r.randint(1, 12)}.{year}", f"the {number}th of {month}" if 4 <= number <= 20 else f"{number} {month}"])


def path(r):
    return r.choice(["/", "/", "", "~/"]) + "/".join(slug(r) for _ in range(r.randint(1, 2))) + r.choice(["", "", "/"])


def said_text(r):
    x = r.random()
    if x < 0.5:
        return r.choice(WORDS["text"])
    return f"{n.first(r)} is in {n.place(r)}" if x < 0.65 else f"the {n.object_(r)} is {r.choice(lex.ADJECTIVES)}" if x < 0.85 else f"I saw {n.person(r)}"


MAKERS = {
    "place": n.place, "country": n.place, "person": n.person, "company": n.company, "title": n.title, "object": n.object_, "word": n.word, "proper": n.proper, "code": n.code, "clock": n.clock,
    "day": day, "weekday": lambda r: r.choice(lex.DAYS), "date": lambda r: r.choice([day(r), day(r), r.choice(lex.DAYS)]), "price": n.price,
    "room": mixed("room", n.word, 0.8), "event": lambda r: r.choice([r.choice(WORDS["event"]), n.title(r), "the meeting with " + n.person(r)]), "text": said_text, "phrase": mixed("phrase", said_text, 0.6),
    "dbtable": mixed("dbtable", lambda r: slug(r, "_")), "column": mixed("column", n.word), "service": mixed("service", n.word), "dish": mixed("dish", lambda r: n.proper(r) + r.choice([" soup", " pie", " stew"]), 0.75),
    "topic": mixed("topic", n.proper), "channel": lambda r: r.choice(["#", "#", ""]) + slug(r), "email": lambda r: f"{n.word(r)}@{n.word(r)}.{r.choice(['com', 'org', 'net', 'de'])}",
    "flight": lambda r: "".join(r.choice("ABCEFHKLMNQSTUX") for _ in "ab") + str(r.randint(10, 9999)), "address": lambda r: f"{r.randint(1, 199)} {n.proper(r)} {r.choice(['Street', 'Road', 'Lane', 'Square'])}",
    "road": lambda r: r.choice([f"A{r.randint(1, 99)}", f"M{r.randint(1, 50)}", n.proper(r) + " Road", n.proper(r) + " Bridge"]), "host": lambda r: f"{r.choice(['web', 'db', 'srv', 'node', n.word(r, 1, 1)])}-{r.randint(1, 40)}",
    "version": lambda r: r.choice(["v", ""]) + f"{r.randint(0, 9)}.{r.randint(0, 20)}.{r.randint(0, 9)}", "branch": lambda r: r.choice(["feature/", "fix/", "", ""]) + "-".join([n.word(r), r.choice(lex.NOUNS)]),
    "domain": lambda r: f"{n.word(r)}.{r.choice(['com', 'org', 'io', 'net'])}", "ip": lambda r: ".".join(str(r.randint(1, 254)) for _ in range(4)), "hash": lambda r: "".join(r.choice("abcdef0123456789") for _ in range(7)),
    "url": lambda r: f"https://{n.word(r)}.{r.choice(['com', 'org', 'io'])}/{slug(r)}", "file": file_("txt pdf csv md json docx png log"), "image": file_("png jpg webp"), "pdf": file_("pdf"), "stl": file_("stl"), "archive": file_("zip tar.gz 7z"), "path": path,
    "goods": lambda r: n.plural(r.choice(lex.NOUNS)), "anyword": lambda r: r.choice([n.word(r), r.choice(lex.NOUNS), r.choice(lex.ADJECTIVES)]), "klass": lambda r: f"{r.randint(1, 12)}{r.choice('abcd')}",
    "square": lambda r: r.choice("abcdefgh") + str(r.randint(1, 8)), "plate": lambda r: f"{n.code(r)[:2].upper()}-{r.choice('ABCDKLMXYZ')} {r.randint(10, 9999)}", "query": lambda r: r.choice([n.title, n.object_, n.person, n.company, n.proper])(r),
    "phone": lambda r: f"0{r.randint(10, 999)} {r.randint(10000, 9999999)}", "duration": lambda r: f"{r.randint(2, 90)} minutes", "distance": lambda r: f"{r.randint(1, 900)} {r.choice(['km', 'm', 'miles', 'cm'])}", "number": lambda r: r.choice([r.randint(0, 99), r.randint(100, 99999)]),
    "percent": lambda r: f"{r.randint(1, 100)} percent", "score": lambda r: f"{r.randint(0, 6)}:{r.randint(0, 6)}", "train": lambda r: f"{r.choice(['IC', 'RE', 'TGV', 'S'])} {r.randint(1, 999)}",
}
for _kind, _words in WORDS.items():
    MAKERS.setdefault(_kind, lambda r, words=_words: r.choice(words))
MAKERS["gigabytes"] = lambda r: f"{r.randint(1, 900)} {r.choice(['GB', 'MB', 'TB'])}"
TYPES = {"whole": "integer", "real": "number", "flag": "boolean", "int": "integer", "pickint": "integer", "intyear": "integer", "num": "number", "money": "number", "pick3": "number", "bool": "boolean", "list": "array"}


def plain(kind):
    return kind.split(" ")[0]


def options(kind):
    """[(value, [ways to say it])] of an enum."""
    out = []
    if plain(kind) == "choice":
        parts = [[one.strip() for one in part.split("~")] for part in kind.split(" ", 1)[1].split("|")]
        return [(value, others or [value]) for value, *others in parts]
    for part in kind.split(" ", 1)[1].split(","):
        value, *others = part.replace("!", "~").split("~")
        out.append((value, others if "!" in part else [value, *others]))
    return out


def schema(kind):
    out = {"type": TYPES.get(plain(kind), "string")}
    if plain(kind) in ("enum", "choice"):
        out["enum"] = [value for value, _ in options(kind)]
    elif plain(kind) == "list":
        out["items"] = {"type": "string"}
    return out


# How many of the values that a list names are others, which only their place in a request tells from the words around them.
UNHEARD = 0.35
BETWEEN = "of the|of|in|for the|and|with|without|on|under|by|de la|from".split("|")


def unheard(r, value):
    """Some words in place of a listed value, or around it."""
    x = r.random()
    thing = lambda: r.choice([r.choice(lex.NOUNS), n.word(r), n.proper(r)])
    if x < 0.2:
        text = f"{r.choice([r.choice(lex.ADJECTIVES), n.word(r), n.proper(r)])} {value}"
    elif x < 0.35:
        text = f"{value} {thing()}"
    elif x < 0.55:
        text = f"{r.choice([value, thing()])} {r.choice(BETWEEN)} {thing()}"
    elif x < 0.7:
        text = n.title(r)
    elif x < 0.85:
        text = " ".join(thing() for _ in range(r.randint(1, 3)))
    else:
        text = r.choice([n.object_, n.proper])(r)
    return " ".join(word[:1].upper() + word[1:] if r.random() < 0.9 else word for word in text.split()) if value[:1].isupper() else text


def make(r, kind):
    """(value of the call, what the request says)."""
    head, _, rest = kind.partition(" ")
    if head == "int":
        low, high = map(int, rest.split())
        value = r.randint(max(low, 2), high)
        word = dict(zip(range(2, 13), lex.NUMBER_WORDS)).get(value)
        return value, word if word and r.random() < 0.15 else str(value)
    if head in ("num", "money"):
        low, high = map(int, rest.split()) if rest else (2, 999)
        value = r.randint(low, high) if r.random() < 0.5 else round(r.uniform(low, high), r.choice([1, 2]))
        value = int(value) if value == int(value) else value
        return value, str(value)
    if head == "intyear":
        value = r.randint(1990, 2035)
        return value, str(value)
    if head == "oneof":
        listed = [one.strip() for one in rest.split("|") if one.strip()]
        text = Values(r).fill(r.choice(listed))
        # A list of few is one of names that have to be known, such as "left" and "right".
        if len(listed) > 3 and r.random() < UNHEARD and not any(letter.isdigit() for letter in text):
            text = unheard(r, text)
        return text, text
    if head == "whole":
        low, high = map(int, rest.split())
        return (value := r.randint(low, high)), str(value)
    if head == "real":
        low, high = map(float, rest.split())
        value = round(r.uniform(low, high), r.choice([0, 1, 1, 2]))
        value = int(value) if value == int(value) else value
        return value, str(value)
    if head == "flag":
        return (value := r.random() < 0.5), str(value).lower()
    if head in ("enum", "choice"):
        value, ways = r.choice(options(kind))
        return value, r.choice(ways)
    if head == "bool":
        value = r.random() < 0.5
        return value, rest.split("/")[0 if value else 1]
    if head == "list":
        values = []
        while len(values) < r.choice([2, 2, 3]):
            one = make(r, rest)[0]
            values += [one] if one not in values else []
        return values, ", ".join(values[:-1]) + " and " + values[-1]
    if head in ("pick", "pickint", "pick3"):
        text = r.choice(rest.split(","))
        return {"pick": str, "pickint": int, "pick3": float}[head](text), text
    value = MAKERS[head](r)
    if head == "relday" and r.random() < 0.4:
        value = r.choice(lex.DAYS)
        return value, "on " + value
    return value, str(value)


def fixed(family, ask):
    """(the request, {key: value}) of a request that may end with ` => key=value, other=value`: what is meant without being said by a slot."""
    text, _, meant = ask.partition(" => ")
    values = {}
    for part in re.split(r",\s*(?=\w+=)", meant) if meant else []:
        key, value = part.split("=", 1)
        kind = next((kind for one, _, kind, _ in family.params if one == key.strip()), None)
        if kind is None:
            raise ValueError(f"{family.names[0]} has no parameter {key.strip()}: {ask}")
        values[key.strip()] = typed(plain(kind), value.strip())
    return text.strip(), values


def typed(kind, text):
    """A value as calls carry it."""
    wire = TYPES.get(kind, "string")
    if wire == "boolean":
        return {"true": True, "false": False}[text]
    return int(text) if wire == "integer" else float(text) if wire == "number" and "." in text else int(text) if wire == "number" else text


def read(domain, text):
    """The families of one domain's table."""
    lines = text.strip().split("\n")
    for head, asks in zip(lines[::2], lines[1::2]):
        names, descriptions, params, *result = [part.strip() for part in head.split(" : ")]
        found = []
        for part in params.split(" ; "):
            left, kind = part.split(" =")
            key, aliases = left.split(" ", 1)
            found.append((key.rstrip("?"), aliases.strip().split(","), kind.strip(), key.endswith("?")))
        yield Family(names.split(), descriptions.split(" | "), found, result[0] if result else None, asks.split(" | "), domain)


FAMILIES = [family for domain, text in DOMAINS.items() for family in read(domain, text)]
BY_DOMAIN = {domain: [family for family in FAMILIES if family.domain == domain] for domain in DOMAINS}


def fill(template, spoken):
    """The request, with `an` where a value asks for it."""
    def put(found):
        text = spoken[found[1]]
        before = template[: found.start()]
        article = re.search(r"(^|\s)[Aa]\s$", before) and text[:1].lower() in "aeio"
        return ("\0" if article else "") + text

    return re.sub(r"\{(\w+)\}", put, template).replace(" \0", "n ")
