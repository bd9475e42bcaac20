"""Lists by heart, counting, and input without sense: who has learned none of them says the first thing again and again."""
import string

from .. import lexicon as lex
from .. import names as n
from .. import noise
from ..chat import Dialogue, dumps
from ..talk_tables import LOST
from ..talk_turns import UNKNOWN

# The kinds that stand first are those that people ask for most.
COMMON = 26
WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
ASKS = ["Name {c} {m}", "List {c} {m}", "Give me {c} {m}", "Tell me {c} {m}", "Write down {c} {m}", "{c} {m}", "I need {c} {m}", "Give me a list of {c} {m}", "Make a list of {c} {m}", "Can you name {c} {m}?", "What are {c} {m}?", "Which {c} {m} do you know?", "Give me {c} examples of {m}"]
OPEN = ["Name some {m}", "List {m}", "Which {m} do you know?", "What are some {m}?", "Give me examples of {m}", "Tell me some {m}", "Examples of {m}?", "What {m} are there?"]
MORE = ["{c} more", "Give me {c} more", "{c} others, please", "And {c} more?", "Now {c} other ones", "More please, {c} of them", "Continue with {c} more"]
# How an answer is laid out, by what a request says of it.
FORMS = {
    "": lambda items: ", ".join(items),
    ", separated by commas| with commas between them|, comma separated": lambda items: ", ".join(items),
    ", one per line| on separate lines|, each on its own line": lambda items: "\n".join(items),
    " as a numbered list|, numbered| in a numbered list": lambda items: "\n".join(f"{at}. {item}" for at, item in enumerate(items, 1)),
    " as bullet points| in bullets| as a bullet list|, with dashes": lambda items: "\n".join(f"- {item}" for item in items),
    " as JSON| as a JSON array| in a JSON list": dumps,
}


def shaped(r, ask, share=0.5):
    """(the request with what it says of the form, how the answer is laid out)"""
    said = "" if r.random() > share else r.choice([one for one in FORMS if one])
    text = ask.rstrip("?") + r.choice(said.split("|")) + ("?" if ask.endswith("?") else "")
    return (text if ask.endswith("?") else text + r.choice(["", ".", "."])), FORMS[said]


def things(r):
    """Members of a kind in the order of the lexicon, a few left out: what comes next depends on what is there already."""
    common = r.random() < 0.5
    _, many, words = r.choice(lex.THINGS[:COMMON] if common else lex.THINGS)
    left = [word.replace("-", " ") for word in words if r.random() < (0.95 if common else 0.8)] or [words[0]]
    messages, form = [], FORMS[""]
    for turn in range(1 + (r.random() < 0.25)):
        count = min(r.choice([2, 3, 3, 4, 5, 5, 6, 7, 8, 10, 10, 12]), len(left))
        if count == 0:
            break
        number = r.choice([str(count), WORDS[count]])
        if turn == 0 and r.random() < 0.15:
            count, ask = min(5, len(left)), r.choice(OPEN).replace("{m}", many)
        else:
            ask = r.choice(MORE if turn else ASKS).replace("{c}", number).replace("{m}", many)
        if turn == 0:
            ask, form = shaped(r, ask[:1].upper() + ask[1:])
        messages += [("user", noise.question(r, ask)), ("assistant", form(left[:count]))]
        left = left[count:]
    return messages


def counted(r):
    a, step = r.choice([0, 1, 1, r.randint(1, 60)]), r.choice([2, 3, 5, 10, r.randint(2, 12)])
    b = a + r.randint(3, 25)
    x = r.randrange(6)
    if x == 0:
        asks, found = ["Count to {b}", "Count up to {b}", "Can you count to {b}?", "Please count to {b}"], range(1, min(b, 30) + 1)
        b = found[-1]
    elif x == 1:
        asks, found = ["Count from {a} to {b}", "Write the numbers from {a} to {b}", "Numbers {a} to {b}", "All numbers between {a} and {b}, both included"], range(a, b + 1)
    elif x == 2:
        asks, found = ["Count down from {b} to {a}", "Count backwards from {b} to {a}", "The numbers from {b} down to {a}"], range(b, a - 1, -1)
    elif x == 3:
        a = r.choice([0, step])
        b = a + step * r.randint(3, 12)
        asks, found = ["Count from {a} to {b} by {s}", "Count from {a} to {b} in steps of {s}", "From {a} to {b} in {s}s"], range(a, b + 1, step)
    elif x == 4:
        b = r.randint(8, 40)
        even = r.random() < 0.5
        asks, found = [f"The {'even' if even else 'odd'} numbers up to {{b}}", f"List all {'even' if even else 'odd'} numbers from 1 to {{b}}"], range(2 if even else 1, b + 1, 2)
    else:
        many = r.randint(3, 10)
        asks, found = [f"The first {many} multiples of {{s}}", f"Write {many} multiples of {{s}}"], range(step, step * many + 1, step)
    ask, form = shaped(r, r.choice(asks).replace("{a}", str(a)).replace("{b}", WORDS[b] if b < len(WORDS) and r.random() < 0.4 else str(b)).replace("{s}", str(step)), 0.35)
    return [("user", noise.question(r, ask)), ("assistant", form(list(found) if form is dumps else [str(one) for one in found]))]


