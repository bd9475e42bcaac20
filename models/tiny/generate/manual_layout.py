"""Lays out the facts of manuals as Markdown: prose, lists, tables and blocks of code, in sections with headings."""
import re

from .manual_facts import put
from .manual_values import AS_VARIABLES, SECTIONS, fill

FENCES = ["bash", "sh", "", "shell", "console"]


def code(value, fact):
    return f"`{value}`" if fact.coded else value


def prose(r, subject, items, several):
    """Sentences, each with one fact."""
    sentences = []
    for fact, values in items:
        wording = r.choice(fact.prose)
        shown = {"c": f"`{values['a' if fact.is_row else 'v']}`", **values}
        x = subject.mention(wording, not sentences, several)
        sentence = put(wording.replace("{noun}", subject.noun), shown, x)
        sentences.append(sentence)
    return " ".join(sentences)


def listed(r, items):
    """Bullets with labels."""
    mark, form = r.choice(["- ", "- ", "* "]), r.choice(["{k}: {v}", "**{k}**: {v}", "**{k}:** {v}", "{k} - {v}", "_{k}_: {v}"])
    lines = []
    for fact, values in items:
        shown = code(values["a"], fact) if fact.is_row else r.choice(fact.labels)
        told = values["v"] if fact.is_row else code(values["v"], fact)
        told += f" ({fact.columns[2].lower()}: {values['u']})" if "u" in values else ""
        lines.append(mark + form.format(k=shown, v=told))
    return "\n".join(lines)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def tabled(r, items):
    """A table of labels and values, or of rows with their own columns."""
    fact = items[0][0]
    if fact.is_row:
        return table(fact.columns, [[values[slot] if slot != "a" else code(values[slot], fact) for slot in fact.values] for _, values in items])
    return table(r.choice([["", ""], ["What", "Value"], ["Item", "Value"], ["Name", "Value"], ["Property", "Value"]]), [[r.choice(one.labels), code(values["v"], one)] for one, values in items])


def fenced(r, subject, items):
    """A block of code: commands, settings or aligned lines."""
    if items[0][0].is_row:
        wide = max(len(values["a"]) for _, values in items) + 2
        lines = [values["a"].ljust(wide) + values["v"] + (f" ({one.columns[2].lower()}: {values['u']})" if "u" in values else "") for one, values in items]
        return "```\n" + "\n".join(lines) + "\n```"
    if all(one.comments for one, _ in items):
        prompt, lines = r.choice(["", "$ ", "$ "]), []
        beside = r.random() < 0.3
        for one, values in items:
            comment = "# " + fill(r, r.choice(one.comments), subject.fixed)
            lines += [f"{prompt}{values['v']}  {comment}"] if beside else [comment, prompt + values["v"]]
        return f"```{r.choice(FENCES)}\n" + "\n".join(lines) + "\n```"
    forms = {"yaml": "{k}: {v}", "toml": '{k} = "{v}"', "ini": "{k}={v}", "json": '  "{k}": "{v}"'}
    if all(one.section in AS_VARIABLES for one, _ in items) and r.random() < 0.5:
        prefix = re.sub(r"\W", "_", subject.fixed["slug"]).upper() + "_" if r.random() < 0.7 else ""
        return f"```{r.choice(['bash', 'env', ''])}\n" + "\n".join(f"{prefix}{r.choice(one.keys).upper()}={values['v']}" for one, values in items) + "\n```"
    kind = r.choice(["yaml", "yaml", "toml", "ini", "json"])
    lines = [forms[kind].format(k=r.choice(one.keys), v=values["v"]) for one, values in items]
    return f"```{kind}\n" + ("{\n" + ",\n".join(lines) + "\n}" if kind == "json" else "\n".join(lines)) + "\n```"


def block(r, subject, items, several):
    """The facts in one of the four ways."""
    commands, keyed = all(fact.comments for fact, _ in items), all(fact.keys or fact.is_row for fact, _ in items)
    way = r.choices(["prose", "list", "table", "code"], [4, 2, 2, 4 if commands else 2 if keyed else 0])[0]
    if way == "prose":
        return prose(r, subject, items, several)
    if way == "table" and not any("|" in value for _, values in items for value in values.values()):
        return tabled(r, items)
    if way != "code":
        return listed(r, items)
    if commands and len(items) == 1 and r.random() < 0.5:
        text = fill(r, r.choice(items[0][0].comments), subject.fixed)
        return r.choice([f"To {text}:", f"How to {text}:"]) * (not re.match(r"tests?\b", text)) + ("Tests:" if re.match(r"tests?\b", text) else "") + f"\n\n```{r.choice(FENCES)}\n{r.choice(['', '$ '])}{items[0][1]['v']}\n```"
    return fenced(r, subject, items)


def sections(r, subject, several, level):
    """[(text, facts)]: what is told of the subject, cut by section."""
    bysection, out, headed = {}, [], r.random() < 0.6
    for fact, values in subject.told:
        bysection.setdefault((fact.section, fact.is_row, bool(fact.comments)), []).append((fact, values))
    for (section, _, _), items in sorted(bysection.items(), key=lambda pair: list(SECTIONS).index(pair[0][0])):
        text = block(r, subject, items, several)
        if headed:
            text = f"{'#' * level} {r.choice(SECTIONS[section])}\n{r.choice(['', chr(10)])}{text}"
        out.append((text, items))
    return out


def title(r, subject):
    """The heading with the name, and at times a line below it."""
    below = f"\n\n{subject.name} is a {subject.noun}." if subject.noun[0] not in "aeiouA" and r.random() < 0.25 else ""
    return r.choice([f"# {subject.name}", f"# {subject.name}", f"## {subject.name}", f"# {subject.name} {r.choice(['manual', 'handbook', 'README', 'guide'])}", f"**{subject.name}**", f"{subject.name}\n{'=' * len(subject.name)}"]) + below


def compared(r, subjects):
    """A table with a column for each of the subjects, and what it tells; None if there is nothing to compare."""
    shared = [fact for fact, _ in subjects[0].told if not fact.is_row and all(fact.name in other.names for other in subjects)]
    cells = [[next(values["v"] for one, values in subject.told if one is fact) for subject in subjects] for fact in shared]
    if not shared or any("|" in cell for row in cells for cell in row):
        return None
    return table(["", *(subject.name for subject in subjects)], [[r.choice(fact.labels), *(code(cell, fact) for cell in row)] for fact, row in zip(shared, cells)])
