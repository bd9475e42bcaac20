"""Questions about passages: pasted into the message, or found by retrieval and put into the system message, with and without the answer."""
from .. import articles, documents, frames, manuals, noise, pages, profiles
from .. import names as n
from .. import relations as rel
from .. import stories
from ..chat import Dialogue

NOT_THERE = "The text does not say."
SYSTEMS = ["You are a helpful assistant."] * 6 + [
    "Answer from the text.", "You answer questions about documents.", "Answer only from the passages.", "Use the given text to answer.",
    "Be brief.", "You are a friendly assistant who answers in a few words.", "If the answer is not in the text, say so.",
]
ASKS = [
    "{p}\n\n{q}", "{p}\n\n{q}", "{p}\n{q}", "Text: {p}\n\nQuestion: {q}", "Text:\n{p}\n\nQuestion: {q}", "Context: {p}\nQuestion: {q}\nAnswer:", "{q}\n\n{p}", "Read this text and answer. {p}\n\n{q}",
    "Passage:\n{p}\n\n{q}", 'Here is a text: "{p}" {q}', "Answer the question from the text below.\n\nQuestion: {q}\n\nText: {p}", "{p} {q}", "Based on the following text, answer: {q}\n{p}",
    "I read this: {p}\n\n{q}", "Document:\n{p}\n---\n{q}", "<text>\n{p}\n</text>\n{q}", "Given this passage:\n\n{p}\n\n{q}", "According to this note, {q}\n\n{p}",
]
# How many of all texts are the hand-written ones of many kinds.
SHEETS = 0.5
# How many of the other pasted texts are manuals, and how many of the texts that retrieval finds.
MANUALS_READ, MANUALS_FOUND = 0.2, 0.25
# How many of the pasted texts that are no manuals are profiles.
PROFILES_READ = 0.25
# A manual ends with its own line: it may be a table or a block of code.
MANUAL_ASKS = [ask for ask in ASKS if "{p}\n" in ask or ask.endswith("{p}")]
FILES = "readme notes manual guide report letter minutes faq handbook prices contract history inventory protocol travel staff".split()
EXTENSIONS = [".md", ".txt", ".pdf", ".docx", ".html", ""]


class Page:
    """Sentences with the questions that they answer and some that nothing answers: an article, or facts without connection."""

    is_manual = is_profile = False

    def __init__(self, r, sentences, found=None):
        self.sentences, self.asked, self.missing, self.subjects = [], [], [], set()
        self.is_profile = found is not None
        if found or r.random() < 0.5:
            self.take(found or articles.article(r, min(1.0, (sentences - 1) / 6)))
        self.is_article, last = bool(self.sentences), None
        while not self.is_article and len(self.sentences) < sentences:
            x = r.random()
            if x < 0.25:
                found, last = [frames.frame(r)], None
            elif x < 0.6:
                found, last = stories.story(r), None
            else:
                # A second fact of the same kind makes the name in the question decide.
                entry = last if last and r.random() < 0.6 else None
                text, byslot, last, values = rel.fact(r, entry)
                found = [(text, list(byslot.values()), [other(r, last, values)] if r.random() < 0.5 else [])]
            self.take(found)

    def take(self, found):
        for text, asked, missing in found:
            self.sentences.append(text[0].upper() + text[1:])
            self.asked.append(asked)
            self.missing += missing
            self.subjects |= {(q.kind, q.about) for q in [*(q for q, _ in asked), *missing] if getattr(q, "about", "")}

    @property
    def text(self):
        return " ".join(self.sentences)


def other(r, entry, values):
    """A question of the same kind about something else."""
    _, asked, _, new = rel.fact(r, entry)
    return r.choice(list(asked.values()))[0]


def foreign(r):
    """A question about another page, by name where it has a name."""
    question = r.choice([pair for pairs in Page(r, 2).asked for pair in pairs] or [("Why is that so?", "")])[0]
    return getattr(question, "named", question)


