"""Short texts with the JSON that orders ask of them, written by hand (`papers/*.txt`).

A paper: lines of text in which `<name:value>` is a string of the answer, `<name#:value>` a number, `<name?:words|words>` true or false by its words,
`<name*:one; two; three>` an array, `<name@key~key#:one~ has ~1; two~ has ~2>` an array of objects; then orders, `? ...` in a message with the text
or `?? ...` as the system prompt. `<key>` in an order is a key and its span, `<key=span>` a key of another name, `<key=!>` one that the text says
nothing of: null, `<outer/key>` a key of the object that `outer` holds.
"""
import random
import re

from .chat import dumps
from .records import joined
from .sheets import SLOT, Values, blocks, expand, known, report

SPAN = re.compile(r"<(\w+)([#?*]|@[\w~#]+)?:([^<>]*)>")
KEY = re.compile(r"<(?:(\w+)/)?(\w+)(?:=(\w+|!))?>")


class Paper:
    def __init__(self, where, name, lines):
        self.where, self.name = where, name
        self.lines = [line.strip() for _, line in lines if not line.startswith("?")]
        self.orders = [(line.startswith("??"), line.lstrip("?").strip().replace("\\n", "\n")) for _, line in lines if line.startswith("?")]

    def told(self, r):
        """(the text, {span: its value})"""
        values, found = Values(r), {}

        def put(span):
            name, kind, value = span.groups()
            text, found[name] = _rows(r, kind, value) if kind and kind[0] == "@" else MADE[kind or ""](r, value)
            return text

        # Filled at first as a whole, so that a slot stands for the same inside and outside of spans.
        text = values.fill(expand(r, r.choice([" ", "\n"]).join(self.lines)))
        return SPAN.sub(put, text), found

    def errors(self):
        yield from self.faults() or (fault for seed in range(10) for fault in self.rendered(random.Random(seed)))

    def faults(self):
        text = " ".join(self.lines)
        spans = {name: kind for name, kind, _ in SPAN.findall(text)}
        named = [span or key for _, order in self.orders for _, key, span in KEY.findall(order)]
        wrong = [f"no span is called {name}" for name in set(named) - set(spans) - {"!"}]
        wrong += [f"no order asks for {name}" for name in set(spans) - set(named)]
        wrong += [f"an order without keys: {order}" for _, order in self.orders if not KEY.search(order)]
        wrong += [f"an order does not show {outer}: {order}" for _, order in self.orders for outer, _, _ in KEY.findall(order) if outer and not re.search(rf"\b{outer}\b", KEY.sub("", order))]
        wrong += [f"a row of {name} has not one part for each of its keys" for name, kind, value in SPAN.findall(text) for row in value.split(";") if kind[:1] == "@" and row.count("~") != 2 * kind.count("~")]
        wrong += [f"no slot is called {slot}" for slot in SLOT.findall(text) if not known(slot) and '"' not in slot]
        if not spans or not self.orders:
            wrong.append("it has no spans or no orders")
        if text.count("[") != text.count("]") or re.search(r"<\w+(?:[#?*]|@[\w~#]+)?:", SPAN.sub("", text)):
            wrong.append("brackets do not match, or a span stands within a span")
        return wrong

    def rendered(self, r):
        try:
            text, found = self.told(r)
        except ValueError as error:
            yield f"a number or a choice cannot be read: {error}"
            return
        yield from (f"{name} is empty or badly cut: {value!r}" for name, value in found.items() if isinstance(value, str) and (not value or value != value.strip() or value[-1] in ",;:"))
        if re.search(r"[\[\]<>]|{\w+}", text):
            yield f"something is left of the markup: {text!r}"


def _choice(r, value):
    yes, no = value.split("|")
    chosen = r.random() < 0.5
    return (yes if chosen else no), chosen


def _number(r, value):
    return value, float(value) if "." in value else int(value)


def _some(r, value):
    items = [item.strip() for item in value.split(";")]
    return r.sample(items, r.randint(min(2, len(items)), len(items)))


def _list(r, value):
    chosen = _some(r, value)
    return joined(chosen), chosen


def _rows(r, kind, value):
    """Values of a row stand at every second place between its `~`, words between them."""
    keys, chosen = kind[1:].split("~"), [row.split("~") for row in _some(r, value)]
    objects = [{key.rstrip("#"): _number(r, part)[1] if key[-1] == "#" else part for key, part in zip(keys, row[::2])} for row in chosen]
    return joined(["".join(row) for row in chosen]), objects


MADE = {"": lambda r, value: (value, value), "#": _number, "?": _choice, "*": _list}
PAPERS = [Paper(*block) for block in blocks("papers")]


def asked(r):
    """(whether the order is a system prompt, the order, the text, the JSON)"""
    paper = r.choice(PAPERS)
    text, found = paper.told(r)
    system, order = r.choice(paper.orders)
    answer = {}
    for outer, key, span in KEY.findall(order):
        (answer.setdefault(outer, {}) if outer else answer)[key] = None if span == "!" else found[span or key]
    return system, KEY.sub(r"\2", order if "[]" in order or '["' in order else expand(r, order)), text, dumps(answer)


def main():
    report(PAPERS, f"papers, {sum(len(p.orders) for p in PAPERS)} orders, {sum(len(KEY.findall(order)) for p in PAPERS for _, order in p.orders)} keys", by_name=True)


if __name__ == "__main__":
    main()
