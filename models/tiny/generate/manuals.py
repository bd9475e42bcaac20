"""Short manuals of invented programs, services and devices as Markdown, with questions about them."""
from .manual_facts import Subject, asked, misnamed, missing
from .manual_layout import compared, sections, title


class Manual:
    """A text about subjects with its questions, as a page of `kinds/reading.py`; `bare` if questions may leave the name out."""

    is_article, is_manual, is_profile = True, True, False

    def __init__(self, r, text, told, subjects, bare):
        self.text, self.sentences, self.bare, self.subjects = text, [text], bare, set()
        every = {fact.name for subject in subjects for fact, _ in subject.told}
        self.asked = []
        for subject, items in told:
            groups = [group for other in subjects if other is subject or bare for group in {fact.name: fact.group for fact, _ in other.told}.values()]
            self.asked += [asked(r, subject, fact, values, bare, groups.count(fact.group) == 1) for fact, values in items]
        about = [subject for subject, _ in told] or subjects
        self.missing = [one for subject in about for one in missing(r, subject, bare, every)]
        self.missing += [one for subject in about if subject.name in text for one in misnamed(r, subject)]


def drawn(r, count, facts, alike):
    """Subjects with what is told of them; `alike` if they are of one sort and tell the same."""
    taken, scope = set(), r.choice("pppssdd")
    subjects = [Subject(r, scope if alike else r.choice("pppssdd"), taken) for _ in range(count)]
    for subject in subjects:
        subject.tell(facts)
    for other in subjects[1:] if alike else []:
        kept = [fact for fact, _ in subjects[0].told if not fact.is_row and r.random() < 0.85]
        other.told = [(fact, {slot: other.value(options) for slot, options in fact.values.items()}) for fact in kept] or other.told
    return subjects


def manual(r, level=1.0):
    """One text, mostly about one subject."""
    several = r.random() < 0.25
    count = r.choice([2, 2, 3]) if several else 1
    facts = 1 + int(r.random() ** 1.2 * 11 * level + r.random())
    subjects = drawn(r, count, max(1, facts // count), several and r.random() < 0.7)
    if several and r.random() < 0.5 and (text := compared(r, subjects)):
        shown = set.intersection(*(subject.names for subject in subjects))
        for subject in subjects:
            subject.told = [(fact, values) for fact, values in subject.told if fact.name in shown and not fact.is_row]
        return Manual(r, text, [(subject, subject.told) for subject in subjects], subjects, False)
    parts = []
    for subject in subjects:
        if several or r.random() < 0.75:
            parts.append(title(r, subject))
        parts += [text for text, _ in sections(r, subject, several, 2)]
    if subjects[0].name not in "\n\n".join(parts):
        parts.insert(0, title(r, subjects[0]))
    return Manual(r, "\n\n".join(parts), [(subject, subject.told) for subject in subjects], subjects, not several)


def pieces(r, level=1.0):
    """Pieces of manuals as retrieval finds them: one page each, told apart by names where there are several subjects."""
    count = 1 + int(r.random() * 5 * level)
    subjects = drawn(r, min(count, r.choice([1, 1, 2, 2, 3])), r.randint(2, 3 + round((count + 2) * level)), r.random() < 0.5)
    bare, out = len(subjects) == 1 and r.random() < 0.6, []
    for subject in subjects:
        found = sections(r, subject, len(subjects) > 1, r.randint(1, 3))
        while found:
            some = [found.pop(0) for _ in range(min(len(found), r.choice([1, 1, 2, 3])))]
            text, items = "\n\n".join(part for part, _ in some), [item for _, told in some for item in told]
            headed = not bare or not out or r.random() < 0.3
            out.append(Manual(r, (title(r, subject) + "\n\n" if headed else "") + text, [(subject, items)], subjects, bare))
    r.shuffle(out)
    return out[:6] if len(out) <= 6 else pieces(r, level)
