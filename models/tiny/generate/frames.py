"""Free sentences: who did what to what, where, when, how many, why; with a question for each part, made by rule, not by template."""
from . import lexicon as lex
from . import names as n
from .verbs import tense


def subject(r):
    x = r.random()
    if x < 0.45:
        return n.person(r)
    if x < 0.75:
        adjective = r.choice(["", "", "old ", "young ", "new ", "local ", "tall ", "retired ", "nervous ", "clever ", f"{r.choice(lex.ADJECTIVES)} "])
        return f"the {adjective}{r.choice(lex.ROLES)}"
    if x < 0.83:
        return n.company(r)
    return f"the {r.choice(lex.ROLES)} {n.person(r)}" if x < 0.89 else several(r)


def several(r):
    """More than one: `is_many` tells by the first word."""
    role = n.plural(r.choice(lex.ROLES))
    return r.choice([role, f"the {role}", f"{r.choice(lex.NUMBER_WORDS)} {role}", f"{n.first(r)} and {n.first(r)}", f"both {role}", f"most {role}", f"all {role}"])


def is_many(s):
    head, last = s.split()[0], s.split()[-1]
    return head in ("both", "most", "all", "they") or head in lex.NUMBER_WORDS or " and " in s or (last in PLURALS and head in ("the", last))


PLURALS = {n.plural(role) for role in lex.ROLES} - set(lex.ROLES)


def thing(r):
    """(phrase, number, bare plural): number is None for a single thing."""
    x = r.random()
    if x < 0.22:
        count = n.number(r)
        noun = n.object_(r).split()
        many = " ".join([*noun[:-1], n.plural(noun[-1])])
        return f"{count} {many}", count, many
    if x < 0.8:
        text = n.object_(r)
        return (f"the {text}" if r.random() < 0.6 else n.an(text)), None, None
    if x < 0.9:
        return f"the {n.object_(r)} of {n.person(r)}", None, None
    return n.title(r), None, None


def frame(r):
    """(sentence, [(question, answer)], parts that it lacks as questions)."""
    base, past, participle = r.choice(lex.VERBS)
    s, (o, count, many) = subject(r), thing(r)
    verb = tense(r, base, past, participle, is_many(s))
    place = n.where(r) if r.random() < 0.6 else None
    time = n.when(r) if r.random() < 0.6 else None
    reason = r.choice(lex.REASONS) if r.random() < 0.25 else None
    other = subject(r) if r.random() < 0.12 else None
    tail = [x for x in (place, time) if x]
    r.shuffle(tail)
    if other:
        tail.insert(0, f"with {other}")
    passive = r.random() < 0.35
    front = tail.pop() if tail and not other and r.random() < 0.35 else None
    body = [o, verb.be(count), participle, "by", s] if passive else [s, verb.said, o]
    if passive and r.random() < 0.3 and (place or time):
        body, s = body[:-2], None
    words = [*body, *tail, *([reason] if reason else [])]
    text = " ".join(words)
    text = f"{upper(front)}{',' if r.random() < 0.7 else ''} {text}" if front else upper(text)
    asked = questions(r, verb, s, o, count, many, place, time, reason, other)
    return text + ".", [(q, a) for q, a in asked if a], [q for q, a in asked if not a]


def upper(text):
    return text[:1].upper() + text[1:]


def questions(r, verb, s, o, count, many, place, time, reason, other):
    ob = same(r, o)
    be, done = verb.asked(count)
    passive = f"{be} {ob} {done}"
    do = f"{verb.aux} {s} {verb.base} {ob}" if s else passive
    out = [
        (r.choice([f"Where {do}?", f"Where {passive}?", f"In which place {passive}?"]), place),
        (r.choice([f"When {do}?", f"When {passive}?", f"At what time {do}?"]), time),
        (r.choice([f"Why {do}?", f"Why {passive}?", f"For what reason {do}?"]), reason),
        (f"With whom {do}?", other),
        (r.choice([f"Who {verb.who} {ob}?", f"By whom {passive}?", f"Who is it that {verb.who} {ob}?"]), s),
    ]
    if s:
        out.append((r.choice([f"What {verb.aux} {s} {verb.base}?", f"What is it that {s} {verb.said}?", f"What {be} {done} by {s}?"]), o))
    if count:
        out.append((r.choice([f"How many {many} {f'{verb.aux} {s} {verb.base}' if s else f'{be} {done}'}?", f"How many {many} {be} {done}?"]), count))
    if time:
        from .stories import asked_time

        out.append(asked_time(r, do, time))
    return out


def same(r, o):
    """The thing as a question names it again: known by now."""
    first, _, rest = o.partition(" ")
    return f"the {rest}" if first in ("a", "an") and rest else o
