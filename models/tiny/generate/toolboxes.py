"""Sets of tools near each other in meaning, with requests in other words than their descriptions, written by hand (`toolboxes/*.txt`).

A tool: `names : descriptions`, then its parameters `names : type : values`, then requests, `{name}` for a value, ` => key=value` for what is meant.
"""
import random
import re

from .sheets import RANGE, SLOT, blocks, report
from .tool_values import Family, fixed, make

# Slots that are kinds of values by themselves, so that a later turn may change them.
KINDS = {"p": "person", "l": "place", "city": "place", "co": "company", "d": "weekday", "da": "day", "t": "clock", "ti": "title", "c": "code", "o": "object", "mail": "email", "phone": "phone", "file": "file", "path": "path", "url": "url"}


def kind_of(kind, values):
    """A parameter's kind in the words of `tool_values.make`."""
    if kind == "boolean":
        return "flag"
    if kind in ("integer", "number"):
        low, high = RANGE.match(values).groups()
        return f"int {low} {high}" if kind == "integer" and int(low) > 1 else f"whole {low} {high}" if kind == "integer" else f"real {low} {high}"
    if kind == "enum":
        return "choice " + values
    only = SLOT.fullmatch(values.strip())
    if only and only[1] in KINDS:
        return KINDS[only[1]]
    return "oneof " + values


def split(text):
    return [part.strip() for part in text.split("|") if part.strip()]


class Box:
    def __init__(self, where, name, lines):
        self.where, self.name, self.families, self.wrong = where, name, [], []
        tools = []
        for number, line in lines:
            if not line.startswith(" "):
                tools.append((number, line, []))
            elif tools:
                tools[-1][2].append((number, line.strip()))
        for number, head, rest in tools:
            try:
                self.families.append(self.family(head, rest))
            except (ValueError, KeyError, AttributeError, IndexError) as error:
                self.wrong.append(f"line {number}: {error or type(error).__name__}")

    def family(self, head, rest):
        names, descriptions = head.split(" : ", 1)
        params, asks = [], []
        for number, line in rest:
            found = re.match(r"([\w?, .]+?) : (string|integer|number|boolean|enum)(?: : (.*))?$", line)
            if found and not asks:
                keys = [key.strip() for key in found[1].split(",")]
                optional = keys[0].endswith("?")
                keys[0] = keys[0].rstrip("?")
                params.append((keys[0], keys, kind_of(found[2], found[3] or ""), optional))
            else:
                asks += split(line)
        family = Family([one.strip() for one in names.split(",")], split(descriptions), params, None, asks, self.name)
        for ask in asks:
            text, values = fixed(family, ask)
            slots = set(SLOT.findall(text))
            if unknown := slots - {key for key, *_ in params}:
                raise ValueError(f"{names.split(',')[0]} has no parameter {', '.join(unknown)}: {ask}")
            if lacking := [key for key, _, _, optional in params if not optional and key not in slots and key not in values]:
                raise ValueError(f"{', '.join(lacking)} of {names.split(',')[0]} is not in the request: {ask}")
            if both := [key for key in values if key in slots]:
                raise ValueError(f"{', '.join(both)} is both in the words and behind =>: {ask}")
        if len(asks) < 3:
            raise ValueError(f"{names.split(',')[0]} has {len(asks)} requests only")
        return family

    def errors(self):
        yield from self.wrong
        if len(self.families) < 2:
            yield "it has fewer than two tools"
        names = [name for family in self.families for name in family.names]
        yield from (f"two tools may be called {name}" for name in set(names) if names.count(name) > 1)
        for family in self.families:
            for key, _, kind, _ in family.params:
                try:
                    for seed in range(5):
                        make(random.Random(seed), kind)
                except (ValueError, KeyError, TypeError) as error:
                    yield f"{family.names[0]}, {key}: {error!r}"


BOXES = [Box(*block) for block in blocks("toolboxes")]
TOOLBOXES = {box.name: box.families for box in BOXES if len(box.families) > 1}


def main():
    report(BOXES, f"boxes, {sum(len(box.families) for box in BOXES)} tools, {sum(len(f.asks) for box in BOXES for f in box.families)} requests", by_name=True)


if __name__ == "__main__":
    main()
