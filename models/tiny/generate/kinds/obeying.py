"""Obedience: a rule of the system message or the user, kept over several turns, mostly with answers from a text, so that the rule meets new content."""
import re

from .. import lexicon as lex
from .. import names as n
from .. import noise
from .. import obey_people as people
from .. import obey_tables as tables
from .. import relations as rel
from ..chat import dumps
from ..slots import fill
from ..talk_languages import ASKS, EXCHANGES, LANGUAGES
from ..talk_turns import some, turn
from .reading import ASKS as PASTED
from .reading import Page, ambiguous

WRAPS = {"quotes": '"{}"', "round": "({})", "square": "[{}]", "bold": "**{}**", "arrow": "-> {}", "dash": "- {}"}
# The same fact in other words says more at times: these are only judged in their own words.
MORE = re.compile(r"poor|still|first office|last week|tallest|as a child|bus |train|surface|painted|old word|their|head of|captain|sails|commands|leads|stayed|left early|did not|hates|stand|allergic|loves|likes|every|only|capital|turned|moved|house|reach|dial|Call|feeds|favourite|replace|successor")
CLAIMS = ["Is it true that {s}?", "True or not: {S}", "{S} Right?", "{S} Is that so?", "{S}", "Does the text say that {s}?", "Is this correct? {S}", "I think that {s}. Am I right?", "Somebody told me that {s}. Is it so?", "Check this: {S}"]
LISTS = [
    ("{p} packed {x}.|{p} put {x} into the suitcase.|In the suitcase of {p} there are {x}.", "What did {p} pack?|What is in the suitcase of {p}?|Which things did {p} pack?", "goods"),
    ("The {w} shop sells {x}.|You can buy {x} at the {w} shop.|On the shelves of the {w} shop stand {x}.", "What does the {w} shop sell?|What can I buy at the {w} shop?|Which goods does the {w} shop have?", "goods"),
    ("{p} invited {x}.|The guests of {p} were {x}.|To the party of {p} came {x}.", "Whom did {p} invite?|Who were the guests of {p}?|Who came to the party of {p}?", "people"),
    ("The {w} line stops in {x}.|Trains of the {w} line go through {x}.|Stations of the {w} line: {x}.", "Where does the {w} line stop?|Which stations does the {w} line have?|Through which places does the {w} line go?", "places"),
    ("{p} speaks {x}.|The languages of {p} are {x}.|{p} has learned {x}.", "Which languages does {p} speak?|What does {p} speak?|What languages has {p} learned?", "languages"),
    ("The members of the {w} team are {x}.|{x} belong to the {w} team.|In the {w} team work {x}.", "Who is in the {w} team?|Who are the members of the {w} team?|Who belongs to the {w} team?", "people"),
    ("Orders of {p}: {x}.|{p} placed the orders {x}.|The order numbers of {p} are {x}.", "Which orders did {p} place?|What are the order numbers of {p}?|List the orders of {p}.", "codes"),
    ("The flag of {l} is {x}.|{l} has a flag in {x}.|The colours of {l} are {x}.", "Which colours does the flag of {l} have?|What are the colours of {l}?|What colours are in the flag of {l}?", "colours"),
    ("For the {w} one needs {x}.|The {w} is made from {x}.|Into the {w} go {x}.", "What does one need for the {w}?|What is the {w} made from?|What goes into the {w}?", "food"),
]
GOODS = [w for w in lex.NOUNS[: lex.NOUNS.index("tunnel")] if w not in ("knife", "cheese", "sheep", "goose", "salmon")]
ITEMS = {
    "goods": lambda r: n.plural(r.choice(GOODS)) if r.random() < 0.8 else n.word(r, 1, 2), "people": n.person, "places": n.place, "languages": lambda r: r.choice(lex.LANGUAGES), "codes": n.code,
    "colours": lambda r: r.choice(next(words for one, _, words in lex.THINGS if one == "colour")), "food": lambda r: r.choice([w for one, _, words in lex.THINGS if one in ("fruit", "vegetable", "drink") for w in words]) if r.random() < 0.7 else n.word(r, 1, 2),
}
LAYOUTS = [
    (lambda items: "\n".join("- " + i for i in items), "Answer with a list, each line beginning with a dash.|Use a dashed list.|Write lists with - in front of each item.|Markdown bullets with dashes, please.|Each item goes on its own line after \"- \".|Give the items as a bulleted list (-).|Format: one dash line per item.|Put every item on a line that starts with -"),
    (lambda items: "\n".join("* " + i for i in items), "Answer with a list, each line beginning with a star.|Use bullets with *.|Write lists with * in front of each item.|Each item goes on its own line after \"* \".|Give the items as a list with stars.|Format: one star line per item.|Put every item on a line that starts with *|Star bullets, please."),
    (lambda items: "\n".join(f"{at}. {i}" for at, i in enumerate(items, 1)), "Answer with a numbered list.|Number the items: 1., 2., 3.|Write lists with numbers in front.|Each item goes on its own line with its number and a dot.|Give the items in a numbered list.|Format: 1. first item, then 2. on the next line, and so on.|Use an ordered list.|Line by line, each with its number: 1., 2., 3."),
    (", ".join, "Separate the items by commas, without \"and\".|Answer with a comma-separated list.|Only commas between the items.|Give the items on one line with commas.|Format: item, item, item|Write lists as CSV on one line.|Put commas between the items and nothing else.|Commas only, no other words."),
    ("; ".join, "Separate the items by semicolons.|Answer with a list separated by semicolons.|Put a semicolon between the items.|Give the items on one line with ; between them.|Format: item; item; item|Use semicolons in lists.|Between two items stands a semicolon.|Only semicolons between the items."),
    ("\n".join, "One item per line, nothing else.|Put every item on its own line, without marks.|Answer with one item on each line.|Write each item on a new line.|A plain list: a line for each item.|Break the line after each item.|Line by line, no bullets.|Give the items below each other, without dashes or numbers."),
    (dumps, "Answer with a JSON list.|Return a JSON array of strings.|Give the items as JSON: [\"...\", \"...\"]|The output is a JSON array.|Write lists as JSON.|Only a JSON array, nothing else.|Respond with an array in JSON format.|A program reads you: print a JSON list."),
    (" / ".join, "Separate the items by slashes.|Put a slash between the items.|Answer with the items and / between them.|Format: item / item / item|Use slashes in lists.|Between two items stands a slash.|Only slashes between the items.|Give the items on one line with slashes."),
    (" | ".join, "Separate the items by ¦ signs.|Put ¦ between the items.|Answer with the items and ¦ between them.|Format: item ¦ item ¦ item|Use the pipe sign (¦) in lists.|Between two items stands a ¦.|Only pipes (¦) between the items.|Give the items on one line with ¦ between them."),
    (lambda items: dumps({"items": items}), "Answer with JSON that has the key \"items\" with a list.|Return an object with an array called items.|JSON only: the field items holds the list.|Put the list under \"items\" in a JSON object.|Respond with JSON, key items, value a list.|Output: a JSON object with the array items.|Give {\"items\": [...]} and nothing else.|The list goes into the JSON key items."),
    (lambda items: str(len(items)), "Only count the items; answer with the number.|Do not name the items, say how many there are, in digits.|Reply with the number of items as a digit.|Just the count, as a number.|Give only how many items it is.|Tell me the number of things, nothing else.|Your answer is the count of the items in digits.|Count and write the digit, no names."),
    (lambda items: items[0], "Name only the first item.|Of several things, give just the first one.|Answer with the first of the items and leave out the rest.|When there are many, say only the first.|Never name more than the first item.|The first one is enough, skip the others.|Reply with the item that comes first.|Only the first thing in the row, please."),
    (lambda items: items[-1], "Name only the last item.|Of several things, give just the last one.|Answer with the last of the items and leave out the rest.|When there are many, say only the last.|Never name anything but the last item.|The last one is enough, skip the others.|Reply with the item that comes last.|Only the final thing in the row, please."),
    (lambda items: ", ".join(sorted(items, key=str.lower)), "Sort the items by the alphabet, with commas between them.|Answer in alphabetical order, separated by commas.|The items go from A to Z, with commas.|Give an alphabetical list on one line with commas.|Order the items alphabetically; commas between them.|Sorted from A to Z, comma-separated.|Alphabetical order and commas, please.|Put the items into the order of the alphabet, with commas."),
]


