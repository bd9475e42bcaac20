"""Short prose about one shop, person or house whose facts of the same kind are told apart by a condition, with questions that pick by it."""
import re

from . import names as n
from .article_slots import SLOTS as GENERAL
from .profile_places import PLACES
from .profile_slots import SLOTS
from .profile_shared import SHARED
from .profile_things import THINGS

# Words that two values may share.
COMMON = set("a an the of and from to at in on by her his half past o'clock am pm euros pounds dollars francs crowns street road lane square one sister brother wife husband son daughter cousin aunt family under door with new north port lake upper east saint fort mount".split())
OBJECT = {"it": "it", "he": "him", "she": "her", "they": "them"}
POSSESSIVE = {"it": "its", "he": "his", "she": "her", "they": "their"}
OWN = ("s", "x", "name", "his", "him", "noun")
# What may stand before a question, in other words than `noise.question` puts there.
INDIRECT = ["{q}"] * 20 + ["And {l}", "One question: {l}", "According to the text, {l}"]


def split(text):
    """The alternatives of a line: `|` parts them, except within brackets."""
    return re.split(r"\|(?![^\[\]]*\])", text)


def expand(r, text):
    """The text with one choice for each `[a/b/c]`, from the innermost on."""
    while "[" in text:
        text = re.sub(r"\[([^\[\]]*)\]", lambda m: r.choice(m[1].split("/")), text)
    return text


def slots(template):
    return [s for s in re.findall(r"{(\w+)}", template) if s not in OWN]


class Fact:
    """One line of a table: wordings of a sentence, questions for its slots, questions that it leaves open."""

    def __init__(self, line):
        wordings, *asked = line.split(" # ")
        self.wordings, self.asked, self.open = split(wordings), {}, []
        for slot, questions in (one.split(": ", 1) for one in asked):
            if slot == "!":
                self.open += split(questions)
            elif slot.endswith("*"):
                for number in "123":
                    if f"{{{slot[:-1]}{number}}}" in wordings:
                        self.asked[slot[:-1] + number] = [q.replace("*}", number + "}") for q in split(questions)]
            else:
                self.asked[slot] = split(questions)


class Kind:
    """A kind of subject: head, then one fact a line; `@` names facts that several kinds share."""

    def __init__(self, text):
        head, *lines = [line.strip() for line in text.strip().split("\n")]
        nouns, self.pronoun, names = head.split(" # ")
        self.nouns, self.names, self.facts = nouns.split("|"), names.split("|"), []
        for line in lines:
            shared = line[1:].split() if line.startswith("@") else []
            self.facts += [FACTS[name] for name in shared] or [Fact(line)]


FACTS = {name: Fact(line.strip()) for name, line in SHARED.items()}
# Facts of which one text has one at most, as they tell of the same hours.
RIVALS = [FACTS[name] for name in ("hours", "closed", "seasons")]
KINDS = [Kind(text) for text in (PLACES + THINGS).strip().split("\n\n")]


class Subject:
    """One subject with values that are nowhere else in its text."""

    def __init__(self, r, kind):
        self.r, self.taken, self.style, self.known = r, set(), r.random(), False
        self.pronoun = r.choice(["he", "she"]) if kind.pronoun == "person" else kind.pronoun
        self.noun, self.the = r.choice(kind.nouns), None
        self.name = self.fill(expand(r, r.choice(kind.names)), {}, "")
        self.the = self.name if kind.pronoun == "person" else f"the {self.noun}"

    def value(self, slot):
        """A new value; those of `SLOTS` know the style of the text, so that prices and times match."""
        kind = slot.rstrip("0123456789")
        for _ in range(40):
            made = SLOTS[kind](self.r, self.style) if kind in SLOTS else GENERAL[kind](self.r)
            # Lists that share a thing, and a name within a name, could not be told apart.
            parts = {made.lower(), *re.split(", | and | ", made.lower())} - COMMON
            if not parts & self.taken:
                break
        self.taken |= parts
        return made

    def fill(self, template, values, mention):
        """The template with new values, which are added to `values`."""
        for slot in slots(template):
            if slot not in values:
                values[slot] = self.value(slot)
        s = self.pronoun if mention == self.the and self.r.random() < 0.45 else mention
        # Later in the sentence a pronoun is enough.
        if template.count("{s}") > 1:
            head, _, tail = template.partition("{s}")
            template = f"{head}{{s}}{tail.replace('{s}', self.pronoun)}"
        own = {"name": getattr(self, "name", ""), "s": s, "x": mention, "his": POSSESSIVE[self.pronoun], "him": OBJECT[self.pronoun], "noun": self.noun}
        for slot, value in {**values, **own}.items():
            if value[:1].lower() in "aeiou":
                template = re.sub(r"\b([Aa]) {" + slot + "}", r"\1n {" + slot + "}", template)
            template = template.replace("{" + slot + "}", value)
        return template

    def ask(self, template, values):
        """The question by name, kind or pronoun."""
        q = self.fill(expand(self.r, template), values, self.name if self.known and self.r.random() < 0.4 else self.the)
        q = upper(q)
        low = q if q.startswith(("I ", self.name, upper(self.name))) else q[:1].lower() + q[1:]
        return self.r.choice(INDIRECT).format(q=q, l=low)


