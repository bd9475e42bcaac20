"""Short articles about one subject (or two of a kind): attributes as verb phrases, composed by rule, asked in other words."""
import re

from . import lexicon as lex
from . import names as n
from .article_more import MORE
from .article_notes import NOTES
from .article_people import PEOPLE
from .article_slots import BACKGROUND, SHARED, SLOTS
from .article_topics import TOPICS

POSSESSIVE = {"it": "its", "he": "his", "she": "her"}
OBJECT = {"it": "it", "he": "him", "she": "her"}
CLOSERS = [", they say", ", as the guide tells us", ", as far as anyone remembers", ", if the records are right", ", by the way", ", of course"]
OPENERS = ["As far as we know, ", "According to the records, ", "Today, ", "In fact, ", "By the way, ", "As everybody here knows, ", "It is well known that ", "Surprisingly, ", "Please note that ", "If I remember correctly, ", "One more thing: ", "We have heard that ", "What few people know: "]


INDIRECT = ["Do you know {q}?", "I would like to know {q}.", "Can you tell me {q}?", "Please find out {q}.", "Tell me {q}.", "Could you look up {q}?", "I wonder {q}."]
REQUESTS = ["Tell me the {q}.", "Give me the {q}.", "Name the {q}.", "Find the {q}.", "I need to know the {q}.", "the {q}?"]


def recast(r, template):
    """At times a question template as a request or as an indirect question."""
    if r.random() > 0.2:
        return template
    if found := re.fullmatch(r"(?:What|Who) (?:is|was) the (.+)\?", template):
        return r.choice(REQUESTS).replace("{q}", found[1])
    if found := re.fullmatch(r"(.+?) (is|was|has|can|will) {x} (.+)\?", template):
        asked = f"{found[1][0].lower()}{found[1][1:]} {{x}} {found[2]} {found[3]}".replace("can not", "cannot")
    elif re.match(r"Who (?!is |was |did |does |has |can |will |do )", template) and "," not in template:
        asked = "who" + template[3:-1]
    else:
        return template
    return r.choice(INDIRECT).replace("{q}", asked)


class Question(str):
    """A question that knows its subject: `named` asks by the name, `later` with a pronoun; `loose` if the text does not name the subject."""

    def __new__(cls, text, kind="", about="", named=None, later=None, loose=False):
        out = super().__new__(cls, text)
        out.kind, out.about, out.named, out.later, out.loose = kind, about, named or text, later, loose
        return out


class Kind:
    """A kind of subject, read from its lines: head, then one attribute a line."""

    def __init__(self, text):
        head, *lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
        self.noun, pronoun, names, intro, *asked = head.split(" # ")
        self.pronoun, _, self.be = pronoun.partition("/")
        self.be = self.be or "is"
        self.names = names.split("|")
        self.intro = (intro.split("|"), dict(a.split(": ", 1) for a in asked if not a.endswith(": -"))) if intro != "-" else None
        self.attributes = []
        for line in lines:
            for one in SHARED[line[1:]].strip().split("\n") if line.startswith("@") else [line]:
                wordings, *asked = one.strip().split(" # ")
                self.attributes.append((wordings.split("|"), dict(a.split(": ", 1) for a in asked if not a.endswith(": -"))))
        self.free = all(w.startswith("=") for ws, _ in self.attributes for w in ws)


KINDS = [Kind(text) for text in (TOPICS + MORE + PEOPLE + NOTES).strip().split("\n\n") if text.strip()]


def several(noun):
    return {"species": "species", "volcano": "volcanoes"}.get(noun) or n.plural(noun)


def upper(text):
    return text[:1].upper() + text[1:]


def slots(template):
    return [s for s in re.findall(r"{(\w+)}", template) if s not in ("x", "m", "its")]


