"""Lists and JSON from text."""
import json

from .. import frames
from .. import lexicon as lex
from .. import names as n
from .. import relations as rel
from ..chat import Dialogue

# key names -> (maker, ways to say it in a sentence)
FIELDS = {
    ("name", "person", "full_name", "who"): (n.person, ["my name is {x}", "this is {x}", "{x} writes", "it is about {x}", "contact {x}"]),
    ("city", "town", "place", "location"): (n.place, ["living in {x}", "from {x}", "the place is {x}", "based in {x}", "the town is {x}"]),
    ("age", "years"): (lambda r: r.randint(5, 99), ["aged {x}", "{x} years old", "now {x} years of age"]),
    ("email", "mail"): (lambda r: f"{n.word(r)}@{n.word(r, 1, 2)}.{r.choice(['com', 'org', 'net', 'eu'])}", ["mail {x}", "you can write to {x}", "the email is {x}"]),
    ("phone", "telephone", "number"): (lambda r: "-".join(str(r.randint(100, 999)) for _ in range(r.randint(2, 3))), ["phone {x}", "call {x}", "the number is {x}"]),
    ("job", "profession", "occupation"): (lambda r: r.choice(lex.ROLES), ["working as a {x}", "a {x} by trade", "by profession a {x}"]),
    ("company", "employer"): (n.company, ["employed at {x}", "at the company {x}", "for {x}"]),
    ("product", "item", "article"): (n.object_, ["the item is a {x}", "one {x}", "ordered a {x}", "about the {x}"]),
    ("price", "cost", "amount"): (lambda r: r.randint(1, 999), ["for {x} euros", "the price is {x} dollars", "it costs {x} euros"]),
    ("quantity", "count", "pieces"): (lambda r: r.randint(2, 99), ["{x} pieces", "we need {x} of them", "the quantity is {x}"]),
    ("date", "day", "when"): (n.date, ["on {x}", "the date is {x}", "it happened on {x}"]),
    ("time", "hour", "start"): (n.clock, ["at {x}", "starting at {x}", "the time is {x}"]),
    ("colour", "color"): (rel.SLOTS["colour"], ["in {x}", "the colour is {x}", "painted {x}"]),
    ("order", "order_id", "id", "reference"): (n.code, ["order {x}", "reference {x}", "the number of the order is {x}"]),
    ("language",): (rel.SLOTS["language"], ["speaking {x}", "the language is {x}"]),
}


def record(r):
    """(text, {key: value}) of two to five fields; some values only stand in the text."""
    picks = r.sample(list(FIELDS.items()), r.randint(1, 4))
    values, says = {}, []
    for keys, (maker, ways) in picks:
        value = maker(r)
        values[r.choice(keys)] = value
        says.append(r.choice(ways).format(x=value))
    r.shuffle(says)
    x = r.random()
    text = ", ".join(says) if x < 0.5 else ". ".join(s[0].upper() + s[1:] for s in says) if x < 0.8 else " and ".join(says)
    return text[0].upper() + text[1:] + ".", values


# What the slot of a fact may be called.
KEYS = {
    "person": ["name", "person", "who"], "place": ["place", "city", "location"], "company": ["company", "firm"], "title": ["title", "name", "thing"], "code": ["code", "number", "id"],
    "number": ["number", "count"], "quantity": ["quantity", "amount", "value"], "year": ["year"], "date": ["date", "day"], "clock": ["time", "hour"], "price": ["price", "cost"],
    "object": ["object", "item", "thing"], "role": ["job", "profession", "role"], "colour": ["colour", "color"], "day": ["day", "weekday"], "animal": ["animal", "pet"],
    "language": ["language"], "sport": ["sport"], "instrument": ["instrument"], "material": ["material"], "building": ["building", "place"], "kin": ["relation"], "proper": ["name"],
}


def of_fact(r):
    """The slots of a fact that is told in a plain sentence."""
    text, _, entry, values = rel.fact(r)
    chosen = {}
    for slot, kind in entry[0]:
        key = r.choice(KEYS.get(kind, ["value"]))
        if key not in chosen and r.random() < 0.85:
            value = values[slot]
            chosen[key] = int(value) if value.isdigit() and not (value.startswith("0") and len(value) > 1) and kind != "code" else value
    if not chosen:
        return fields(r)
    keys = list(chosen)
    r.shuffle(keys)
    chosen = {k: chosen[k] for k in keys}
    names = ", ".join(keys[:-1]) + " and " + keys[-1] if len(keys) > 1 and r.random() < 0.5 else ", ".join(keys)
    if r.random() < 0.3:
        text = r.choice([f"{frames.frame(r)[0]} {text}", f"{text} {frames.frame(r)[0]}"])
    return [("user", r.choice(ASK).format(k=names, t=text[0].upper() + text[1:])), ("assistant", json.dumps(chosen, ensure_ascii=False))]