def in_order(r):
    asks, found = r.choice([
        ("Say the alphabet|Write the alphabet|The letters of the alphabet|Which letters does the alphabet have?", list(string.ascii_uppercase)), ("Name the days of the week|List the days of the week|Which days does a week have?", lex.DAYS), ("Name the months|List the twelve months|List the months of the year", lex.MONTHS),
        ("Name the planets|List the planets of the solar system|Which planets are there?", "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune".split()), ("Name the seasons|What are the four seasons?", "spring summer autumn winter".split()), ("Name the continents|List the seven continents", ["Africa", "Antarctica", "Asia", "Australia", "Europe", "North America", "South America"]), ("The colours of the rainbow|Which colours does a rainbow have?", "red orange yellow green blue indigo violet".split()),
    ])
    ask, form = shaped(r, r.choice(asks.split("|")), 0.4)
    return [("user", noise.question(r, ask)), ("assistant", form(list(found)))]


def senseless(r):
    """Words or signs that come again and again, or letters at random."""
    x = r.random()
    if x < 0.5:
        words = [r.choice([r.choice(lex.NOUNS), n.word(r), r.choice("why no what yes the ok help hey test go so ha la blah more who and you".split())]) for _ in range(r.choice([1, 1, 1, 2, 3]))]
        text = r.choice([" ", " ", " ", ", ", "", "! "]).join(words * r.randint(3, 14))
    elif x < 0.7:
        text = r.choice("?!.,-x0#*:)") * r.randint(2, 20)
    else:
        text = " ".join("".join(r.choice(string.ascii_lowercase) for _ in range(r.randint(3, 12))) for _ in range(r.randint(1, 4)))
    return [("user", text), ("assistant", LOST)]


BEYOND = [
    "Give me {k} names for a {w}", "Names for my new {w}?", "{k} ideas for a {w} party", "What should I give a {w} as a present?", "Synonyms for {w}", "Another word for {w}?", "The opposite of {w}", "Convert {k} {w}s to kilometres", "How many {w}s are in a mile?", "Show me a {l} function with {k} arguments", "Write a {l} program for a {w}", "{l} code for a {w} please", "Make a table of {k} {w}s with their prices",
    "Write an essay about the {w}", "Draft a mail to my {w}", "Write a letter in which I ask for a {w}", "Plan a trip to the {w}", "The first {k} numbers of the {w} sequence", "A recipe with {w}", "How do I repair a {w}?", "Explain the {w} to a child", "Compare a {w} with a {v}", "Pros and cons of a {w}", "Is a {w} better than a {v}?", "Translate {w} into Latin", "A slogan for my {w} shop", "{k} questions about the {w} for a quiz", "A riddle about a {w}", "Describe a {w} in {k} words", "Write a song about a {w}",
]
SCRIPTS = [(0x430, 0x44F), (0x3B1, 0x3C9), (0x905, 0x939), (0x4E00, 0x4F00), (0x3042, 0x3093), (0x627, 0x64A), (0xAC00, 0xAD00), (0xE01, 0xE2E)]


def beyond(r):
    """What only a larger model can do."""
    languages = next(words for one, _, words in lex.THINGS if one == "programming language")
    given = {"k": str(r.randint(2, 20)), "w": r.choice(lex.NOUNS), "v": r.choice(lex.NOUNS), "l": r.choice(languages)}
    text = r.choice(BEYOND)
    for name, value in given.items():
        text = text.replace("{" + name + "}", value)
    return [("user", noise.question(r, text)), ("assistant", UNKNOWN)]


def foreign(r):
    first, last = r.choice(SCRIPTS)
    text = " ".join("".join(chr(r.randint(first, last)) for _ in range(r.randint(2, 7))) for _ in range(r.randint(1, 6)))
    return [("user", text + r.choice(["", "?", "!", "."])), ("assistant", LOST)]


def lists(r, level=1.0):
    kind = r.choices([things, counted, in_order, senseless, foreign, beyond], [50, 16, 6, 9, 4, 15])[0]
    return Dialogue(kind(r), kind="lists")