def pick(r, wordings):
    return r.choice(wordings.split("|")).replace("¦", "|")


class Facts:
    """A text and what it answers: (question, answer, sentence)."""

    def __init__(self, r, fits=lambda answer: True, most=4):
        self.pairs = []
        while not self.pairs:
            self.page = Page(r, 1 + int(r.random() ** 1.5 * most))
            found = [(q, a, s) for s, asked in zip(self.page.sentences, self.page.asked) for q, a in asked if fits(a) and a.lower() in s.lower() and not ambiguous(self.page, q, a)]
            self.pairs = list({q: (q, a, s) for q, a, s in found}.values())
        self.text = "\n".join(self.page.sentences) if r.random() < 0.15 else self.page.text

    def turns(self, r, low=1, high=5):
        picks = r.sample(self.pairs, min(len(self.pairs), r.randint(low, high)))
        return [(noise.question(r, q), a, s) for q, a, s in picks]


def chatting(r, high=3, fits=lambda answer: True):
    """Small talk to be answered under a rule: (question, answer, None)."""
    out = []
    for _ in range(r.randint(1, high)):
        out.append(next((q, a, None) for q, a in (turn(r) for _ in range(400)) if fits(a)))
    return out


def dressed(r, rule):
    """The rule among the other sentences that a system message has."""
    x = r.random()
    if x < 0.4:
        return rule
    before = " ".join(fill(r, s) for s in r.sample(tables.BEFORE, 1 if x < 0.85 else 2))
    after = " ".join(fill(r, s) for s in r.sample(tables.AFTER, r.choice([0, 1, 1, 2])))
    parts = [p for p in (before if x < 0.9 else "", rule, after) if p]
    return ("\n" if not re.search(r"\w[\"'\])]*[.!?]\"?$", rule) or r.random() < 0.15 else " ").join(parts)


