"""Lists and JSON from text."""
import json
import re

from .. import frames, pages, papers
from .. import lexicon as lex
from .. import names as n
from .. import relations as rel
from ..chat import Dialogue, dumps
from ..label_topics import apart
from ..prose_records import prose
from ..records import MAKERS, joined, told

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
        if key not in chosen and values[slot] in text and r.random() < 0.85:
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
    other = r.choice([t for t in lex.THINGS if t[0] != one and apart([one, t[0]], lex.MIXED)])
    mixed = list(says)
    for _ in range(r.randint(0, 2)):
        mixed.insert(r.randrange(len(mixed) + 1), r.choice(makers).format(p=n.first(r), x=r.choice([w for w in other[2] if w not in words] or ["nothing"])))
    text = ". ".join(mixed) + "."
    if r.random() < 0.4:
        named = [*found, *r.sample([w for w in other[2] if w not in words], r.randint(0, 2))] if len(other[2]) > 4 and not set(words) & set(other[2]) else list(found)
        r.shuffle(named)
        found = [w for w in named if w in found]
        text = r.choice(["{x}.", "On the table in {l} lay pictures of {x}.", "{p} said: {x}.", "The words on the card are {x}.", "{p} wrote {x} on the board.", "We talked about {x}.", "{p} can name {x}."]).format(x=joined(named), p=n.person(r), l=n.place(r))
    return one, many, found, text


def listed(r, many, found):
    """(the order to list them, the answer) as JSON or in another form."""
    form = r.choice(["json", "json", "json", "- ", "- ", "1. ", "1. ", "; ", "; " if any("," in x for x in found) else ", ", "; " if any("," in x for x in found) else ", "]) if found else "json"
    wanted = {"json": "as a JSON array", "- ": "as bullet points", "1. ": "as a numbered list", ", ": "separated by commas", "; ": "separated by semicolons"}[form]
    ask = r.choice(["List the {m} in the text {w}", "Give me all {m} {w}", "Which {m} stand in the text? Answer {w}", "Write the {m} of the text {w}", "Find all {m} and put them down {w}", "Output the {m} {w}", "{m}, {w}, please"]).format(m=many, w=wanted)
    found = [x for i, x in enumerate(found) if x not in found[:i]]
    answer = dumps(found) if form == "json" else "\n".join(f"- {x}" for x in found) if form == "- " else "\n".join(f"{i + 1}. {x}" for i, x in enumerate(found)) if form == "1. " else form.join(found)
    return frames.upper(ask), answer


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
        text = f"{n.person(r)} {r.choice(['bought', 'packed', 'needs', 'sold', 'found', 'wants'])} {joined([n.an(x) for x in found])}."
    order, answer = listed(r, many, found)
    return given(r, order, text, answer)


# What texts mention, by kind: (names of the kind, how one is drawn), and sentences with `{kind}`.
MENTIONED = {
    "p": ("people,persons,names", n.person), "l": ("places,towns,cities", n.place), "co": ("companies,firms", n.company), "da": ("dates", n.day), "m": ("prices,amounts of money,sums", n.price), "e": ("email addresses,emails,mail addresses", MAKERS["email"]), "ph": ("phone numbers,telephone numbers", MAKERS["phone"]), "t": ("times,times of day", n.clock), "c": ("codes,order numbers", n.code),
}
MENTIONS = [
    "{p} met {p} in {l}.", "{p} went from {l} to {l}.", "{co} opened an office in {l} on {da}.", "{p} left {co} for {co}.", "{p} paid {m} for the trip to {l}.", "Write to {e} or call {ph}.", "{p} ({e}) and {p} ({e}) will reply.", "The shop opens at {t} and shuts at {t}.", "We met on {da} and again on {da}.", "{co} bought {co} for {m}.",
    "It cost {m} in {l}, but only {m} in {l}.", "Order {c} came, order {c} did not.", "{p} ordered {c} on {da}.", "My number is {ph}, at work it is {ph}.", "{p} and {p} work for {co}.", "The train leaves {l} at {t} and is in {l} at {t}.", "On {da}, {p} moved to {l}.", "Nobody was at home.", "The weather was fine.", "{p} wrote to {e} twice.",
]