class Subject:
    """One subject of a kind, with values that are nowhere else in the article."""

    def __init__(self, r, kind, taken):
        self.r, self.kind, self.taken = r, kind, taken
        self.pronoun = r.choice(["he", "she"]) if kind.pronoun == "person" else kind.pronoun
        self.told = set()
        self.name = self.fill(r.choice(kind.names), {}).replace("the The ", "the ").replace("The The ", "The ")
        self.the = f"the {kind.noun}"

    def value(self, slot):
        draw = SLOTS[slot.rstrip("0123456789")]
        for _ in range(9):
            value = draw(self.r)
            if value.lower() not in self.taken:
                break
        self.taken.add(value.lower())
        return value

    def fill(self, template, values, x="", whose=None):
        """The template with new values, which are added to `values`."""
        for slot in slots(template):
            if slot not in values:
                values[slot] = self.value(slot)
        for slot, value in {**values, "x": x, "m": x, "its": whose or POSSESSIVE.get(x, "")}.items():
            if value[:1].lower() in "aeiou":
                template = re.sub(r"\b([Aa]) {" + slot + "}", r"\1n {" + slot + "}", template)
            template = template.replace("{" + slot + "}", value)
        return template

    def asks(self, template, values, alone=True):
        """The question by name, by kind and by pronoun."""
        template = recast(self.r, template)

        def ask(x, m, its):
            text = template
            for slot, value in {**values, "x": x, "m": m, "its": its}.items():
                text = text.replace("{" + slot + "}", value)
            return upper(text)
        # A possessive beside the subject is a pronoun.
        twice = POSSESSIVE[self.pronoun] if re.search(r"{[xm]}.*{its}", template) else None
        named = ask(self.name, self.name, twice or f"{self.name}'s")
        bare = not re.search(r"{(x|m|its)}", template)
        bykind = ask(self.the, self.the, twice or f"{self.the}'s")
        loose = bare or (alone and self.r.random() < 0.42)
        later = None if bare else ask(self.pronoun, OBJECT[self.pronoun], POSSESSIVE[self.pronoun])
        later = None if later and re.search(r"^(What|Who) (is|was) (it|he|she)\?| (of|at|on) it\b", later) else later
        return Question(bykind if loose else named, self.kind.noun, self.name, named, later, loose)


class Draft:
    """The article as it grows: sentences with their questions."""

    def __init__(self, r):
        self.r, self.found = r, []

    def add(self, text, told, alone=True):
        text = upper(text.strip())
        text = text if text.endswith((".", "!", "?", '."')) else text + "."
        asked = []
        for subject, questions, values in told:
            subject.told |= {(id(questions), slot) for slot in values}
            for slot, wordings in questions.items():
                if slot not in values:
                    continue
                answer = values[slot] if values[slot] in text else upper(values[slot])
                if answer in text:
                    options = [w for w in wordings.split("|") if all(s in values and s != slot for s in slots(w))]
                    asked += [(subject.asks(w, values, alone), answer) for w in self.r.sample(options, min(2, len(options)))]
        self.found.append((text, asked, []))


def dropped(vp):
    """A verb phrase as an opening without its verb, or None."""
    if re.search(r" but |;| and |, |\bnot?\b", vp):
        return None
    for start in ("was ", "is "):
        if vp.startswith(start) and not vp.startswith((start + "a ", start + "to ")):
            return vp[len(start) :]
    return "with " + vp[4:] if re.match(r"has (?!been|to|had|no |never|its|become|always|worked|\w+ed )", vp) else None


def fronted(wording):
    """`was built by {person} in {year}` as (`in {year}`, `was built by {person}`), or None."""
    found = re.fullmatch(r"([^,;]+?) ((?:in|on|at|since) {(?:year|date|month|day|clock|time)\d?})", wording)
    return (found[2], found[1]) if found and " and " not in found[1] and " but " not in found[1] else None


def mention(r, subject, plain=False):
    x = r.random()
    if x < 0.05 and not plain:
        return f"this {subject.kind.noun}"
    return subject.name if x < 0.2 else subject.the if x < 0.55 or plain else subject.pronoun


def phrase(r, subject, attribute):
    """(wording, verb phrase, what it tells)"""
    wordings, questions = attribute
    wording, values = r.choice(wordings), {}
    vp = subject.fill(wording, values, whose=POSSESSIVE[subject.pronoun])
    return wording, vp, (subject, questions, values)


def which(subject):
    return "which" if subject.pronoun == "it" else "who"


def joined(r, subject, s, a, b):
    """Two verb phrases of one subject in one sentence."""
    it = subject.pronoun
    opening = dropped(a)
    x = r.random()
    if opening and x < 0.4:
        return f"{opening}, {s} {b}"
    if x < 0.55 and s != it and not re.search(r" but |, |;", a):
        return f"{s}, {which(subject)} {a}, {b}"
    if x < 0.62 and " but " not in b:
        return f"{r.choice(['although', 'while', 'even though'])} {s} {a}, {it} {b}"
    if x < 0.66 and " but " not in a + b:
        return f"{s} {a}, but {it} {b}"
    if x < 0.8 or " and " in a or "," in a:
        return f"{s} {a}{r.choice(['; ', ', and '])}{it} {b}"
    return f"{s} {a} and {b}"