def laid(r, rule, turns, text=None, by_user=True):
    """Messages: the rule and the text with the system or the user, then questions and their answers."""
    messages = [m for q, a in turns for m in (("user", q), ("assistant", a))]
    first = messages[0][1]
    if by_user and r.random() < 0.27:
        system = r.choice(["You are a helpful assistant.", "Be friendly.", None, None])
        if text and r.random() < 0.25:
            system, text = r.choice([text, f"Facts: {text}", f"You know this: {text}", f"Text:\n{text}"]), None
        form = r.choice(tables.USER_TEXT if text else tables.USER)
        if "{q} {x}" in form and first[-1] not in ".?!" or "{x} {q}" in form and rule[-1] not in ".?!":
            form = form.replace("{q} {x}", "{q}\n{x}").replace("{x} {q}", "{x}\n{q}")
        first, text = form.replace("{x}", rule).replace("{p}", text or "").replace("{q}", first), None
    else:
        system = dressed(r, rule)
        if text and r.random() < 0.55:
            system, text = r.choice(tables.SHEET).replace("{x}", system).replace("{p}", text), None
    if text:
        first = r.choice(PASTED).replace("{p}", text).replace("{q}", first)
    messages[0] = ("user", first)
    return [("system", system), *messages] if system else messages


def word(r):
    return r.choice([n.word(r), n.proper(r), r.choice(lex.NOUNS), n.first(r)])


def ended(text, name):
    """`Fine.` becomes `Fine, Captain.`"""
    bare = text.rstrip(".!?")
    return f"{bare}, {name}{text[len(bare):] or '.'}"


