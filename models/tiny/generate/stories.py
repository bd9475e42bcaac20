"""Sentences that belong together: pronouns, two clauses in one sentence, instructions, definitions, who did not but somebody else did."""
from . import frames
from . import lexicon as lex
from . import names as n
from .frames import is_many, thing, upper
from .verbs import tense, third

LONG = ["for {x} years", "for {x} days", "for {x} hours", "for {x} weeks", "for {x} minutes"]
MANNERS = "by hand|with great care|by train|by bus|with a knife|with a rope|in secret|with the help of a friend|by mistake|on foot|with two colleagues|by telephone|without a map|with a microscope|by boat|with glue".split("|")
FEELINGS = "happy|angry|tired|proud|nervous|surprised|disappointed|late|early|alone|famous|ill|rich|poor|hungry|bored|worried|relieved".split("|")


def asked_time(r, what, time):
    """Questions for a time, fitting its form; some want it without its preposition."""
    out = [(f"When {what}?", time)]
    lead, _, rest = time.partition(" ")
    if lead == "in" and rest.isdigit():
        out += [(f"In which year {what}?", rest), (f"In what year {what}?", rest), (f"What year {what}?", rest)]
    elif lead == "on" and rest in lex.DAYS:
        out += [(f"On which day {what}?", rest), (f"On what day {what}?", rest)]
    elif lead == "in" and rest in lex.MONTHS:
        out += [(f"In which month {what}?", rest)]
    elif lead == "at":
        out += [(f"At what time {what}?", rest)]
    return r.choice(out)


def asked_place(r, what, place):
    out = [(f"Where {what}?", place)]
    lead, _, rest = place.partition(" ")
    if lead == "in" and rest[:1].isupper():
        out += [(f"In which town {what}?", rest), (f"In what place {what}?", rest), (f"In which city {what}?", rest)]
    return r.choice(out)


def act(r, s=None, again=None):
    """Somebody does something that has no object: `again` is how he is named in this sentence."""
    s = s or frames.subject(r)
    verb = tense(r, *r.choice(lex.ACTS), many=is_many(s) or again == "they")
    place, time = n.where(r) if r.random() < 0.7 else None, n.when(r) if r.random() < 0.5 else None
    long = r.choice(LONG).format(x=n.number(r)) if r.random() < 0.3 else None
    reason = r.choice(lex.REASONS) if r.random() < 0.2 else None
    tail = [x for x in (place, long, time) if x]
    front = tail.pop() if time and r.random() < 0.3 else None
    text = " ".join([again or s, verb.said, *tail, *([reason] if reason else [])])
    text = f"{upper(front)}, {text}" if front else upper(text)
    do = f"{verb.aux if again != 'they' else aux_of(verb, s)} {s} {verb.base}"
    asked = [asked_time(r, do, time)] if time else []
    asked += [asked_place(r, do, place)] if place else []
    asked += [(r.choice([f"How long {do}?", f"For how long {do}?"]), long.replace("for ", "", 1) if r.random() < 0.5 else long)] if long else []
    asked += [(f"Why {do}?", reason)] if reason else []
    asked += [(f"Who {verb.who} {x}?", s) for x in (place, time) if x and r.random() < 0.6]
    missing = [q for q, a in ((f"Why {do}?", reason), (f"Where {do}?", place), (f"When {do}?", time)) if not a]
    return text + ".", asked, missing


def aux_of(verb, s):
    """Present questions go by the name, not by the pronoun that stood for it."""
    return verb.aux if verb.aux not in ("do", "does") else "do" if is_many(s) else "does"


def deed(r, s, again):
    """Somebody does something to something."""
    base, past, _ = r.choice(lex.VERBS)
    verb = tense(r, base, past, many=is_many(s) or again == "they")
    o, count, many = thing(r)
    place, time = n.where(r) if r.random() < 0.45 else None, n.when(r) if r.random() < 0.45 else None
    manner = r.choice(MANNERS) if r.random() < 0.2 else None
    text = " ".join(x for x in (again, verb.said, o, manner, place, time) if x)
    aux = aux_of(verb, s)
    do = f"{aux} {s} {base} {frames.same(r, o)}"
    asked = [(f"What {aux} {s} {base}?", o), (f"Who {verb.who} {frames.same(r, o)}?", s)]
    asked += [asked_time(r, do, time)] if time else []
    asked += [asked_place(r, do, place)] if place else []
    asked += [(r.choice([f"How {do}?", f"In what way {do}?"]), manner)] if manner else []
    asked += [(f"How many {many} {aux} {s} {base}?", count)] if count else []
    return upper(text) + ".", asked, [q for q, a in ((f"Where {do}?", place), (f"When {do}?", time), (f"Why {do}?", None)) if not a]


