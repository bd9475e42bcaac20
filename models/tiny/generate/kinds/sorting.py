"""Many small choices in one answer: what words mean is learned by choosing, and most other kinds choose but once in a hundred tokens."""
from ..chat import Dialogue, dumps
from ..tool_values import FAMILIES
from . import labels, tools

SORT = ["Sort these into {l}:\n{t}", "Give each line one of the labels {l}.\n{t}", "{t}\n\nLabel every line with {o}.", "Labels: {l}\n{t}", "Which of {o} is each of these?\n{t}", "{t}\nFor each: {o}?", "Classify each item as one of: {l}.\n\n{t}"]
GOES = ["Which word goes with it?\n{t}", "For each word, choose the one that goes with it.\n{t}", "{t}\n\nPick the word that fits each.", "Match by meaning:\n{t}"]
ODD = ["Which word does not belong?\n{t}", "Find the odd one out in each line.\n{t}", "{t}\n\nOne word in each line does not fit. Which?"]
SERVES = ["Which function serves each request?\n{l}\n\n{t}", "Functions:\n{l}\nRequests:\n{t}\nName the function for each.", "{t}\n\nChoose for each request:\n{l}", "For each message, name the tool to use.\nTools:\n{l}\n\n{t}"]


def numbered(r, items, answers):
    """(the items one per line, the answers in the same order), each in a form that repeats a number or nothing."""
    sign = r.choice([". ", ") ", ": "])
    lines = "\n".join(f"{at}{sign}{item}" for at, item in enumerate(items, 1))
    x = r.random()
    if x < 0.75:
        return lines, "\n".join(f"{at}{sign}{answer}" for at, answer in enumerate(answers, 1))
    if x < 0.85:
        return lines + "\nAnswer as a JSON list.", dumps(answers)
    return lines + "\nAnswer as JSON, by number.", dumps({str(at): answer for at, answer in enumerate(answers, 1)})


def echoed(r, items, answers):
    """The same for short items: the answer repeats each of them."""
    sign = r.choice([": ", " - ", " -> ", " = "])
    lines = r.choice(["\n", "\n", ", ", "; "]).join(items)
    return lines, "\n".join(item + sign + answer for item, answer in zip(items, answers))


def asked(r, forms, laid, **wording):
    lines, answer = laid
    text = r.choice(forms)
    for name, value in wording.items():
        text = text.replace("{" + name + "}", value)
    return Dialogue([("user", text.replace("{t}", lines)), ("assistant", answer)], kind="sorting")


def groups_of(r, count):
    """[(one of its names, the words that only it has)]"""
    picks = (labels.topics if r.random() < 0.75 else labels.things)(r, count)
    return [(r.choice(names), [w.replace("-", " ") for w in words]) for names, words in picks]


def words_by_group(r):
    groups = groups_of(r, r.choice([2, 2, 3, 3, 4, 5]))
    pairs = list({word: name for name, word in ((name, r.choice(words)) for name, words in r.choices(groups, k=r.randint(6, 14)))}.items())
    names = [name for name, _ in groups]
    laid = (echoed if r.random() < 0.7 else numbered)(r, [word for word, _ in pairs], [name for _, name in pairs])
    return asked(r, SORT, laid, l=", ".join(names), o=", ".join(names[:-1]) + " or " + names[-1])


def texts_by_label(r):
    kind, names, _, draw = labels.case(r)
    first = draw(r.randrange(len(names)))
    # More of them where they are short, by the first that is drawn.
    picks = [r.randrange(len(names)) for _ in range(r.randint(7, 14) if len(first) < 45 else r.randint(4, 9))]
    items = [draw(at).replace("\n", " ") for at in picks]
    laid = (echoed if kind == "member" and r.random() < 0.5 else numbered)(r, items, [names[at] for at in picks])
    return asked(r, SORT, laid, l=", ".join(names), o=", ".join(names[:-1]) + " or " + names[-1])


def goes_with(r):
    """Of two or three words the one of the same group."""
    lines, answers = [], []
    for _ in range(r.randint(4, 9)):
        (_, words), *others = groups_of(r, r.choice([2, 2, 3]))
        word, right = r.sample(words, 2)
        choice = [right, *(r.choice(o) for _, o in others)]
        r.shuffle(choice)
        lines.append((word, choice))
        answers.append(right)
    form = r.choice(["{} ({})", "{}: {}?", "{} -> {}"])
    items = [form.format(word, ", ".join(choice[:-1]) + " or " + choice[-1]) for word, choice in lines]
    if r.random() < 0.5:
        return asked(r, GOES, numbered(r, items, answers))
    return asked(r, GOES, ("\n".join(items), "\n".join(f"{word}: {right}" for (word, _), right in zip(lines, answers))))


def odd_one_out(r):
    items, answers = [], []
    for _ in range(r.randint(3, 7)):
        (_, words), (_, others) = groups_of(r, 2)
        line = [*r.sample(words, min(len(words), r.choice([2, 3, 3]))), r.choice(others)]
        answers.append(line[-1])
        r.shuffle(line)
        items.append(", ".join(line))
    return asked(r, ODD, numbered(r, items, answers))


def requests_by_function(r):
    families = tools.offer(r, 6) if r.random() < 0.5 else []
    for _ in range(60 if not families else 0):
        one = tools.made_up(r) if r.random() < 0.15 else r.choice(FAMILIES)
        if len(families) < 6 and not any(tools.clash(one, other) for other in families) and one.names[0] not in tools.GREEDY:
            families.append(one)
    families = families[: r.choice([2, 3, 4, 5, 6])]
    names = [tools.styled(r, r.choice(one.names)) for one in families]
    told = "\n".join(r.choice([f"- {name}: {r.choice(one.descriptions)}", f"{name} - {r.choice(one.descriptions)}"] if not one.domain or r.random() < 0.7 else [f"- {name}"]) for name, one in zip(names, families))
    picks = [r.randrange(len(families)) for _ in range(r.randint(5, 14))]
    items = []
    for at in picks:
        items.append(tools.spoken(r, families[at]).replace("\n", " "))
    return asked(r, SERVES, numbered(r, items, [names[at] for at in picks]), l=told)


def sorting(r, level=1.0):
    return r.choice([words_by_group, words_by_group, texts_by_label, texts_by_label, texts_by_label, texts_by_label, goes_with, goes_with, odd_one_out, *[requests_by_function] * 6])(r)