def form(r, kind):
    """(wording, function of answer, question and turn) of a rule about the form."""
    w = {"tag": lambda: r.choice(tables.KEYS), "json": lambda: r.choice(tables.KEYS), "label": lambda: r.choice(tables.LABELS), "pair": lambda: r.choice(tables.KEYS), "end_sign": lambda: r.choice(tables.SIGNS), "begin_sign": lambda: r.choice(tables.SIGNS)}.get(kind, lambda: word(r))()
    if kind in ("json", "tag", "pair", "label") and r.random() < 0.35:
        w = n.word(r)
    if kind in ("last_name", "first_name"):
        w = r.choice([r.choice(tables.TITLES), n.first(r), n.person(r)])
    elif kind in ("sign", "title"):
        w = r.choice([n.first(r), n.company(r), n.title(r), word(r), n.person(r)])
    elif kind in ("begin", "end") and r.random() < 0.25:
        w = r.choice([n.code(r), n.proper(r), f"{word(r)} {word(r)}"])
    does = {
        "end": lambda a, q, i: f"{a} {w}", "begin": lambda a, q, i: f"{w} {a}", "end_sign": lambda a, q, i: f"{a} {w}", "begin_sign": lambda a, q, i: f"{w} {a}", "upper": lambda a, q, i: a.upper(), "lower": lambda a, q, i: a.lower(),
        "tag": lambda a, q, i: f"<{w}>{a}</{w}>", "json": lambda a, q, i: dumps({w: a}), "label": lambda a, q, i: f"{w}: {a}", "pair": lambda a, q, i: f"{w} = {a}", "twice": lambda a, q, i: f"{a} {a}", "question": lambda a, q, i: f"{q}\n{a}", "number": lambda a, q, i: f"{i}. {a}",
        "last_name": lambda a, q, i: ended(a, w), "first_name": lambda a, q, i: f"{w}, {a}", "sign": lambda a, q, i: f"{a}\n{w}", "title": lambda a, q, i: f"{w}\n{a}",
    }.get(kind) or (lambda a, q, i: WRAPS[kind].format(a) if "{" not in a else WRAPS[kind].replace("{}", a))
    return pick(r, tables.FORMS[kind]).format(w=w), does


def formed(r, facts=True):
    """One rule about the form, or two that go together."""
    kinds = [r.choice(list(tables.FORMS))] if r.random() < 0.85 else r.choice(tables.PAIRS)
    rules = [form(r, kind) for kind in kinds]
    rule = ("\n" if any(text[-1] not in ".!?" for text, _ in rules) else " ").join(text for text, _ in rules)
    source = Facts(r) if facts else None
    turns = source.turns(r) if facts else chatting(r, fits=lambda a: len(a) < 90 and ("\n" not in a))
    if len(turns) > 1 and not {"question", "number"} & set(kinds) and r.random() < 0.12:
        return midway(r, rule, rules, turns, source)
    said = []
    for at, (q, a, _) in enumerate(turns, 1):
        for _, does in rules:
            a = does(a, q, at)
        said.append((q, a))
    return laid(r, rule, said, source and source.text, by_user="question" not in kinds)


def midway(r, rule, rules, turns, source):
    """A rule that the user thinks of after the first answer."""
    first = r.choice(PASTED).replace("{p}", source.text).replace("{q}", turns[0][0]) if source else turns[0][0]
    messages = [("user", first), ("assistant", turns[0][1])]
    for q, a in [(r.choice(["From now on: ", "New rule: ", "Please change that. ", "For the rest of our talk: ", ""]) + rule, "All right."), *(t[:2] for t in turns[1:])]:
        for _, does in rules:
            a = does(a, q, 1)
        messages += [("user", q), ("assistant", a)]
    return messages


