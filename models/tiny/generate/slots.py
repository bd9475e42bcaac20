"""Fills the slots of a sentence: `{o}` a thing, `{f}` a first name, `{l}` a place and so on, each drawn when it is met."""
from . import lexicon as lex
from . import names as n

MATERIALS = "oak steel leather silk wool clay marble cotton bronze bamboo glass iron plastic copper granite wax".split()
MAKERS = {
    "o": n.object_, "ao": lambda r: n.an(n.object_(r)), "os": lambda r: n.plural(r.choice(lex.NOUNS)), "c": n.code, "d": lambda r: r.choice(lex.DAYS), "mo": lambda r: r.choice(lex.MONTHS), "p": n.person, "f": n.first, "la": n.last,
    "r": lambda r: r.choice(lex.ROLES), "ar": lambda r: n.an(r.choice(lex.ROLES)), "t": n.clock, "l": n.place, "m": n.price, "k": lambda r: str(r.randint(2, 99)), "n": lambda r: r.choice(lex.NUMBER_WORDS) if r.random() < 0.5 else str(r.randint(3, 60)),
    "y": n.year, "ti": n.title, "co": n.company, "w": lambda r: n.word(r, 1, 2), "pr": n.proper, "da": n.date, "ma": lambda r: r.choice(MATERIALS), "q": n.quantity, "a": lambda r: r.choice(lex.ADJECTIVES),
}


class Slots(dict):
    """Values made on demand; `{f2}` is a second one of the kind of `{f}`."""

    def __init__(self, r, **given):
        super().__init__(given)
        self.r = r

    def __missing__(self, key):
        self[key] = value = MAKERS[key.rstrip("2")](self.r)
        return value


def fill(r, text, **given):
    done = text.format_map(Slots(r, **given)) if "{" in text else text
    return done.replace("the The ", "The ").replace("The The ", "The ")