def lead(r, draft, subject, rest):
    """The first sentence says what it is."""
    np, (_, questions, values) = phrase(r, subject, subject.kind.intro)[1:]
    name, told, x = subject.name, [(subject, {"np": f"{'Who' if subject.pronoun != 'it' else 'What'} {subject.kind.be} {{x}}?", **questions}, {**values, "np": np})], r.random()
    b = None
    if rest and x < 0.7 and not rest[0][0][0].startswith("="):
        wording, b, more = phrase(r, subject, rest.pop(0))
        told.append(more)
    if not b:
        text = f"{name} {subject.kind.be} {np}" if r.random() < 0.8 or subject.pronoun != "it" else f"{r.choice(['this is about', 'here is what we know about'])} {name}, {np}"
    elif x < 0.25:
        text = f"{name}, {np}, {b}"
    elif x < 0.38:
        text = f"{np}, {name} {b}"
    elif x < 0.55 and not re.search(r" but |;", b):
        text = f"{name} {subject.kind.be} {np}, and {subject.pronoun} {b}"
    else:
        text = f"{dropped(b)}, {name} {subject.kind.be} {np}" if dropped(b) and r.random() < 0.6 else f"{name} {subject.kind.be} {np}; {subject.pronoun} {b}"
    # What it is gets asked by name only: the kind would give the answer away.
    draft.add(text, told[1:])
    extra = Draft(r)
    extra.add(text, told[:1], alone=False)
    draft.found[-1] = (draft.found[-1][0], extra.found[0][1] + draft.found[-1][1], [])


def step(r, draft, subject, rest, quoted):
    """One more sentence from the next one or two attributes; true if somebody was quoted."""
    wording, a, told = phrase(r, subject, rest.pop(0))
    s = mention(r, subject) if draft.found else subject.name
    if wording.startswith("="):
        draft.add(subject.fill(wording[1:], told[2], s if "{m}" not in wording else subject.the, f"{s}'s" if s != subject.pronoun else POSSESSIVE[s]), [told])
        return quoted
    if rest and not rest[0][0][0].startswith("=") and r.random() < 0.5:
        _, b, more = phrase(r, subject, rest.pop(0))
        draft.add(joined(r, subject, s, a, b), [told, more])
        return quoted
    front = fronted(wording)
    x = r.random()
    if front and x < 0.5:
        early, late = (subject.fill(part, told[2], whose=POSSESSIVE[subject.pronoun]) for part in front)
        draft.add(f"{early}{r.choice([',', ',', ''])} {s} {late}", [told])
    elif not quoted and x < 0.62 and len(a.split()) < 14:
        who, role = subject.value("person"), r.choice(lex.ROLES)
        by = r.choice([f"says {who}, {n.an(role)}", f"said {who}", f"explains the {role} {who}", f"{who} told us"])
        draft.add(f'"{upper(s)} {a}," {by}', [told, (subject, {"who": "Who is quoted?|Whose words are quoted in the text?|Which person speaks about {x}?|Who made a remark about {x}?"}, {"who": who})])
        return True
    elif not quoted and x < 0.68:
        draft.add(f"{r.choice(['according to {w}, {s} {a}', '{w} says that {s} {a}', '{w} has told us that {s} {a}'])}".format(w=subject.value("person"), s=s, a=a), [told])
        return True
    elif s != subject.pronoun and x < 0.74:
        draft.add(f"{r.choice(['what is special about', 'a fact about', 'one thing to know about', 'what people like to mention about'])} {s} is that {subject.pronoun} {a}", [told])
    else:
        draft.add((r.choice(OPENERS) if x > 0.9 else "") + f"{s} {a}" + (r.choice(CLOSERS) if 0.82 < x < 0.9 else ""), [told])
    return quoted


def missing(r, subject, attributes, alone):
    """Questions about what the article does not tell of a subject."""
    left = [w for _, questions in attributes for slot, ws in questions.items() if (id(questions), slot) not in subject.told for w in ws.split("|") if not slots(w)]
    return [subject.asks(w, {}, alone) for w in r.sample(left, min(3, len(left)))]