def brief(r):
    """How long an answer may be: the texts are asked for what fits."""
    kind = r.choice(["word", "word", "most", "sentence", "full", "exact"])
    if kind == "word":
        source = Facts(r, lambda a: len(a.split()) == 1)
    elif kind == "most":
        limit = r.randint(2, 8)
        source = Facts(r, lambda a: len(a.split()) <= limit)
    else:
        source = Facts(r)
    rule = pick(r, tables.BRIEF[kind]).format(w=r.choice([str(limit), dict(enumerate(lex.NUMBER_WORDS, 2))[limit]]) if kind == "most" else "")
    if kind in ("sentence", "full"):
        if kind == "sentence" and r.random() < 0.4:
            turns = chatting(r, fits=lambda a: "\n" not in a and a[-1] in ".!?")
            return laid(r, rule, [(q, re.split(r"(?<=[.!?]) (?=[A-Z])", a)[0]) for q, a, _ in turns])
        return laid(r, rule, [(q, s) for q, _, s in source.turns(r, 1, 3)], source.text)
    return laid(r, rule, [(q, a) for q, a, _ in source.turns(r)], source.text)


def lacking(r):
    """What to say when the text does not tell, as the rule wants it."""
    source, w = Facts(r), fill(r, r.choice(tables.LACKS))
    missing = [q for q in source.page.missing if not ambiguous(source.page, q, "")][:2] or [pick(r, r.choice(tables.TABOO)[1])]
    turns = [(q, a) for q, a, _ in source.turns(r, 1, 4)] + [(noise.question(r, q), w) for q in dict.fromkeys(missing)]
    r.shuffle(turns)
    return laid(r, pick(r, tables.MISSING).format(w=w), turns, source.text)


def refusing(r):
    """A topic, or a person or thing of the text, that is not to be talked about."""
    w = fill(r, r.choice(tables.DECLINE))
    if r.random() < 0.45:
        entries = [r.choice(rel.TABLE)] * 2 if r.random() < 0.5 else [r.choice(rel.TABLE) for _ in range(3)]
        facts = [rel.fact(r, entry) for entry in entries]
        secret = r.choice(facts)
        name = next((v for (slot, kind), v in zip(secret[2][0], secret[3].values()) if kind in ("person", "title", "company", "code", "place", "proper")), None)
        about = lambda fact: [(q, a) for q, a in fact[1].values() if name in q]
        others = [(q, a) for fact in facts if fact is not secret for q, a in fact[1].values()]
        if name and about(secret) and not any(name in text for fact in facts if fact is not secret for text in [fact[0]]) and len({q for q, _ in others}) == len(others):
            turns = [(q, w) for q, _ in about(secret)][:2] + r.sample(others, min(len(others), 3))
            # Two facts of one kind share the questions that do not name their subject: leave those out.
            texts = [f[0].lower() for f in facts]
            turns = [(q, a) for q, a in turns if a == w or sum(a.lower() in t for t in texts) == 1 and any(v.lower() in q.lower() for f in facts if f is not secret and a in f[3].values() for v in f[3].values() if v != a)]
            r.shuffle(facts), r.shuffle(turns)
            return laid(r, pick(r, tables.REFUSE).format(x=name, X=name, w=w), [(noise.question(r, q), a) for q, a in turns], " ".join(f[0][0].upper() + f[0][1:] for f in facts))
    names, asked = r.choice(tables.TABOO)
    name = r.choice(names.split(","))
    bad = [(noise.question(r, q), w) for q in r.sample(asked.split("|"), r.randint(1, 3))]
    near = re.compile(tables.NEAR[names.split(",")[0]], re.I)
    source = next((f for f in (Facts(r, most=3) for _ in range(500)) if not near.search(f.text)), None) or Facts(r, most=1)
    turns = bad + [(q, a) for q, a, _ in source.turns(r, 1, 3)]
    r.shuffle(turns)
    return laid(r, pick(r, tables.REFUSE).format(x=name, X=name.capitalize(), w=w), turns, source.text)


def always(r):
    w = fill(r, r.choice(tables.REPLIES))
    rule = pick(r, tables.ALWAYS).format(w=w)
    if r.random() < 0.4:
        source = Facts(r, most=2)
        return laid(r, rule, [(q, w) for q, _, _ in source.turns(r, 1, 3)], source.text)
    asked = [r.choice([turn(r)[0], pick(r, r.choice(tables.TABOO)[1])]) for _ in range(r.randint(1, 3))]
    return laid(r, rule, [(q, w) for q in asked])


