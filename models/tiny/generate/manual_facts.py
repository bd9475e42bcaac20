"""Facts of manuals and the subjects that they are told of, with the questions that a text answers and those that it does not."""
import re

from .articles import Question
from .manual_devices import DEVICES, ROWS
from .manual_programs import PROGRAMS
from .manual_services import SERVICES
from .manual_values import NOUNS, TOOLS, TWINS, fill, host, name

ASKED_BY_NAME = ["What is the {n}{of}?", "{n}{of}?", "Tell me the {n}{of}.", "Do you know the {n}{of}?", "I need the {n}{of}.", "the {n}{of}, please", "Give me the {n}{of}.", "Could you look up the {n}{of}?"]


class Fact:
    """A kind of fact, read from its lines."""

    def __init__(self, text):
        head, *lines = text.strip().split("\n")
        self.name, self.scopes, self.section, rest = [part.strip() for part in head.split("#")]
        self.values, self.ask, parts = {}, {"v": []}, {}
        for line in lines:
            mark, told = line.split(" ", 1)
            options = told.removeprefix("= ").split("|")
            if mark in "vau":
                self.values[mark] = options
            elif mark[0] == "?":
                self.ask[mark[1:] or "v"] = options
            else:
                parts[mark] = options
        self.prose, self.labels, self.keys, self.comments, self.loose = (parts.get(mark, []) for mark in (">", "-", "=", "$", "~"))
        self.frames = [(frame.replace("What is", "What are") if re.search(r"(formats|requirements|prerequisites|platforms|systems|colou?rs|terms of use|contents of the box)$", noun) else frame).replace("{n}", noun) for noun in parts.get("@", []) for frame in ASKED_BY_NAME]
        self.is_row = "a" in self.values
        self.columns, self.group = (rest.split("/"), self.name) if self.is_row else ([], rest or self.name)
        self.coded = any("{c}" in wording for wording in self.prose)

    def wordings(self, r, slot, loose):
        """How a value may be asked for, mostly in other words than its name; `loose` if nothing else of the group is told."""
        if slot != "v":
            return self.ask[slot]
        return self.ask["v"] + r.sample(self.frames, min(3, len(self.frames))) + (self.loose if loose else [])


FACTS = [Fact(text) for text in re.split(r"\n(?=\w+ # )", (PROGRAMS + SERVICES + DEVICES + ROWS).strip())]


def twins(fact, names):
    """Whether one of these facts answers questions for this one too."""
    return any(fact.name in pair and (pair - {fact.name}) & names for pair in TWINS)


class Subject:
    """One program, service or device, with what is told of it; `taken` holds the values of the whole text."""

    def __init__(self, r, scope, taken):
        self.r, self.scope, self.taken, self.told = r, scope, taken, []
        self.noun = r.choice(NOUNS[scope])
        while (chosen := name(r, scope)).lower() in taken:
            pass
        self.name = chosen
        taken.add(chosen.lower())
        slug = re.sub(r"[^a-z0-9]+", "-", chosen.lower())
        self.fixed = {"slug": slug, "t": r.choice([*TOOLS, f"./{slug}", f"python -m {slug}"]), "host": host(r), "noun": self.noun, "name": chosen}

    @property
    def names(self):
        return {fact.name for fact, _ in self.told}

    def value(self, options):
        """A value that is nowhere else in the text."""
        for _ in range(12):
            drawn = fill(self.r, self.r.choice(options), self.fixed)
            if drawn.lower() not in self.taken:
                break
        self.taken.add(drawn.lower())
        return drawn

    def tell(self, count):
        """Draws what is told: near each other what may be mistaken for each other."""
        fitting = [fact for fact in FACTS if self.scope in fact.scopes]
        while count > 0:
            near = [fact for fact in fitting if any(fact.group == told.group or fact.section == told.section for told, _ in self.told)]
            fact = self.r.choice(near if near and self.r.random() < 0.6 else fitting)
            if fact.name in self.names or twins(fact, self.names):
                count -= 0.3
                continue
            for _ in range(self.r.randint(2, 4) if fact.is_row else 1):
                self.told.append((fact, {slot: self.value(options) for slot, options in fact.values.items()}))
                count -= 1

    def mention(self, wording, first, several):
        """The name, or at the start of a later sentence a pronoun."""
        if (first and several) or self.r.random() < 0.4:
            return self.name
        return "It" if wording.startswith("{x}") and not first and self.r.random() < 0.6 else ("The " if wording.startswith("{x}") else "the ") + self.noun


def put(template, values, x, prepositions=True):
    """The question about x; its `{of}`, `{for}` and so on may be left out."""
    for slot, value in values.items():
        template = template.replace("{" + slot + "}", value)
    template = template.replace("{x}", x)
    return re.sub(r"{(\w+)}", rf" \1 {x}" if prepositions else "", template)


def question(r, subject, template, values, bare):
    """A question by name, or where the name may be left out by noun or pronoun."""
    named = put(template, values, subject.name)
    later = put(template, values, "it", not bare)
    later = later[0].upper() + later[1:] if template[0].isupper() else later
    if not bare or r.random() < 0.4:
        text = named
    else:
        text = later if r.random() < 0.6 else put(template, values, f"the {subject.noun}")
    return Question(text, subject.noun, subject.name, named, later)


def asked(r, subject, fact, values, bare, loose):
    """Questions that the fact answers; `loose` if nothing else of its group is told."""
    out = []
    for slot in fact.ask:
        usable = fact.wordings(r, slot, loose)
        others = {key: value for key, value in values.items() if key != slot}
        out += [(question(r, subject, template, others, bare), values[slot]) for template in r.sample(usable, min(2, len(usable)))]
    return out


def misnamed(r, subject):
    """Questions about something that the text does not speak of, by its name."""
    stranger, (fact, values) = Subject(r, subject.scope, subject.taken), r.choice(subject.told)
    return [found for found, _ in asked(r, stranger, fact, values, False, False) if stranger.name in found][:1]


def missing(r, subject, bare, every):
    """Questions about what the text does not tell of the subject; `every` holds the names of the facts told of any."""
    known, out = every if bare else subject.names, []
    groups = {fact.group for fact in FACTS if fact.name in known}
    fitting = [fact for fact in FACTS if subject.scope in fact.scopes and not twins(fact, known) and (fact.is_row or fact.name not in known)]
    near = [fact for fact in fitting if fact.is_row and fact.name in known or fact.group in groups]
    for fact in r.sample(fitting, min(4, len(fitting))) + r.sample(near, min(2, len(near))):
        slot = "u" if "u" in fact.ask and r.random() < 0.4 else "v"
        out.append(question(r, subject, r.choice(fact.wordings(r, slot, fact.group not in groups)), {"a": subject.value(fact.values["a"])} if fact.is_row else {}, bare))
    return out