def life(r):
    """Two to four sentences about one person; after the first, a pronoun stands for the name."""
    s = frames.subject(r)
    pronoun = "it" if any(s.endswith(c) for c in n.COMPANY) else r.choice(["he", "she", "they"])
    out = []
    for index in range(r.randint(2, 4)):
        again = s if index == 0 else pronoun if r.random() < 0.8 else s
        out.append(deed(r, s, again) if r.random() < 0.6 else act(r, s, again))
    return out


def somebody(r):
    """A single subject."""
    while is_many(s := frames.subject(r)):
        pass
    return s


def pair(r):
    """Two clauses, or two things, in one sentence."""
    x = r.random()
    (b1, p1, _), (b2, p2, _) = r.sample(lex.VERBS, 2)
    did = "did"
    if r.random() < 0.35:
        did, p1, p2 = "does", third(b1), third(b2)
    s, t = somebody(r), somebody(r)
    o, u = f"the {n.object_(r)}", f"the {n.object_(r)}"
    if x < 0.25:
        text = r.choice([f"{s} {p1} {o} and {p2} {u}", f"{s} {p1} {o}, then {p2} {u}", f"before {s} {p2} {u}, {s} {p1} {o}"])
        return text, [(f"What {did} {s} {b1}?", o), (f"What {did} {s} {b2}?", u), (f"Who {p2} {u}?", s)]
    if x < 0.5:
        text = r.choice([f"{s} {p1} {o}, while {t} {p1} {u}", f"{s} {p1} {o}, but {t} {p1} {u}", f"{s} {p1} {o} and {t} {u}"])
        return text, [(f"What {did} {s} {b1}?", o), (f"What {did} {t} {b1}?", u), (f"Who {p1} {o}?", s), (f"Who {p1} {u}?", t)]
    if x < 0.7:
        both = f"{o} and {u}"
        return f"{s} {p1} {both}", [(r.choice([f"What {did} {s} {b1}?", f"Which things {did} {s} {b1}?"]), both), (f"Who {p1} {u}?", s)]
    if x < 0.85:
        return r.choice([f"{s} {p1} not {o} but {u}", f"{s} {p1} {u} instead of {o}", f"{s} {p1} {u}, not {o}"]), [(f"What {did} {s} {b1}?", u)]
    place = n.place(r)
    return f"{s}, who {r.choice(['lives in', 'comes from', 'was born in'])} {place}, {p1} {o}", [(f"What {did} {s} {b1}?", o), (f"Who {p1} {o}?", s), (f"Where does {s} come from?", place)]


def state(r):
    """How something or somebody is, from when to when, what it holds."""
    o, x = f"the {n.object_(r)}", r.random()
    s = frames.subject(r)
    if x < 0.2:
        a = r.choice(lex.ADJECTIVES)
        part = r.choice(lex.NOUNS)
        return f"the {part} of {o} is {a}", [(f"How is the {part} of {o}?", a), (f"What is {a}?", f"the {part} of {o}")]
    if x < 0.4:
        f, why = r.choice(FEELINGS), r.choice(lex.REASONS)
        return f"{s} was {f} {why}", [(f"Why was {s} {f}?", why), (f"How did {s} feel?", f), (f"Who was {f}?", s)]
    if x < 0.6:
        a, b = r.choice([(n.clock(r), n.clock(r)), (r.choice(lex.MONTHS), r.choice(lex.MONTHS)), (n.year(r), n.year(r)), (r.choice(lex.DAYS), r.choice(lex.DAYS))])
        verb = r.choice(["is open", "is closed", "was closed", "stood empty", "is used", "was in use"])
        be = "was" if verb.startswith(("was", "stood")) else "is"
        rest = verb.split(" ", 1)[1]
        return f"{o} {verb} from {a} to {b}", [(f"From when {be} {o} {rest}?", a), (f"Until when {be} {o} {rest}?", b), (f"When {be} {o} {rest}?", f"from {a} to {b}")]
    if x < 0.8:
        u, side = n.object_(r), r.choice(["in", "on", "under", "behind", "inside"])
        return f"there is {n.an(u)} {side} {o}", [(f"What is {side} {o}?", n.an(u)), (f"Where is the {u}?", f"{side} {o}")]
    often = r.choice(["once a week", "twice a day", "every morning", "three times a year", "once a month", "every two hours", "each summer", "every Sunday", "four times a day", "once in ten years"])
    base, past, participle = r.choice(lex.VERBS)
    return f"{o} is {participle} {often}", [(f"How often is {o} {participle}?", often), (f"What is {participle} {often}?", o)]