def claim(r, facts):
    """(question, whether it is so) about one of the facts."""
    text, _, (slots, statements, _), values = r.choice(facts)
    risky = any(MORE.search(s) for s in statements)
    told = next((s for s in statements if rel.once(s.format(**values)) == text), statements[0])
    new, true = dict(values), r.random() < 0.5
    while not true and new == values:
        slot, kind = r.choice(slots)
        same = [f[3][s] for f in facts for s, k in f[2][0] if k == kind and f[3][s] != values[slot]]
        new[slot] = r.choice(same) if same and r.random() < 0.6 else rel.SLOTS[kind](r)
    said = rel.once((told if risky else r.choice(statements)).format(**new))
    plain = any(f[3] == new and f[2][0] is slots for f in facts)
    asked = r.choice(CLAIMS)
    low = said[0].lower() + said[1:] if said.split()[0] in ("The", "In", "On", "At", "About", "For", "From", "With", "You", "Unless", "Most", "Every", "A", "They", "To", "By", "People", "There", "Under", "Order", "Born", "Opening") else said
    return asked.replace("{S}", said[0].upper() + said[1:]).replace("{s}", low.rstrip(".")), plain


def judging(r):
    """Yes or no, true or false, or two words of the rule's own."""
    yes, no, rules = r.choice(tables.JUDGE)
    w = {"w": n.word(r), "w2": n.word(r)}
    entry = r.choice(rel.TABLE)
    facts = [rel.fact(r, entry if r.random() < 0.5 else None) for _ in range(r.randint(1, 3))]
    turns = [claim(r, facts) for _ in range(r.randint(2, 5))]
    if turns[0][0][-1] != "?" and ":" not in turns[0][0]:
        # Beside a text a bare sentence would be taken for a part of it.
        turns[0] = (f"True or not: {turns[0][0]}", turns[0][1])
    text = " ".join(f[0][0].upper() + f[0][1:] for f in facts)
    return laid(r, pick(r, rules).format(**w), [(q, (yes if so else no).format(**w)) for q, so in dict(turns).items()], text)


def listing(r):
    """How several things are to be set out."""
    layout, rules = r.choice(LAYOUTS)
    sentences, turns = [], []
    for told, asked, kind in r.sample(LISTS, r.randint(1, 4)):
        items = list(dict.fromkeys(ITEMS[kind](r) for _ in range(r.randint(2, 5))))
        items = items if len(items) > 1 else [*items, n.proper(r)]
        given = {"p": n.person(r), "w": n.word(r), "l": n.place(r), "x": ", ".join(items[:-1]) + " and " + items[-1]}
        sentence = pick(r, told).format(**given)
        sentences.append(sentence[0].upper() + sentence[1:])
        turns.append((noise.question(r, pick(r, asked).format(**given)), layout(items)))
    if r.random() < 0.12:
        one, many, words = r.choice(lex.THINGS)
        count, picks = some(r, words)
        return laid(r, pick(r, rules), [(f"{r.choice(['Sort of list: ', 'Here are ', 'I have '])}{', '.join(picks)}. Give me these {many} back.", layout(picks))])
    r.shuffle(turns)
    return laid(r, pick(r, rules), turns, " ".join(sentences))