def upper(text):
    return text[:1].upper() + text[1:]


def named(r, fact, subject):
    """A wording that names the subject, or else an opening sentence that does."""
    wording = expand(r, r.choice([w for w in fact.wordings if re.search("{(s|x|name)}", w)] or fact.wordings))
    if not re.search("{(s|x|name)}", wording):
        opening = r.choice(["This is about {name}. ", "Some facts about {name}. ", "A few words on {name}. ", "Somebody asked me about {name}. "])
        return opening + wording[0].upper() + wording[1:] if wording[0] != "{" else opening + "As people say, " + wording
    head, subject_slot, tail = wording.partition("{s}")
    return f"{head}{{x}}{tail.replace('{s}', subject.pronoun)}" if subject_slot else wording


def tell(r, subject, fact, first):
    """(sentence, [(question, answer)], [questions that it leaves open]) of a fact."""
    wording, values = expand(r, r.choice(fact.wordings)), {}
    if first:
        wording = named(r, fact, subject)
    mention = subject.name if first or r.random() < 0.15 else subject.the
    text = upper(subject.fill(wording, values, mention))
    subject.known = subject.known or subject.name in text or upper(subject.name) in text
    asked, left = [], [(q, values) for q in fact.open]
    for slot, questions in fact.asked.items():
        if slot not in values:
            left.append((r.choice(questions), dict(values)))
            continue
        answer = values[slot] if values[slot] in text else upper(values[slot])
        options = [e for e in (expand(r, q) for q in questions) if all(s in values and s != slot for s in slots(e))]
        if answer in text:
            asked += [(subject.ask(q, values), answer) for q in r.sample(options, min(2, len(options)))]
    return text, asked, [(q, dict(known)) for q, known in left]


def lacking(r, subject, told, left):
    """Questions close to the text that it does not answer: under another condition, or from a fact that it leaves out."""
    near = [subject.ask(q, values) for q, values in r.sample(told, min(4, len(told)))]
    for fact in r.sample(left, min(3, len(left))):
        near.append(subject.ask(r.choice(r.choice(list(fact.asked.values()))), {}))
    return near


def profile(r, level=1.0):
    """A list of (sentence, [(question, answer)], [missing questions]): three sentences, and with the level up to seven."""
    kind = r.choice(KINDS)
    subject = Subject(r, kind)
    count = min(len(kind.facts), r.randint(3, 3 + round(4 * level)))
    # What only this kind tells comes first in the choice, else the shared facts would crowd it out.
    special = [f for f in kind.facts if f not in FACTS.values()]
    picked = r.sample(special, min(len(special), max(2, count - 2)))
    for fact in r.sample(kind.facts, len(kind.facts)):
        if len(picked) < count and fact not in picked and not (fact in RIVALS and any(f in RIVALS for f in picked)):
            picked.append(fact)
    r.shuffle(picked)
    found, open_ = [], []
    for fact in picked:
        text, asked, left = tell(r, subject, fact, not found)
        found.append((text, asked, []))
        open_ += left
    left = [f for f in kind.facts if f not in picked and not (f in RIVALS and any(p in RIVALS for p in picked))]
    text, asked, _ = found[-1]
    return [*found[:-1], (text, asked, lacking(r, subject, open_, left))]