def mentions(r):
    """What a text mentions of one kind, or of two kinds in an object; nothing may be an empty array."""
    found = {kind: [] for kind in MENTIONED}

    def put(match):
        found[match[1]].append(MENTIONED[match[1]][1](r))
        return found[match[1]][-1]

    text = " ".join(frames.upper(re.sub(r"{(\w+)}", put, s)) for s in r.sample(MENTIONS, r.randint(1, 3)))
    here = [kind for kind in found if found[kind]]
    if any(len(set(v)) < len(v) for v in found.values()) or not here:
        return mentions(r)
    picks = r.sample(here, min(len(here), r.choice([1, 1, 1, 2])))
    if r.random() < 0.1:
        picks.append(r.choice([kind for kind in ("e", "ph", "m", "c") if kind not in here] or picks[:1]))
    picks = list(dict.fromkeys(picks))
    many = [r.choice(MENTIONED[kind][0].split(",")) for kind in picks]
    if len(picks) > 1:
        keys = [m.replace(" ", "_") for m in many]
        order = r.choice([f"Return JSON with the keys {joined(keys)}, each an array", f"Fill in {dumps({k: [] for k in keys})}", f"Which {joined(many)} does the text name? Answer as {dumps({k: ['...'] for k in keys})}", f"JSON object with arrays {', '.join(keys)}"])
        return given(r, order, text, dumps({k: found[kind] for k, kind in zip(keys, picks)}))
    order, answer = listed(r, many[0], found[picks[0]])
    return given(r, order, text, answer)


ORDERS = ["Extract {k} as JSON", "Return a JSON object with the keys {k}", "Give me {k} as JSON", "JSON with {k}, please", "Fill in {k} as a JSON object", "Answer in JSON with {k}", "I need {k} from this {d} as JSON", "Pull {k} out of the {d}, as JSON"]
LISTED = ["Extract these fields as JSON:\n{k}", "Keys:\n{k}\nAnswer with JSON only.", "Make a JSON object of this {d} with\n{k}", "Return JSON with the following keys:\n{k}", "Fields wanted (JSON):\n{k}"]
SHAPED = ["Fill in this JSON:\n{k}", "Use exactly this form:\n{k}", "Answer with JSON of this shape:\n{k}", "Output format: {k}", "Turn the {d} into JSON like {k}"]
NULLS = ["Use null for what is missing.", "Put null where the text says nothing.", "Unknown values are null.", "If a value is not stated, write null."]
# What is true or false and can be left open beside the rest.
OPEN = {"married", "insured", "balcony", "waterproof", "fragile", "vaccinated", "damaged", "reproducible"}
TYPES = {"i": "number", "f": "number", "m": "number", "year": "number", "e_int": "number", "b": "boolean", "list": "array"}


