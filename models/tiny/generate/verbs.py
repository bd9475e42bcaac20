"""A verb in a tense: how it stands in a sentence and in questions."""
from dataclasses import dataclass

MODALS = ["will", "will", "will", "must", "can", "should", "may"]


@dataclass
class Verb:
    """`said` after the subject, `who` after "who", `aux` before the subject of a question, `be` and `participle` in the passive."""

    base: str
    said: str
    who: str
    aux: str
    participle: str
    modal: str | None
    past: bool

    def be(self, many):
        if self.modal:
            return f"{self.modal} be"
        return ("were" if many else "was") if self.past else ("are" if many else "is")

    def asked(self, many):
        """The passive in a question: what stands before and after the subject."""
        if self.modal:
            return self.modal, f"be {self.participle}"
        return self.be(many), self.participle


def third(base):
    head, _, rest = base.partition(" ")
    if head.endswith(("s", "x", "ch", "sh", "o", "z")):
        head += "es"
    elif head.endswith("y") and head[-2:-1] not in "aeiou":
        head = head[:-1] + "ies"
    else:
        head += "s"
    return f"{head} {rest}" if rest else head


def tense(r, base, past, participle="", many=False):
    x = r.random()
    if x < 0.58:
        return Verb(base, past, past, "did", participle, None, True)
    if x < 0.86:
        return Verb(base, base if many else third(base), third(base), "do" if many else "does", participle, None, False)
    modal = r.choice(MODALS)
    return Verb(base, f"{modal} {base}", f"{modal} {base}", modal, participle, modal, False)
