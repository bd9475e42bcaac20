"""Copying and looking up, the skills below all others: repeat, the n-th of a list, the value of a key, the end of a line begun above."""
from .. import lexicon as lex
from .. import names as n
from ..chat import Dialogue, dumps

ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth"]


def item(r):
    x = r.random()
    makers = [n.word, n.proper, n.person, n.code, n.object_, n.title, n.quantity, n.company, n.date, n.place]
    return makers[int(x * len(makers))](r)


def repeat(r):
    text = " ".join(item(r) for _ in range(r.randint(1, 5) if r.random() < 0.7 else r.randint(6, 14)))
    ask = r.choice(["Repeat: {t}", "Say {t}", "Repeat after me: {t}", "Copy this text exactly: {t}", "Write this again: {t}", 'Say "{t}"', "Echo {t}", "{t}\n\nRepeat the text above."])
    return [("user", ask.format(t=text)), ("assistant", text)]


def listed(r):
    items = [item(r) for _ in range(r.randint(2, 6))]
    form = r.choice([", ".join(items), "\n".join(f"{i + 1}. {t}" for i, t in enumerate(items)), "\n".join("- " + t for t in items), "; ".join(items)])
    messages = []
    picks = r.sample(range(len(items)), min(len(items), r.randint(1, 5)))
    for turn, at in enumerate(picks):
        word, answer = ORDINALS[at], items[at]
        if at == len(items) - 1 and r.random() < 0.5:
            word = "last"
        if turn == 0:
            ask = r.choice(["What is the {w} item?\n{f}", "{f}\n\nWhich one is the {w}?", "Here is a list:\n{f}\nGive me the {w} one.", "{f}\nName the {w} entry."]).format(w=word, f=form)
        else:
            ask = r.choice(["And the {w}?", "And the {w} one?", "What about the {w}?", "Now the {w} one.", "the {w}?"]).format(w=word)
        messages += [("user", ask), ("assistant", answer)]
    return messages


def keyed(r):
    count = r.randint(2, 8)
    keys = [r.choice([n.word(r), n.person(r), n.title(r), r.choice(lex.NOUNS), n.object_(r)]) for _ in range(count)]
    keys = list(dict.fromkeys(keys))
    values = [item(r) for _ in keys]
    sign = r.choice([": ", " = ", " - ", " -> ", " | ", " is "])
    text = r.choice(["\n", "\n", ", ", "; "]).join(f"{k}{sign}{v}" for k, v in zip(keys, values))
    messages = []
    for turn in range(r.randint(1, 6)):
        at = r.randrange(len(keys))
        if r.random() < 0.3:
            ask, answer = r.choice(["Which one has {x}?", "What belongs to {x}?", "Who or what has {x}?"]).format(x=values[at]), keys[at]
            if values.count(values[at]) > 1:
                continue
        else:
            ask, answer = r.choice(["What is {x}?", "{x}?", "Give me the value of {x}.", "What does it say for {x}?", "Look up {x}.", "What stands at {x}?"]).format(x=keys[at]), values[at]
        if not messages:
            ask = r.choice([f"{text}\n\n{ask}", f"{ask}\n\n{text}"])
        messages += [("user", ask), ("assistant", answer)]
    return messages or repeat(r)


def echo(r):
    """Random sequences said twice: nothing but memory helps."""
    words = [n.word(r, 1, 2) for _ in range(r.randint(4, 12))]
    cue = r.randrange(len(words) - 1)
    if r.random() < 0.5:
        return [("user", f"{' '.join(words)}\n\nWhat comes after {words[cue]}?"), ("assistant", words[cue + 1])]
    return [("user", f"{' '.join(words)}\n\nContinue: {' '.join(words[: cue + 1])}"), ("assistant", " ".join(words[cue + 1 :]))]


def edit(r):
    text = " ".join(item(r) for _ in range(r.randint(1, 3)))
    form, change = r.choice(
        [("Write in capital letters: {t}", str.upper), ("Write in small letters: {t}", str.lower), ("Put in quotation marks: {t}", lambda t: f'"{t}"'), ("Write in upper case: {t}", str.upper),
         ("How many words does this have: {t}", lambda t: str(len(t.split()))), ("What is the first word of: {t}", lambda t: t.split()[0]), ("What is the last word of: {t}", lambda t: t.split()[-1])]
    )
    return [("user", form.format(t=text)), ("assistant", change(text))]


def name_of_pieces(r):
    """One to three words of pieces that are all as likely, most of them with a capital."""
    words = (r.choice(["", r.choice("ABCDEFGHIJKLMNOPRSTUVWZ")]) + "".join(r.sample(n.PIECES, r.randint(1, 3))) for _ in range(r.choice((1, 1, 2, 3))))
    return " ".join(n.marked(r, word) if r.random() < 0.1 else word for word in words)


def pieces(r):
    """Many names of pieces, said again as a text, as lines, as JSON."""
    values = [name_of_pieces(r) for _ in range(r.randint(4, 24))]
    form = r.randrange(4)
    if form == 0:
        text = r.choice([" ", ", ", "\n"]).join(values)
        return [("user", r.choice(["Repeat: {t}", "Copy this text exactly:\n{t}", "{t}\n\nWrite that again."]).format(t=text)), ("assistant", text)]
    if form == 1:
        text = r.choice(["\n", ", ", "; "]).join(values)
        return [("user", r.choice(["As a JSON array: {t}", "{t}\n\nMake a JSON array of these.", "Give me this list as JSON:\n{t}"]).format(t=text)), ("assistant", dumps(values))]
    keys = r.sample(lex.NOUNS, len(values))
    text = r.choice(["\n", "; "]).join(f"{key}: {value}" for key, value in zip(keys, values))
    chosen = sorted(r.sample(range(len(keys)), r.randint(1, len(keys))))
    answer = dumps({keys[at]: values[at] for at in chosen})
    if len(chosen) == len(keys):
        return [("user", r.choice(["{t}\n\nAs a JSON object, please.", "Turn these lines into one JSON object:\n{t}"]).format(t=text)), ("assistant", answer)]
    asked = ", ".join(keys[at] for at in chosen)
    return [("user", r.choice(["{t}\n\nJSON with the keys {k}.", "From the text below I need {k}, as JSON.\n\n{t}"]).format(t=text, k=asked)), ("assistant", answer)]


def copying(r, level=1.0):
    messages = (pieces if n.PIECES and r.random() < 0.75 else r.choice([repeat, listed, keyed, keyed, echo, edit]))(r)
    if r.random() < 0.2:
        messages.insert(0, ("system", "You are a helpful assistant."))
    return Dialogue(messages, kind="copying")
