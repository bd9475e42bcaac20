"""Choosing one of given labels, which vary at random: topics, moods, intents, departments, languages and small sets, named, listed or explained."""
import re

from .. import lexicon as lex
from .. import names as n
from .. import noise
from ..chat import Dialogue, dumps
from ..label_intents import ALIKE, DEPARTMENTS, INTENTS
from ..label_intents_more import MORE
from ..label_languages import LANGUAGES, SHORT
from ..label_moods import MOODS, mood_text
from ..label_sets import SETS, STAR_TEXTS, STARS
from ..label_topics import LINES, NEAR, apart
from ..labelled import QUESTIONS as SHEET_QUESTIONS
from ..labelled import by_sheet
from ..slots import fill

INTENTS = [(names.split(","), meaning, department, f"{texts}|{MORE[names.split(',')[0]]}".split("|")) for names, meaning, department, texts in INTENTS]
# How many of the cases are hand-written sets.
SHEETS = 0.7
QUESTIONS = {
    "topic": "What is this about?|Which topic does the text belong to?|What is the subject of this text?", "mood": "What is the mood of this text?|What does the writer think of it?|What is the sentiment?|How does the author feel?", "intent": "What does the writer want?|What is the intent of this message?|What kind of message is this?",
    "department": "Which department should handle this?|Who should get this message?|Where does this message go?", "language": "Which language is this?|What language is the text in?|In which language is this written?", "urgency": "How urgent is this?|What priority does this have?", "formality": "What is the tone of this message?|How formal is this?",
    "tense": "Which tense is this?|When does this happen?", "sentence": "What type of sentence is this?|What kind of sentence is it?", "spam": "What kind of mail is this?|Should this message be filtered?", "entity": "What kind of name is this?|What type of entity is it?", "toxic": "Is this comment acceptable?|How should a moderator mark this comment?",
    **SHEET_QUESTIONS, "programming language": "Which programming language is this?|In which language is the snippet?", "unit": "What does this measure?|Which kind of quantity is this?", "school subject": "Which school subject is the question from?|In which lesson would you hear this?", "answer": "How does the writer answer?|Is the writer for it or not?", "stars": "How many stars would the writer give?|Which rating fits the review?", "member": "What kind of thing is this?|Which group does the word belong to?",
}
ASKS = [
    "Classify the text as one of: {l}.\n\n{t}", "Which label fits? Labels: {l}\nText: {t}", "{t}\n\nChoose one: {l}", "Labels: {l}\n\nText: {t}\n\nLabel:", "Is this {o}? {t}", "Put this into one of the categories {l}: {t}", 'Category of "{t}"? Options: {l}', "Decide between {o}.\n{t}", "{t}\nWhich of these is it: {l}?",
    "Sort the message into {o}: {t}", "Pick the best label from [{l}] for this text: {t}", "Text: {t}\nOptions: {l}\nAnswer with one option.", "{q} Choose from {l}.\n\n{t}", "{q} ({l})\n{t}", "{t}\n\n{q} Answer with {o}.", "{q} Options: {l}. Text: {t}", 'Text: "{t}"\n{q} {o}?', "Answer with exactly one of these words: {l}.\n{q}\n{t}", "Message: {t}\nPossible labels: {l}\nBest label:", "Tag this with {o}: {t}",
]
LISTED = ["Categories:\n{l}\n\nText: {t}\n\nCategory:", "{q}\n{l}\n\n{t}", "{t}\n\n{q}\n{l}", "Choose the label that fits the text.\n{l}\nText: {t}", "Here are the labels:\n{l}\nWhich one fits this text? {t}", "Text: {t}\n\nPick one:\n{l}"]
SYSTEMS = ["Classify each message as one of: {l}. Answer with the label only.", "You sort messages into {o}.", "Labels: {l}. Answer with one label.", "You are a classifier. {q} Reply with {o} and nothing else.", "For every text the user sends, say {o}.", "You label texts. Allowed labels: {l}."]


def groups(r, kinds, count, near):
    """That many groups that can be told apart: [(names, the words that only it has)]."""
    while True:
        picks = r.sample(kinds, count)
        if apart([names[0] for names, _ in picks], near):
            return [(names, sorted(set(words) - {w for i, (_, others) in enumerate(picks) if i != at for w in others})) for at, (names, words) in enumerate(picks)]


def topics(r, count):
    return groups(r, lex.TOPICS, count, NEAR)


