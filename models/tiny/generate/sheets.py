"""Reads the hand-written text files of a folder: blocks that begin with `== name`, choices `[a|b|c]`, and slots such as `{f}` or `{12-40}`."""
import re
import sys
from pathlib import Path

from . import names as n
from .slots import MAKERS

FOLDER = Path(__file__).parent
INNERMOST = re.compile(r"\[([^\[\]]*)\]")
SLOT = re.compile(r"{([^{}]*)}")
RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$")


def blocks(folder):
    """[(where it stands, its name, [(number of the line, line)])] of every file of a folder."""
    found = []
    for path in sorted((FOLDER / folder).glob("*.txt")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("== "):
                found.append((f"{path.name}:{number}", line[3:].strip(), []))
            elif line.strip():
                found[-1][2].append((number, line.rstrip()))
    return found


def expand(r, text):
    """The text with one of each group of alternatives, from the innermost on."""
    while True:
        done = INNERMOST.sub(lambda found: r.choice(found[1].split("|")), text)
        if done == text:
            return text
        text = done


def known(slot):
    return bool(RANGE.match(slot)) or slot.rstrip("0123456789") in MAKERS


class Values:
    """What the slots of one text stand for: each name once, and no value twice."""

    def __init__(self, r):
        self.r, self.made = r, {}

    def draw(self, slot):
        if found := RANGE.match(slot):
            low, high = found.groups()
            if "." in low + high:
                return f"{self.r.uniform(float(low), float(high)):.{len((high.split('.') + [''])[1]) or 1}f}"
            return str(self.r.randint(int(low), int(high)))
        return str(MAKERS[slot.rstrip("0123456789")](self.r))

    def of(self, slot):
        if slot not in self.made:
            for _ in range(20):
                value = self.draw(slot)
                if value not in self.made.values():
                    break
            self.made[slot] = value
        return self.made[slot]

    def fill(self, text):
        """The text with its slots filled; `a {o}` becomes `an` where the value asks for it."""
        def put(found):
            value = self.of(found[1])
            article = re.search(r"(^|\s)[Aa]\s$", text[: found.start()]) and value[:1].lower() in "aeio"
            return ("\0" if article else "") + value

        # Ranges have no name: each is drawn by itself.
        text = SLOT.sub(lambda found: self.draw(found[1]) if RANGE.match(found[1]) else found[0], text)
        return SLOT.sub(put, text).replace(" \0", "n ").replace("\0", "").replace("the The ", "The ")


def report(sheets, counted, by_name=False):
    """Prints what is wrong with each block and how much there is; ends the program with 1 where anything is wrong. What is looked up by name must have one of its own."""
    bad, known_names = 0, set()
    for one in sheets:
        wrong = list(dict.fromkeys(one.errors()))
        if by_name and one.name in known_names:
            wrong.append("an earlier one has this name")
        known_names.add(one.name)
        bad += bool(wrong)
        for text in wrong:
            print(f"{one.where} ({one.name}): {text}")
    print(f"{len(sheets)} {counted}, {bad} with errors")
    sys.exit(bad > 0)
