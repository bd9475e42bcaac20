"""Whole texts of many kinds, each written by hand with slots and choices, and questions that use other words than the text (`pages/*.txt`).

A page: lines of text, `--`, then `name: question | question` for each span `<name:...>` of the text, and `!:` for what no such text says. A line
stays (`+`), begins a paragraph (`/`), or may be left out: what is asked of it is then not in the text.
"""
import random
import re

from .sheets import SLOT, Values, blocks, expand, known, report

SPAN = re.compile(r"<(\w+):([^<>]*)>")


class Template:
    def __init__(self, where, name, lines):
        self.where, self.name = where, name
        self.lines, self.asked, self.never = [], {}, []
        told = True
        for number, line in lines:
            if line.strip() == "--":
                told = False
            elif told:
                stays, breaks = (re.match(r"[+/ ]*", line)[0].count(sign) > 0 for sign in "+/")
                self.lines.append((stays, breaks, re.sub(r"^[+/ ]*", "", line)))
            else:
                span, _, questions = line.partition(":")
                found = [q.strip() for q in questions.split("|") if q.strip()] if "[" not in questions else split(questions)
                if span.strip() == "!":
                    self.never += found
                else:
                    self.asked[span.strip()] = found

    def errors(self):
        wrong = list(self.faults())
        # What is written right is rendered, to see what comes out.
        yield from wrong or (fault for seed in range(10) for fault in Page(random.Random(seed), self).faults())

    def faults(self):
        spans = [name for _, _, line in self.lines for name, _ in SPAN.findall(line)]
        text = " ".join(line for _, _, line in self.lines)
        if not self.lines or not self.asked:
            yield "it has no text or no questions"
        if text.count("[") != text.count("]") or text.count("{") != text.count("}"):
            yield "brackets do not match"
        if "<" in SPAN.sub("", text) and re.search(r"<\w+:", SPAN.sub("", text)):
            yield "a span within a span, or not closed"
        yield from (f"the span {name} has no questions" for name in set(spans) - set(self.asked))
        yield from (f"no span is called {name}" for name in set(self.asked) - set(spans))
        yield from (f"no slot is called {slot}" for part in [text, *self.never, *sum(self.asked.values(), [])] for slot in SLOT.findall(part) if not known(slot))


def split(questions):
    return [q.strip() for q in re.split(r"\|(?![^\[\]]*\])", questions) if q.strip()]


class Page:
    """A rendered text with its questions, as a page of `kinds/reading.py`. `spans` are the values that stand in it, by name; `gone` the names of the others."""

    is_article, is_manual, is_profile, bare = False, True, False, True

    def __init__(self, r, template, level=1.0):
        values, share = Values(r), r.choice([0.6, 0.8, 0.9, 1.0]) * (0.3 + 0.7 * level)
        kept = [line for line in template.lines if line[0] or r.random() < share] or [r.choice(template.lines)]
        self.spans, self.text, self.subjects, self.template = {}, "", set(), template

        def mark(found):
            self.spans[found[1]] = found[2]
            return found[2]

        for _, breaks, line in kept:
            told = SPAN.sub(mark, values.fill(expand(r, line)))
            self.text += ("\n" if breaks else " ") + told if self.text else told
        self.gone = [name for name in template.asked if name not in self.spans]
        told = set(values.made)
        ask = lambda q: values.fill(expand(r, q))
        knows = lambda q: set(SLOT.findall(q)) <= told
        self.asked = [[(ask(q), self.spans[name]) for q in template.asked[name] if knows(q)] for name in self.spans if name in template.asked]
        self.missing = [ask(r.choice(template.asked[name])) for name in self.gone for _ in "ab"] + [ask(q) for q in template.never]
        self.sentences = [self.text]

    def faults(self):
        yield from (f"{name}: the answer is empty, too long or badly cut: {value!r}" for name, value in self.spans.items() if not value.strip() or len(value) > 160 or value != value.strip() or value[-1] in ".,;:")
        if re.search(r"[\[\]]|<\w+:", self.text):
            yield f"something is left of the markup: {self.text!r}"


TEMPLATES = [Template(*block) for block in blocks("pages")]


def page(r, level=1.0):
    return Page(r, r.choice(TEMPLATES), level)


def pieces(r, count, level=1.0):
    """Several pages that share no kind of fact: what is asked of one is not answered by another."""
    found = []
    for _ in range(4 * count):
        one = page(r, level)
        if not any(set(one.template.asked) & set(other.template.asked) or one.template.name == other.template.name for other in found):
            found.append(one)
        if len(found) == count:
            break
    return found


def main():
    report(TEMPLATES, f"pages, {sum(len(t.asked) for t in TEMPLATES)} spans, {sum(len(q) for t in TEMPLATES for q in t.asked.values())} questions")


if __name__ == "__main__":
    main()