def things(r, count):
    return groups(r, [(names, words) for *names, words in lex.THINGS], count, lex.MIXED)


def by_topic(r):
    picks = topics(r, r.choice([2, 2, 3, 3, 4, 5, 6, 7, 8]))

    def draw(at):
        (head, *_), own = picks[at]
        return finished(r, r.sample(LINES[head], r.choice([1, 1, 1, 2]))) if r.random() < 0.7 else of_words(r, own)

    return "topic", [r.choice(names) for names, _ in picks], None, draw


def of_words(r, words):
    """A clause or two with words of one topic."""
    w = lambda: r.choice(words).replace("-", " ")
    makers = [
        lambda: f"The {w()} and the {w()} were {r.choice(['there', 'ready', 'late', 'gone', 'important', 'the best part'])}", lambda: f"{n.person(r)} talked about the {w()} and the new {w()}", lambda: f"We need {n.an(w())} for the {w()}", lambda: f"After the {w()}, {n.first(r)} looked at the {w()}",
        lambda: f"How do I choose {n.an(w())}?", lambda: f"{n.place(r)} is known for its {w()} and its {w()}", lambda: f"{w()}, {w()} and {w()}", lambda: f"Everyone was waiting for the {w()} with the {w()}", lambda: f"It is all about the {w()}, said {n.person(r)}", lambda: f"{n.first(r)} knows a lot about {w()} and {w()}",
    ]
    return finished(r, [r.choice(makers)() for _ in range(r.choice([1, 1, 2]))])


def finished(r, lines):
    """Sentences out of filled lines."""
    done = [fill(r, line) for line in lines]
    return " ".join(s[:1].upper() + s[1:] + ("" if s[-1] in ".?!…" else "." if i < len(done) - 1 else r.choice([".", ".", "!", ""])) for i, s in enumerate(done))


def by_mood(r):
    picks = list(MOODS if r.random() < 0.45 else MOODS[:2])
    r.shuffle(picks)
    return "mood", [r.choice(names) for names, _, _ in picks], [meaning for _, _, meaning in picks], lambda at: fill(r, mood_text(r, picks[at][1]))


def written(r, texts, heads=()):
    """A message, at times with the words of a letter around it, where those are no intent themselves."""
    line = r.choice(texts)
    text = finished(r, [line])
    if r.random() < 0.8 or {"greeting", "goodbye", "thanks", "small talk", "congratulations", "apology", "praise"} & set(heads):
        return text
    text += "" if text[-1] in ".!?" else "."
    inner = text if line[0] == "{" or line.split()[0] in ("I", "Dr.", "Christmas") else text[0].lower() + text[1:]
    return r.choice([f"Hi, {inner}", f"Hello, {inner}", f"Dear team, {inner}", f"Excuse me, {inner}", f"Hello, this is {n.person(r)}. {text}", f"{text} Regards, {n.person(r)}", f"{text} Thanks!", f"{text} Please get back to me.", f"Good morning. {text}", f"Quick one: {inner}"])


def by_intent(r):
    while True:
        picks = r.sample(INTENTS, r.choice([2, 2, 3, 3, 4, 5, 6, 7, 8]))
        if apart([p[0][0] for p in picks], ALIKE):
            break
    return "intent", [r.choice(p[0]) for p in picks], [p[1] for p in picks], lambda at: written(r, picks[at][3], {p[0][0] for p in picks})


def by_department(r):
    picks = r.sample(list(DEPARTMENTS), r.randint(2, 6))
    texts = {name: [text for p in INTENTS if p[2] == name for text in p[3]] for name in picks}
    return "department", [r.choice(DEPARTMENTS[p][0]) for p in picks], [DEPARTMENTS[p][1] for p in picks], lambda at: written(r, texts[picks[at]])


def by_language(r):
    picks = r.sample(list(LANGUAGES), r.randint(2, 6))
    form = r.choice([None, None, None, 0, 1])
    return "language", picks if form is None else [SHORT[p][form] for p in picks], [f"the text is in {p}" for p in picks], lambda at: " ".join(fill(r, s) for s in r.sample(LANGUAGES[picks[at]].split("|"), r.choice([1, 1, 2])))


def by_member(r):
    """Which kind of thing a word is."""
    picks = things(r, r.randint(2, 5))
    return "member", [r.choice(names) for names, _ in picks], None, lambda at: r.choice(picks[at][1])