def ambiguous(page, question, answer):
    """Whether the page answers the question in another way, or speaks of another thing of the kind that the question names."""
    if getattr(question, "loose", False) and (question.kind, question.about) not in page.subjects:
        if question.kind in page.text.lower() or any(kind == question.kind for kind, _ in page.subjects):
            return True
    return any(q == question and a != answer for asked in page.asked for q, a in asked)


def one(r, page, others=()):
    """(question, answer) of a page; at times one that the page does not answer."""
    pages = [page, *others]
    asked = [pair for pairs in page.asked for pair in pairs]
    for _ in range(8):
        if r.random() < (0.15 if page.is_manual else 0.2) or not asked:
            question, answer = r.choice(page.missing) if page.missing and (r.random() < 0.6 or page.is_manual or page.is_profile) else foreign(r), NOT_THERE
        else:
            question, answer = r.choice(asked)
        if not any(ambiguous(p, question, answer) for p in pages):
            return question, answer
    return foreign(r), NOT_THERE


def again(r, question, before):
    """A further question: with a pronoun at times, if the question before it was about the same."""
    if getattr(question, "later", None) and question.about == getattr(before, "about", None) and r.random() < 0.45:
        return question.later
    return question


def further(r):
    """How many turns follow the first: mostly several, for each is one more thing to find in a text that is paid for once."""
    return 0 if r.random() < 0.25 else r.randint(3, 9)


def reading(r, level=1.0):
    """One or several questions about a pasted passage."""
    page = pages.page(r, level) if r.random() < SHEETS else manuals.manual(r, level) if r.random() < MANUALS_READ else Page(r, 1 + int(r.random() ** 1.5 * 7 * level + r.random()), profiles.profile(r, level) if r.random() < PROFILES_READ else None)
    question, answer = one(r, page)
    p = page.text
    if page.is_manual:
        pass
    elif r.random() < 0.08:
        p = p.lower()
        answer = answer if answer == NOT_THERE else answer.lower()
    elif r.random() < 0.15:
        p = "\n".join(page.sentences)
    elif r.random() < 0.1:
        p = "\n".join("- " + s for s in page.sentences)
    q = noise.question(r, question)
    form = r.choice(MANUAL_ASKS if page.is_manual else ASKS)
    messages = [("user", form.format(p=p, q=q)), ("assistant", answer)]
    # Many questions about one text: each is another thing to find, and costs few tokens.
    known = {question}
    for _ in range(further(r)):
        before, last, (question, answer) = question, answer, one(r, page)
        if question in known or (answer == last != NOT_THERE and page.is_article):
            question, answer = before, last
            continue
        known.add(question)
        if p == p.lower() and not page.is_manual and answer != NOT_THERE:
            answer = answer.lower()
        messages += [("user", noise.question(r, again(r, question, before))), ("assistant", answer)]
    if r.random() < 0.5:
        messages.insert(0, ("system", r.choice(SYSTEMS)))
    return Dialogue(messages, kind="reading")


def source(r):
    x = r.random()
    if x < 0.15:
        return None
    name = r.choice(FILES) if r.random() < 0.6 else n.word(r)
    return name + r.choice(EXTENSIONS)


def context(r, texts):
    """The passages as `runtime/chat/passages.ts` puts them into the system message."""
    blocks, score = [], r.uniform(0.3, 1.0)
    for index, text in enumerate(texts):
        label = [f"Source {index + 1}"]
        name = source(r)
        if name:
            label.append(f'"{name}"')
        if r.random() < 0.3:
            label.append(f"page {r.randint(1, 60)}")
        label.append(f"relevance {score:.3f}")
        score *= r.uniform(0.6, 1.0)
        blocks.append(f"<passage>\n[{', '.join(label)}]\n{text}\n</passage>")
    return "\n\n".join(["## Additional context", "### Passages from the documents of this project", *blocks])