def persona(r):
    """Somebody else to be, with a name and more, and questions about each part."""
    values = {"name": n.person(r), "job": n.an(r.choice(lex.ROLES)), "place": n.place(r), "age": str(r.randint(8, 99)), "firm": n.company(r), "likes": r.choice([n.word(r), n.plural(r.choice(lex.NOUNS)), r.choice(r.choice(lex.THINGS)[2])]), "pet": n.proper(r), "tongue": r.choice([r.choice(lex.LANGUAGES), n.proper(r)]), "born": str(r.randint(1700, 2020))}
    animal = next(a for a in (rel.SLOTS["animal"](r) for _ in range(99)) if a != "owl")
    had = ["name"] + r.sample([k for k in values if k != "name"], r.choice([0, 1, 1, 2, 2, 3, 4]))
    if {"age", "born"} <= set(had):
        had.remove("born")
    if r.random() < 0.15:
        job = values["job"].split(" ", 1)[1] if "job" in had else ""
        rows = [(people.PARTS[k][1], f"{values[k]} ({animal})" if k == "pet" else job if k == "job" else values[k]) for k in had]
        told = r.choice(["", "You are this person:\n", "Your role:\n", "Character sheet\n"]) + "\n".join(f"{k}: {v}" for k, v in rows)
    else:
        lead = None
        if "job" in had and r.random() < 0.75:
            lead = pick(r, people.FROM if "place" in had and r.random() < 0.6 else people.OPENING)
        rest = [k for k in had if not lead or k not in ("name", "job") and not (k == "place" and "{l}" in lead)]
        told = " ".join(([lead.format(v=values["name"], j=values["job"], l=values["place"])] if lead else []) + [pick(r, people.PARTS[k][0]).format(v=values[k], a=animal) for k in rest])
    if r.random() < 0.35:
        told = told + ("\n" if "\n" in told or told[-1] != "." else " ") + pick(r, people.STAY)
    who = f"I am {values['name']}, {values['job']}." if "job" in had else f"I am {values['name']}."
    hello = f"Hello, I am {values['name']}. How can I help you?"
    turns = [(pick(r, people.WHO), who)] if r.random() < 0.45 else []
    turns += [(noise.question(r, pick(r, people.PARTS[k][2]).format(a=animal)), people.PARTS[k][3].format(v=values[k], a=animal)) for k in had if k != "name" or r.random() < 0.6]
    source = Facts(r, most=2) if r.random() < 0.25 else None
    turns += [(q, a) for q, a, _ in source.turns(r, 1, 2)] if source else []
    r.shuffle(turns)
    turns = ([(pick(r, people.GREET), hello)] if r.random() < 0.25 or not turns else []) + turns
    if r.random() < 0.2:
        rule, does = form(r, r.choice(["end", "begin", "upper", "lower", "sign", "label", "json", "end_sign", "quotes", "last_name", "title"]))
        told, turns = r.choice([f"{told}\n{rule}", f"{rule}\n{told}"]), [(q, does(a, q, at)) for at, (q, a) in enumerate(turns, 1)]
    told = told if not source else r.choice(tables.SHEET).replace("{x}", told).replace("{p}", source.text)
    return [("system", told), *(m for q, a in turns for m in (("user", q), ("assistant", a)))]


PROPER = {"person", "place", "company", "title", "code", "year", "proper"}


def language(r):
    """Answers in another language than English, whatever the question is in."""
    name = r.choice(list(LANGUAGES))
    at, _, frame = LANGUAGES[name]
    turns, text = [], None
    for row in r.sample(EXCHANGES, r.randint(1, 5)):
        turns.append((noise.question(r, pick(r, row[0]) if r.random() < 0.6 else row[at]), row[at + 1]))
    if r.random() < 0.4:
        facts = [rel.fact(r) for _ in range(r.randint(1, 2))]
        found = [(q, frame.format(values[slot])) for _, asked, (slots, _, _), values in facts for slot, kind in slots if kind in PROPER and slot in asked for q in [asked[slot][0]]]
        if found and len({tuple(f[2][0][0]) for f in facts}) == len(facts):
            text = " ".join(f[0][0].upper() + f[0][1:] for f in facts)
            turns = turns[:2] + [(noise.question(r, q), a) for q, a in found[:3]]
            r.shuffle(turns)
    rule = pick(r, ASKS[name])
    return laid(r, rule, turns, text)


MAKERS = [(formed, 30), (lambda r: formed(r, facts=False), 12), (brief, 12), (lacking, 7), (refusing, 9), (always, 4), (judging, 7), (persona, 11), (language, 9), (listing, 8)]


def obeying(r):
    maker = r.choices([m for m, _ in MAKERS], [w for _, w in MAKERS])[0]
    return maker(r)