def wish(r, domain, asked):
    """How the keys are asked for: named in a row, in lines, explained, as a skeleton, with types. `asked` is [(key, names, kind)]."""
    keys = [key for key, _, _ in asked]
    kinds = [TYPES.get(kind.split()[0], "string") for _, _, kind in asked]
    x = r.random()
    if x < 0.45:
        keys = [f'"{key}"' for key in keys] if r.random() < 0.3 else keys
        return r.choice(ORDERS).format(k=joined(keys) if r.random() < 0.5 else ", ".join(keys), d=domain)
    if x < 0.62:
        return r.choice(LISTED).format(k="\n".join(f"- {key}" for key in keys), d=domain)
    if x < 0.72:
        sense = [r.choice([name for name in names if name != key] or [key]).replace("_", " ") for key, names, _ in asked]
        return r.choice(LISTED).format(k="\n".join(f"{key}: {what}" for key, what in zip(keys, sense)), d=domain)
    if x < 0.86:
        empty = {"string": "", "number": r.choice([0, None]), "boolean": r.choice([False, None]), "array": []} if r.random() < 0.5 else dict.fromkeys(("string", "number", "boolean", "array"), r.choice(["", "...", None]))
        return r.choice(SHAPED).replace("{k}", dumps({key: empty[kind] for key, kind in zip(keys, kinds)})).replace("{d}", domain)
    if x < 0.97 or len(keys) > 3:
        return r.choice(SHAPED).replace("{k}", dumps(dict(zip(keys, kinds)))).replace("{d}", domain)
    return "Answer with JSON for this schema: " + dumps({"type": "object", "properties": {key: {"type": kind} for key, kind in zip(keys, kinds)}})


def paper(r):
    """Some fields of a record in natural sentences, null for what they do not state."""
    domain, text, stated, unstated = told(r, r.choice([1, 1, 1, 2, 2, 3]))
    asked = [(names, kind, value) for names, kind, value in r.sample(list(stated.values()), r.randint(1, min(5, len(stated))))]
    open_ = [(names, kind) for names, kind in unstated if kind[0:2] != "b " or names[0] in OPEN]
    missing = 0 if r.random() < 0.7 or domain == "log line" else r.choice([1, 1, 2])
    asked += [(names, kind, None) for names, kind in r.sample(open_, min(missing, len(open_)))]
    r.shuffle(asked)
    keys = list(dict.fromkeys(r.choice(names) for names, _, _ in asked))
    if len(keys) < len(asked):
        return paper(r)
    answer = {key: value for key, (_, _, value) in zip(keys, asked)}
    order = wish(r, domain, [(key, names, kind) for key, (names, kind, _) in zip(keys, asked)])
    order += r.choice(["", ".", "."]) if order[-1].isalpha() and "\n" not in order else ""
    if r.random() < (0.7 if missing else 0.08):
        order += ("\n" if "\n" in order else " " if order[-1] in ".}" else ". ") + r.choice(NULLS)
    if r.random() < 0.1 and len(answer) == 2 and not missing:
        outer = domain.replace(" ", "_")
        order, answer = f"Return JSON like {dumps({outer: dict.fromkeys(answer, '')})}.", {outer: answer}
    return given(r, order, text, dumps(answer))


def given(r, order, text, answer):
    """Order and text in one message, in either order, or the order as the system message."""
    if r.random() < 0.2:
        return [("system", order), ("user", text), ("assistant", answer)]
    stop = "" if order[-1] in ".]}?!:" or "\n" in order else ":"
    return [("user", r.choice([f"{order}{stop}\n\n{text}", f"{order}{stop}\n{text}", f"{text}\n\n{order}", f"Text: {text}\n\n{order}", f'{order}{stop}\n"{text}"' if '"' not in text else f"{order}\n{text}"])), ("assistant", answer)]


# (what they are, the keys with their kinds, how one of them is told)
ROWS = [
    ("person", [("name,person", n.person), ("age,years", lambda r: r.randint(3, 96))], "{0} is {1}|{0} ({1})|{0} is {1} years old|{0} turned {1}"),
    ("person", [("name,person,who", n.person), ("town,city,place", n.place)], "{0} lives in {1}|{0} comes from {1}|{0} moved to {1}"),
    ("person", [("name,who", n.person), ("job,role", lambda r: r.choice(lex.ROLES))], "{0} works as a~{1}|{0} is a~{1}|{0} was hired as a~{1}"),
    ("article", [("item,article,name", n.object_), ("quantity,count,pieces", lambda r: r.randint(2, 60))], "{1} pieces of the {0}|{0}: {1}|{0} x {1}"),
    ("article", [("item,product,name", n.object_), ("price,cost", lambda r: r.randint(2, 900))], "the {0} costs {1} euros|the {0} is {1} euros|{0} for {1} euros"),
    ("town", [("city,town,name", n.place), ("temperature,degrees", lambda r: r.randint(1, 38))], "{1} degrees in {0}|{0} has {1} degrees"),
    ("team", [("team,name,club", n.proper), ("points,score", lambda r: r.randint(1, 99))], "{0} has {1} points|{0} got {1} points|{1} points for {0}"),
    ("meeting", [("day,weekday", lambda r: r.choice(lex.DAYS)), ("time,hour", n.clock)], "on {0} at {1}|{0}, {1}|{0} from {1} on"),
    ("book", [("title,book", n.title), ("author,writer", n.person)], "{0} by {1}|{1} wrote {0}"),
]


