"""One turn of small talk: a question or remark in many wordings, and what the model says to it."""
from . import lexicon as lex
from . import names as n
from . import noise
from .label_topics import apart
from .slots import fill
from .talk_tables import ABOUT, AROUND, SMALL, UNKNOWABLE

UNKNOWN = "I am a small model and do not know that. Give me a text about it, and I can look there."


def unknown(r):
    """A question about the world: only a text could tell."""
    return fill(r, r.choice(UNKNOWABLE))


def everyday(r):
    """What the lexicon knows: kinds of things and their members."""
    one, many, words = r.choice(lex.THINGS)
    x = r.random()
    if x < 0.35:
        word, picks = some(r, words)
        return r.choice([f"Name {word} {many}.", f"Give me {word} {many}.", f"List {word} {many}", f"Tell me {word} {many}", f"{word} {many} please", f"I need the names of {word} {many}", f"Can you think of {word} {many}?"]), r.choice([", ".join(picks), "\n".join("- " + p for p in picks)])
    if x < 0.5:
        word = r.choice(words)
        return r.choice([f"What is {n.an(word)}?" if word[0].islower() else f"What is {word}?", f"What kind of thing is {word}?"]), f"{n.an(one).capitalize()}."
    if x < 0.65:
        word = r.choice(words)
        if r.random() < 0.5:
            return r.choice([f"Is {word} {n.an(one)}?", f"Does {word} belong to the {many}?"]), "Yes."
        other = r.choice([t for t in lex.THINGS if t[0] != one and word not in t[2] and apart([one, t[0]], lex.MIXED)])
        return r.choice([f"Is {word} {n.an(other[0])}?", f"Does {word} belong to the {other[1]}?"]), "No."
    if x < 0.75:
        at = r.randrange(len(lex.DAYS) - 1)
        return r.choice([(r.choice(["Which day comes after {}?", "What day follows {}?", "The day after {}?"]).format(lex.DAYS[at]), lex.DAYS[at + 1]), (r.choice(["Which day is before {}?", "What comes right before {}?"]).format(lex.DAYS[at + 1]), lex.DAYS[at]), ("How many days has a week?", "Seven."), ("How many months has a year?", "Twelve.")])
    if x < 0.85:
        at = r.randrange(11)
        return r.choice([(f"Which month comes after {lex.MONTHS[at]}?", lex.MONTHS[at + 1]), (f"What month is before {lex.MONTHS[at + 1]}?", lex.MONTHS[at])])
    a = r.randint(1, 15)
    b = a + r.randint(2, 9)
    return r.choice([f"Count from {a} to {b}.", f"Count to {b} from {a}", f"Write the numbers from {a} to {b}"]), ", ".join(str(i) for i in range(a, b + 1))


def some(r, words):
    """(two to five as a word, that many of the words)"""
    picks = r.sample(words, min(r.randint(2, 5), len(words)))
    return {2: "two", 3: "three", 4: "four", 5: "five"}[len(picks)], picks


def wrapped(r, text):
    """The same said at more length, as people do."""
    if r.random() < 0.7 or "?" not in text or len(text.split()) < 3:
        return noise.question(r, text)
    head, tail = r.choice(AROUND)
    text = text[0].lower() + text[1:] if head and not text.startswith(("I ", "I'", "Quern", "SOS")) else text
    return f"{head}{text}{tail}"


def small(r, table):
    # What people say in the first minute stands first, and comes most often.
    asked, answers = table[int(len(table) * r.random() ** 2)]
    given = {"f": n.first(r), "o": n.object_(r), "l": n.place(r), "d": r.choice(lex.DAYS)}
    said = r.choice(asked.split("|"))
    text = noise.question(r, fill(r, said, **given)) if said.startswith("{") else wrapped(r, fill(r, said, **given))
    return text, fill(r, r.choice(answers.split("|")), **given)


def exchange(r):
    """Small talk, or a question about itself and Quern."""
    return small(r, SMALL if r.random() < 0.56 else ABOUT)


def turn(r):
    x = r.random()
    if x < 0.75:
        return exchange(r)
    if x < 0.87:
        return noise.question(r, unknown(r)), UNKNOWN
    return everyday(r)