def single(r, kind, count, introduced):
    subject, draft = Subject(r, kind, set()), Draft(r)
    rest = r.sample(kind.attributes, min(len(kind.attributes), 2 * count))
    if kind.free:
        rest.sort(key=kind.attributes.index)
    quoted = False
    if kind.intro and (introduced or r.random() < 0.8 or kind.noun not in subject.name):
        lead(r, draft, subject, rest)
    elif not kind.intro:
        draft.add(r.choice(["what follows is taken from {x}", "I have {x} before me", "parts of {x} follow", "somebody gave me {x} to read", "I quote from {x}"]).replace("{x}", subject.name), [])
        count += 1
    while rest and len(draft.found) < count:
        if draft.found and not kind.free and r.random() < 0.07:
            draft.add(subject.fill(r.choice(BACKGROUND), {}, mention(r, subject, True)), [])
        else:
            quoted = step(r, draft, subject, rest, quoted)
    return draft.found, [(subject, kind.attributes, True)]


def pair(r, kind, count):
    """Two of a kind, told apart by their names."""
    taken = set()
    a, b = Subject(r, kind, taken), Subject(r, kind, taken)
    draft = Draft(r)
    usable = [attribute for attribute in kind.attributes if not attribute[0][0].startswith("=")]
    if r.random() < 0.4:
        draft.add(r.choice(["there are two {k}: {a} and {b}", "{a} and {b} are two {k}", "we compared two {k}, {a} and {b}"]).format(k=several(kind.noun), a=a.name, b=b.name), [])
    named = bool(draft.found) and r.random() < 0.5
    for wordings, questions in r.sample(usable, min(len(usable), max(1, count - 1))):
        wording = r.choice(wordings)
        va, vb = {}, {}
        p, q = a.fill(wording, va, whose=POSSESSIVE[a.pronoun]), b.fill(wording, vb, whose=POSSESSIVE[b.pronoun])
        told = [(a, questions, va), (b, questions, vb)]
        x = r.random()
        if x < 0.2:
            draft.add(f"{a.name} {p}", told[:1], False)
            if x < 0.12:
                draft.add(f"{b.name} {q}", told[1:], False)
        else:
            forms = ["{a} {p}, while {b} {q}", "{a} {p}; {b} {q}", "{b} {q}, and {a} {p}", "{a} {p}, whereas {b} {q}", "{a} {p}, but {b} {q}"][: 4 if " but " in p else 5]
            forms += ["unlike {b}, {w} {q}, {a} {p}"] if not re.search(r"[,;]| but ", q) else []
            if named and r.random() < 0.3:
                forms = ["the former {p}, while the latter {q}", "the first of them {p}, the second {q}", "the former {p}; the latter {q}"]
            draft.add(r.choice(forms).format(a=a.name, b=b.name, p=p, q=q, w=which(b)), told, False)
        if r.random() < 0.4 and a.name in (last := draft.found[-1][0].replace(upper(a.name), a.name)) and b.name in last.replace(upper(b.name), b.name) and p != q:
            text, asked, _ = draft.found[-1]
            for subject, vp in ((a, p), (b, q)):
                ask = r.choice([f"Which of the two {several(kind.noun)} {vp}?", f"Which {kind.noun} {vp}?"])
                asked.append((Question(ask, kind.noun, subject.name, loose=True), subject.name if subject.name in text else upper(subject.name)))
        if len(draft.found) >= count:
            break
    return draft.found, [(a, usable, False), (b, usable, False)]


def article(r, level=1.0, introduced=False):
    """A list of (sentence, [(question, answer)], [missing questions])."""
    kind = r.choice([k for k in KINDS if k.intro] if introduced else KINDS)
    count = r.choice([1, 1, 1, 2]) if level < 0.1 else r.randint(1, 2) if level < 0.3 else r.randint(1, 2 + round(1.5 * level)) if level < 0.5 else r.randint(2, 2 + round(5 * level * r.random()))
    plain = [a for a in kind.attributes if not a[0][0].startswith("=")]
    two = not introduced and kind.pronoun in ("it", "person") and len(plain) > 3 and r.random() < 0.2
    found, subjects = pair(r, kind, count) if two else single(r, kind, count, introduced)
    lacking = [q for subject, attributes, alone in subjects for q in missing(r, subject, attributes, alone)]
    text, asked, _ = found[-1]
    return [*found[:-1], (text, asked, lacking)]