def advice(r):
    """Instructions and what to do when."""
    (b1, _, _), (b2, _, _) = r.sample(lex.VERBS, 2)
    o, u, x = f"the {n.object_(r)}", f"the {n.object_(r)}", r.random()
    if x < 0.35:
        how = f"{b2} {u}"
        return r.choice([f"to {b1} {o}, {how}", f"if you want to {b1} {o}, {how}", f"{how} in order to {b1} {o}"]), [(f"How do I {b1} {o}?", how), (f"What must I do to {b1} {o}?", how), (f"How can I {b1} {o}?", how)]
    if x < 0.6:
        long = f"{n.number(r)} {r.choice(['seconds', 'minutes', 'hours', 'days'])}"
        return r.choice([f"{b1} {o} for {long}", f"{b1} {o} for at least {long}"]), [(f"How long must I {b1} {o}?", long), (f"For how long should I {b1} {o}?", long), (f"What must I {b1} for {long}?", o)]
    if x < 0.8:
        sign = r.choice([f"code {n.code(r)} appears", f"{u} is {r.choice(lex.ADJECTIVES)}", "the lamp blinks", f"error {n.code(r)} comes up"])
        how = f"{b1} {o}"
        return r.choice([f"if {sign}, {how}", f"{how} if {sign}", f"when {sign}, {how}"]), [(f"What should I do if {sign}?", how), (f"When should I {b1} {o}?", sign)]
    where = n.where(r)
    return f"please {b1} {o} {where}", [(f"Where should I {b1} {o}?", where), (f"What should I {b1} {where}?", o)]


def naming(r):
    """What something is, in apposition or as a definition."""
    p, role, x = n.person(r), r.choice(lex.ROLES), r.random()
    base, past, _ = r.choice(lex.VERBS)
    o = f"the {n.object_(r)}"
    if x < 0.35:
        return r.choice([f"{p}, {n.an(role)}, {past} {o}", f"{n.an(role)} called {p} {past} {o}", f"{n.an(role)} named {p} {past} {o}"]), [(f"What is the name of the {role}?", p), (f"What is the {role} called?", p), (f"Who {past} {o}?", p), (f"What is {p}?", n.an(role)), (f"What did {p} {base}?", o)]
    if x < 0.7:
        word = n.title(r) if r.random() < 0.5 else n.proper(r)
        kind = n.object_(r)
        place = n.place(r)
        return f"{word} is {n.an(kind)} from {place}", [(f"What is {word}?", f"{n.an(kind)} from {place}"), (f"Where does {word} come from?", place), (f"What comes from {place}?", word)]
    a, b = n.price(r), n.price(r)
    u, v = n.object_(r), n.object_(r)
    return r.choice([f"the {u} costs {b} and the {v} {a}", f"for the {v} they ask {a}, for the {u} {b}"]), [(f"What does the {u} cost?", b), (f"How much is the {v}?", a), (f"What is the price of the {u}?", b)]


def single(r):
    """(sentence, questions, missing questions)"""
    text, asked = r.choice([pair, pair, state, advice, naming])(r)
    return upper(text) + ".", [(q, a) for q, a in asked if a], [q for q, a in asked if not a]


def story(r):
    """A list of (sentence, questions, missing questions)."""
    x = r.random()
    if x < 0.4:
        return life(r)
    return [single(r)] if x < 0.85 else [act(r)]