def by_set(r):
    kind = r.choice([k for k in SETS for _ in range(1 if k in ("unit", "number", "person form") else 2)])
    picks = [(names, meaning, texts.split("|")) for names, meaning, texts in SETS[kind]]
    if len(picks) > 3:
        picks = r.sample(picks, r.randint(2, min(6, len(picks))))
    elif r.random() < 0.4:
        r.shuffle(picks)
    place = r.randrange(20)
    names = [p[0][place % len(p[0])] for p in picks] if kind in ("urgency", "answer", "tense", "spam") else [r.choice(p[0]) for p in picks]
    return kind, names, [p[1] for p in picks], lambda at: fill(r, r.choice(picks[at][2]))


def by_stars(r):
    picks = r.choice([[0, 1, 2, 3, 4], [0, 2, 4], [0, 4], [0, 1, 2, 3, 4]])
    form = r.choice(["{}", "{} stars", "{}/5"])
    names = [form.format(STARS[p][0]).replace("1 stars", "1 star") for p in picks] if r.random() < 0.75 else [STARS[p][1] for p in picks]
    return "stars", names, [STARS[p][1] for p in picks], lambda at: finished(r, [r.choice(STAR_TEXTS[picks[at]].split("|"))])


def styled(r, names):
    """All names of a set in one way of writing."""
    x = r.random()
    if x < 0.5:
        return names
    if x < 0.65:
        return [name.replace(" ", "_").lower() for name in names]
    if x < 0.75:
        return [name.upper() for name in names]
    return [name.replace(" ", "_").upper() for name in names] if x < 0.82 else [name.replace(" ", "-").lower() for name in names] if x < 0.86 else [name[:1].upper() + name[1:] for name in names]


def listing(r, names, meanings):
    """(the labels one per line, the answers)."""
    x = r.random()
    if x < 0.4 and meanings:
        sign = r.choice(["{}: {}", "{} - {}", "- {}: {}", "* {} = {}", '"{}" ({})'])
        return "\n".join(sign.format(a, b) for a, b in zip(names, meanings)), names
    if x < 0.6:
        return "\n".join(f"- {a}" for a in names), names
    sign = r.choice(".)")
    marks = [str(i + 1) for i in range(len(names))] if r.random() < 0.6 else list("ABCDEFGH"[: len(names)])
    return "\n".join(f"{m}{sign} {a}" for m, a in zip(marks, names)), names if r.random() < 0.6 else marks


def told(r, names):
    """Labels that mean nothing by themselves, explained in the prompt."""
    codes = []
    while len(codes) < len(names):
        code = r.choice([n.word(r), n.code(r), "ABCDEFGH"[len(codes)]])
        codes += [code] * (code not in codes)
    return "\n".join(f"{c}: {p}" for c, p in zip(codes, names)), codes


def yes_no(r, kind, names, at, draw):
    """Whether one label fits."""
    yes = r.random() < 0.5
    name = names[at if yes else r.choice([i for i in range(len(names)) if i != at])]
    asks = [f'Does the label "{name}" fit this text?', f'Is "{name}" the right label for this?', f"Should this be filed under {name}?"]
    asks += {"topic": [f"Is this about {name}?", f"Is {name} the topic of this text?"] * 2, "department": [f"Is this for {name}?"] * 2, "language": [f"Is this text in {name}?"] * 2, "member": [f"Does this belong to the group {name}?"]}.get(kind, [])
    pair = r.choice([("yes", "no"), ("yes", "no"), ("Yes", "No"), ("true", "false"), ("YES", "NO")])
    tail = r.choice([f"Answer {pair[0]} or {pair[1]}.", f"({pair[0]}/{pair[1]})", f"Reply with {pair[0]} or {pair[1]} only."])
    text, ask = draw(at), r.choice(asks)
    return [("user", r.choice([f"{ask} {tail}\n\n{text}", f"{text}\n\n{ask} {tail}", f"{ask} {tail}\nText: {text}"])), ("assistant", pair[0] if yes else pair[1])]


def shots(r, names, draw):
    """The labels are shown by an example each; the last text is to be labelled."""
    order = list(range(len(names)))
    r.shuffle(order)
    at = r.choice(order)
    form = r.choice(["{t} => {a}", "Text: {t}\nLabel: {a}", "{t} -> {a}", "Input: {t}\nOutput: {a}", '"{t}": {a}'])
    lines = [form.format(t=draw(i), a=names[i]) for i in order]
    asked = form.format(t=draw(at), a="").rstrip()
    return [("user", r.choice(["", "", "Label the last text as in the examples.\n", "Examples:\n"]) + "\n".join([*lines, asked])), ("assistant", names[at])]


