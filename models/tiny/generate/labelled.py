"""Short texts with their labels, written by hand (`labelled/*.txt`): `? questions`, then a label a line: `names # meaning # text | text`."""
import re

from .sheets import SLOT, Values, blocks, known, report


class Set:
    def __init__(self, where, name, lines):
        self.where, self.name, self.questions, self.labels, self.wrong = where, name, [], [], []
        for number, line in lines:
            if line.startswith("?"):
                self.questions = [q.strip() for q in line[1:].split("|") if q.strip()]
                continue
            parts = [part.strip() for part in line.split(" # ")]
            if len(parts) != 3:
                self.wrong.append(f"line {number} has {len(parts)} parts, not names # meaning # texts")
                continue
            texts = [text.strip() for text in parts[2].split("|") if text.strip()]
            self.labels.append(([one.strip() for one in parts[0].split(",") if one.strip()], parts[1], texts))

    def errors(self):
        yield from self.wrong
        if not self.questions or len(self.labels) < 2:
            yield "it has no questions or fewer than two labels"
        names = [one.lower() for names, _, _ in self.labels for one in names]
        yield from (f"two labels may be called {one}" for one in set(names) if names.count(one) > 1)
        texts = [text for _, _, texts in self.labels for text in texts]
        yield from (f"twice: {text}" for text in set(texts) if texts.count(text) > 1)
        yield from (f"no slot is called {slot}" for text in texts for slot in SLOT.findall(text) if not known(slot))
        yield from (f"brackets do not match: {text}" for text in texts if re.search(r"[{}]", SLOT.sub("", text)))
        yield from (f"{names[0]} has {len(texts)} texts only" for names, _, texts in self.labels if len(texts) < 6)


SETS = [Set(*block) for block in blocks("labelled")]


def by_sheet(r):
    """(kind, names, meanings, draw) of two to eight labels of a set, as `kinds/labels.py` draws its cases."""
    chosen = r.choice(SETS)
    count = len(chosen.labels) if len(chosen.labels) < 4 or r.random() < 0.4 else r.randint(2, len(chosen.labels))
    picks = r.sample(chosen.labels, min(count, 8))
    return chosen.name, [r.choice(names) if r.random() < 0.5 else names[0] for names, _, _ in picks], [meaning for _, meaning, _ in picks], lambda at: Values(r).fill(r.choice(picks[at][2]))


QUESTIONS = {one.name: "|".join(one.questions) for one in SETS}


def main():
    report(SETS, f"sets, {sum(len(s.labels) for s in SETS)} labels, {sum(len(texts) for s in SETS for _, _, texts in s.labels)} texts", by_name=True)


if __name__ == "__main__":
    main()