def rows(r):
    """An array with one object for each of them."""
    what, columns, wordings = r.choice(ROWS)
    keys = [r.choice(names.split(",")) for names, _ in columns]
    found = {}
    for _ in range(r.randint(2, 4)):
        made = [make(r) for _, make in columns]
        found.setdefault(str(made[0]), made)
    wording = r.choice(wordings.split("|"))
    say = lambda made: wording.replace("a~{1}", n.an(str(made[1]))).format(*made)
    parts = [say(made) for made in found.values()]
    text = (joined(parts) if r.random() < 0.6 else "; ".join(parts) if r.random() < 0.5 else ". ".join(frames.upper(p) for p in parts)) + "."
    many = {"person": "people"}.get(what, what + "s")
    order = r.choice([f"List every {what} with {keys[0]} and {keys[1]} as a JSON array of objects", f"JSON array of objects with {keys[0]} and {keys[1]}", f"Turn this into a list of {dumps(dict.fromkeys(keys, ''))}", f"Give me all {many} as JSON: [{dumps(dict.fromkeys(keys, '...'))}]", f"Extract the {many} as an array of objects with the keys {keys[0]}, {keys[1]}"])
    return given(r, order, frames.upper(text), dumps([dict(zip(keys, made)) for made in found.values()]))


def wrapped(r):
    """A short question about a sentence, answered in the form that the message shows."""
    x = r.random()
    key = r.choice(["answer", "result", "value", "reply", "output", "response", "text", n.word(r)])
    if x < 0.4:
        text, asked, _, _ = rel.fact(r)
        question, answer = r.choice(list(asked.values()))
    elif x < 0.8:
        text, asked, _ = frames.frame(r)
        if not asked:
            return wrapped(r)
        question, answer = r.choice(asked)
    else:
        _, text, stated, _ = told(r, 1)
        names, kind, answer = r.choice(list(stated.values()))
        question = r.choice([f"What is the {names[0]}?", f"{names[0]}?", f"Tell me the {names[0]}."]).replace("_", " ")
    if isinstance(answer, (bool, list)):
        return wrapped(r)
    form = r.choice([f'{{"{key}": "..."}}', f'{{"{key}": ""}}', f'{{"{key}": "<{key}>"}}', f'{{"{key}": null}}'])
    answer = {key: answer if "null" in form else str(answer)}
    if r.random() < 0.12:
        form, answer = form[:-1] + ', "ok": true}', {**answer, "ok": True}
    order = r.choice(["Answer with JSON like {}.", "Always reply in the form {}", "Output only JSON: {}", "Your answers have this form: {}", "Respond with {} and nothing else.", "Use the JSON format {} for every answer."]).replace("{}", form, 1)
    if r.random() < 0.75:
        return [("system", order), ("user", r.choice([f"{text} {question}", f"{text}\n\n{question}", f"{question}\n{text}"])), ("assistant", dumps(answer))]
    return [("user", f"{text}\n{question}\n{order}"), ("assistant", dumps(answer))]