def clear(names, draw):
    """A draw whose text does not name another label."""

    def drawn(at):
        for _ in range(6):
            text = draw(at)
            if not any(re.search(rf"\b{re.escape(name.lower())}\b", text.lower()) for i, name in enumerate(names) if i != at):
                break
        return text

    return drawn


def loose(r, draw):
    """Now and then a text as it is typed in a hurry."""

    def drawn(at):
        text, x = draw(at), r.random()
        return text.lower().rstrip(".") if x < 0.07 else noise.typo(r, text) if x < 0.1 else text

    return drawn


def case(r):
    """A set of two to eight labels that differ."""
    while True:
        kind, names, meanings, draw = by_sheet(r) if r.random() < SHEETS else r.choice([by_topic, by_topic, by_topic, by_mood, by_mood, by_intent, by_intent, by_intent, by_department, by_language, by_member, by_set, by_set, by_set, by_stars])(r)
        draw = loose(r, draw) if kind in SHEET_QUESTIONS or kind in ("topic", "mood", "intent", "department", "stars") else draw
        draw = draw if kind in ("mood", "stars", "unit", "entity", "person form", "programming language") else clear(names, draw)
        names = names if kind in ("stars", "entity", "programming language") else styled(r, names)
        if len({name.lower() for name in names}) == len(names):
            return kind, names, meanings, draw


def labels(r, level=1.0):
    kind, names, meanings, draw = case(r)
    at, shown, x = r.randrange(len(names)), names, r.random()
    question = r.choice(QUESTIONS.get(kind, "Which label fits?|What is the right label?|How would you label this?").split("|"))
    if x < 0.1:
        return Dialogue(yes_no(r, kind, names, at, draw), kind="labels")
    if x > 0.95 and len(names) < 5 and kind not in ("programming language", "text kind"):
        return Dialogue(shots(r, names, draw), kind="labels")
    joined = r.choice([", ", ", ", " / ", " | "]).join(names if r.random() < 0.85 else [f'"{name}"' for name in names])
    wording = {"l": joined, "o": ", ".join(names[:-1]) + " or " + names[-1], "q": question}
    if x < 0.18:
        table, shown = told(r, names)
        asked = r.choice([f"{table}\n\nWhich code fits this text? {{t}}", f"Use this table:\n{table}\nAnswer with the code for: {{t}}", f"{{t}}\n\n{table}\nAnswer with the code that fits."])
    elif x < 0.36:
        table, shown = listing(r, names, meanings)
        extra = "" if shown is names else r.choice(["\nAnswer with the number.", "\nOnly give the number."] if shown[0] == "1" else ["\nAnswer with the letter.", "\nOnly give the letter."])
        asked = r.choice(LISTED).replace("{q}", question).replace("{l}", table) + extra
    else:
        asked = None
    if asked is None and r.random() < 0.12:
        key = r.choice(["label", "label", "category", "class", "result", "answer"])
        shown = [dumps({key: name}) for name in names]
        form = r.choice([f'Answer as JSON: {{"{key}": "..."}}', f'Reply only with JSON like {{"{key}": "..."}}.', f'Return a JSON object with the key "{key}".'])
        messages = [("system", f"{r.choice(SYSTEMS[:3]).format(**wording).replace(' Answer with the label only.', '').replace(' Answer with one label.', '')} {form}")] if r.random() < 0.5 else [("user", f"{r.choice(ASKS[:5]).format(t=draw(at), **wording)}\n{form}")]
    elif asked is None and r.random() < 0.27:
        messages = [("system", r.choice(SYSTEMS).format(**wording))]
    else:
        messages = [("user", asked.replace("{t}", draw(at)) if asked else r.choice(ASKS).format(t=draw(at), **wording))]
    if messages[0][0] == "system":
        messages.append(("user", draw(at)))
    elif r.random() < 0.15:
        messages.insert(0, ("system", "You are a helpful assistant."))
    messages.append(("assistant", shown[at]))
    for _ in range(r.choice([0, 0, 2, 4, 6, 8, 10, 12])):
        at = r.randrange(len(names))
        again = "{}" if messages[0][0] == "system" else r.choice(["{}", "{}", "And this: {}", "Next: {}", "And: {}"])
        messages += [("user", again.replace("{}", draw(at))), ("assistant", shown[at])]
    return Dialogue(messages, kind="labels")