def surrounded(r, messages):
    """The same dialogue where retrieval found pieces of documents that have nothing to do with it."""
    found = context(r, [documents.piece(r) for _ in range(r.randint(1, 6))])
    system, rest = (messages[0][1], messages[1:]) if messages[0][0] == "system" else (r.choice(SYSTEMS), messages)
    return [("system", f"{system}\n\n{found}"), *rest]


def heading(r, page):
    about = next((q.about for asked in page.asked for q, _ in asked if getattr(q, "about", "")), None)
    if about and r.random() < 0.6:
        return f"{'#' * r.randint(1, 3)} {about[0].upper()}{about[1:]}\n"
    return f"{'#' * r.randint(1, 3)} {r.choice([n.title(r), n.object_(r).capitalize(), n.proper(r)])}\n"


def several(r, level):
    """Hand-written texts that retrieval finds; the questions of one are not answered by another."""
    return pages.pieces(r, 1 + int(r.random() * 4 * level), level)


def retrieval(r, level=1.0):
    """A question that found passages in the documents of a project."""
    found = several(r, level) if r.random() < SHEETS else manuals.pieces(r, level) if r.random() < MANUALS_FOUND else [Page(r, r.randint(1, 3)) for _ in range(1 + int(r.random() * 5 * level))]
    texts = [(heading(r, page) if r.random() < 0.3 and not page.is_manual else "") + page.text for page in found]
    # The project's own documents would answer what is asked of a manual without its name.
    if r.random() < 0.3 * level and not (found[0].is_manual and found[0].bare):
        for _ in range(r.randint(1, 5)):
            texts.insert(r.randint(0, len(texts)), documents.piece(r))
    page = r.choice(found)
    question, answer = one(r, page, found)
    system = r.choice(SYSTEMS) + "\n\n" + context(r, texts) if r.random() < 0.85 else context(r, texts)
    messages = [("system", system), ("user", noise.question(r, question)), ("assistant", answer)]
    known = {question}
    for _ in range(further(r)):
        page = r.choice(found)
        before, last, (question, answer) = question, answer, one(r, page, found)
        if question in known or (answer == last != NOT_THERE and page.is_article):
            question, answer = before, last
            continue
        known.add(question)
        messages += [("user", noise.question(r, again(r, question, before))), ("assistant", answer)]
    return Dialogue(messages, kind="retrieval")


def summary(r, level=1.0):
    """A summary by selection: the sentence that names what the others are about."""
    told = [s for s, _, _ in articles.article(r, 0.4 * level, introduced=True)] if r.random() < 0.5 else []
    if len(told) > 1:
        lead, *rest = told
    else:
        lead, _, _, _ = rel.fact(r, rel.TABLE[r.choice([0, 1, 9, 24, 32, 38, 39])], None)
        rest = [s for _ in range(r.randint(1, 3)) for s in Page(r, 1).sentences]
    lead = lead[0].upper() + lead[1:]
    text = " ".join([lead, *rest])
    ask = r.choice(["Summarise this in one sentence:", "Give me a short summary.", "What is this text about?", "Sum up the text in one sentence.", "TL;DR:", "Summarize:", "What is the main point?", "Shorten this to one sentence."])
    if r.random() < 0.25 and rest:
        count = r.randint(1, min(2, len(rest)))
        ask = r.choice([f"Give me the last {'sentence' if count == 1 else 'two sentences'} of this text.", f"What does the text say at the end? Quote {'one sentence' if count == 1 else 'two sentences'}."])
        lead = " ".join(rest[-count:])
    form = r.choice(["{a}\n\n{t}", "{a} {t}", "{t}\n\n{a}", "Text: {t}\n\n{a}"])
    messages = [("user", form.format(a=ask, t=text)), ("assistant", lead)]
    if r.random() < 0.4:
        messages.insert(0, ("system", r.choice(SYSTEMS)))
    return Dialogue(messages, kind="summary")