PLAIN = [
    "Extract {k} as JSON", "Give me a JSON object with {k}", "Give me {k} as a JSON object", "I want a JSON object with {k}", "Write {k} as JSON", "Read this and give me {k} in JSON", "Find {k} and answer in JSON", "Please put {k} into a JSON object",
    "Which {k} does the text name? Answer as JSON", "Make a JSON object with the keys {k}", "From the following text, extract {k} as JSON", "Only JSON: {k}", "Convert to JSON with {k}", "Get {k} out of this text and return JSON",
]
SHAPES = ["Fill in: {k}", "Answer in the form {k}", "Fill this JSON from the text: {k}", "Return {k} with the values filled in", "Complete {k}", "Use this JSON: {k}", "Give me {k} for this text"]


def sheet(r):
    """A hand-written page as `prose` gives its records: (domain, text, stated, unstated). The names of its spans are the keys."""
    page = pages.page(r)
    stated = {name: (spelled(name), *number(value)) for name, value in page.spans.items()}
    return "text", page.text, stated, [(spelled(name), "s") for name in page.gone]


def spelled(name):
    """The ways to write a key, the usual one first."""
    head, *rest = name.split("_")
    return [name, name, name, head + "".join(part.capitalize() for part in rest)]


def number(text):
    """(kind, value) of a span: numbers are no strings."""
    if re.fullmatch(r"0|[1-9]\d{0,8}", text):
        return "i", int(text)
    return ("f", float(text)) if re.fullmatch(r"\d+\.\d+", text) and text.count(".") == 1 and text[-1] != "0" else ("s", text)


def plain(r, source=prose):
    """Some facts of plain prose, asked for in running words or as a shape; null only where the request allows it."""
    _, text, stated, unstated = source(r)
    if not stated:
        return plain(r, source)
    asked = r.sample(list(stated.values()), r.randint(1, min(4, max(1, len(stated) - (r.random() < 0.8)))))
    open_ = [(names, kind, None) for names, kind in unstated if kind[:2] != "b " or names[0] in OPEN]
    missing = r.sample(open_, 1) if open_ and r.random() < 0.22 else []
    asked += missing
    r.shuffle(asked)
    picked = [(r.choice(names), names, kind) for names, kind, _ in asked]
    answer = {key: value for (key, _, _), (_, _, value) in zip(picked, asked)}
    if len(answer) < len(asked) or any(value is None and key in names for key, value in answer.items() for names, _, _ in stated.values()):
        return plain(r, source)
    x = r.random()
    if missing and x < 0.4:
        order = r.choice(SHAPES).replace("{k}", dumps(dict.fromkeys(answer)))
    elif not missing and x < 0.15:
        order = r.choice(SHAPES).replace("{k}", dumps(dict.fromkeys(answer, r.choice(["", "...", None]))))
    elif not missing and x < 0.4:
        order = wish(r, "text", picked)
    else:
        words = [f'"{key}"' for key in answer] if r.random() < 0.35 else list(answer)
        order = r.choice(PLAIN).format(k=joined(words) if r.random() < 0.65 else ", ".join(words))
        order += f". {r.choice(NULLS)}" if missing else ""
    if "\n" not in order and '"' not in order and not missing and r.random() < 0.4:
        return [("user", f"{order}: {text}"), ("assistant", dumps(answer))]
    return given(r, order, text, dumps(answer))


def ordered(r):
    """What a hand-written order asks of its text."""
    system, order, text, answer = papers.asked(r)
    return [("system", order), ("user", text), ("assistant", answer)] if system else given(r, order, text, answer)


def extract(r, level=1.0):
    x = r.random()
    if x < 0.6:
        return Dialogue(ordered(r), kind="extract")
    if x < 0.85:
        return Dialogue(plain(r, sheet if x < 0.77 else prose), kind="extract")
    return Dialogue(r.choice([paper, paper, paper, paper, fields, of_fact, collected, mentions, rows, wrapped, wrapped])(r), kind="extract")