ASK = ["Extract {k} as JSON from this text: {t}", "Return JSON with the keys {k}.\n\n{t}", "{t}\n\nGive me {k} as JSON.", "Text: {t}\nFields: {k}\nJSON:", "Turn this into a JSON object with {k}: {t}", "Make JSON with {k} out of: {t}", "Read the text and answer with a JSON object that has {k}.\n{t}"]


def fields(r):
    text, values = record(r)
    if r.random() < 0.3:
        text += " " + frames.frame(r)[0]
    wanted = list(values)
    r.shuffle(wanted)
    if len(wanted) > 1 and r.random() < 0.3:
        wanted.pop()
    chosen = {k: values[k] for k in wanted}
    if r.random() < 0.12:
        missing = r.choice([k for keys in FIELDS for k in keys if k not in values])
        chosen[missing] = None if not any(missing in keys and any(k in values for k in keys) for keys in FIELDS) else chosen.get(missing)
        if chosen[missing] is None and any(missing in keys and any(k in values for k in keys) for keys in FIELDS):
            del chosen[missing]
    keys = ", ".join(chosen) if r.random() < 0.5 else ", ".join(f'"{k}"' for k in chosen)
    if r.random() < 0.2:
        return [("system", f"Answer with a JSON object with the keys {keys} and nothing else."), ("user", text), ("assistant", json.dumps(chosen, ensure_ascii=False))]
    return [("user", r.choice(ASK).format(k=keys, t=text)), ("assistant", json.dumps(chosen, ensure_ascii=False))]


def members(r):
    """The members of a kind that a text names."""
    one, many, words = r.choice(lex.THINGS)
    found = r.sample(words, min(len(words), r.randint(1, 4)))
    makers = ["{p} saw {x}", "There was {x} on the list", "{p} spoke about {x}", "For {p}, {x} matters most", "Nobody mentioned {x} at first", "{p} chose {x}", "Then came {x}", "{p} wrote down {x}"]
    says = [r.choice(makers).format(p=n.first(r), x=x.lower() if x[0].islower() else x) for x in found]
    other = r.choice([t for t in lex.THINGS if t[0] != one])
    mixed = list(says)
    for _ in range(r.randint(0, 2)):
        mixed.insert(r.randrange(len(mixed) + 1), r.choice(makers).format(p=n.first(r), x=r.choice([w for w in other[2] if w not in words] or ["nothing"])))
    text = ". ".join(mixed) + "."
    if r.random() < 0.4:
        text = ", ".join(m for m in [*found]) + "."
    return one, many, found, text


def collected(r):
    x = r.random()
    if x < 0.45:
        one, many, found, text = members(r)
    elif x < 0.75:
        people = [n.person(r) for _ in range(r.randint(2, 5))]
        many, found = r.choice(["people", "names", "persons"]), people
        verb = lambda: f"{r.choice(lex.VERBS)[1]} the {n.object_(r)}"
        text = " ".join(f"{p} {verb()}." for p in people) if r.random() < 0.6 else f"{', '.join(people[:-1])} and {people[-1]} {verb()}."
    else:
        found = [n.object_(r) for _ in range(r.randint(2, 5))]
        many = r.choice(["things", "items", "objects"])
        text = f"{n.person(r)} {r.choice(['bought', 'packed', 'needs', 'sold', 'found', 'wants'])} a {', a '.join(found[:-1])} and a {found[-1]}."
    as_json = r.random() < 0.6
    ask = r.choice(["List the {m} in the text as a JSON array", "Give me a JSON list of all {m}", "Which {m} are named? Answer with a JSON array", "JSON array of the {m}"] if as_json else ["List all {m} in the text", "Which {m} does the text name? One per line", "Make a list of the {m}", "Write the {m} as a list"]).format(m=many)
    answer = json.dumps(found, ensure_ascii=False) if as_json else "\n".join(f"- {x}" for x in found)
    return [("user", r.choice([f"{ask}: {text}", f"{text}\n\n{ask}.", f"{ask}.\n\n{text}"])), ("assistant", answer)]


def wrapped(r):
    """A plain answer in a form that the system message asks for."""
    text, asked, _, _ = rel.fact(r)
    question, answer = r.choice(list(asked.values()))
    key = r.choice(["answer", "result", "value", "reply", "output"])
    return [("system", f'Answer with JSON like {{"{key}": "..."}}.'), ("user", f"{text} {question}"), ("assistant", json.dumps({key: answer}, ensure_ascii=False))]


def extract(r, level=1.0):
    return Dialogue(r.choice([fields, fields, of_fact, of_fact, collected, collected, wrapped])(r), kind="extract")
