"""Which kinds come how often, and the stream of dialogues that a seed gives."""
import random

from .chat import Dialogue
from .kinds import copying, extract, labels, lists, reading, sorting, sums, talk, tools

KINDS = {
    "reading": reading.reading, "retrieval": reading.retrieval, "summary": reading.summary, "copying": copying.copying, "labels": labels.labels, "sorting": sorting.sorting,
    "tools": tools.tools, "extract": extract.extract, "sums": sums.sums, "talk": talk.talk, "lists": lists.lists,
}
# Pointing at the right thing comes first, in short texts: what is longer or has to be learned by heart comes later.
FIRST = {"reading": 38, "retrieval": 2, "summary": 1, "copying": 16, "labels": 18, "sorting": 8, "tools": 26, "extract": 8, "sums": 2, "talk": 4, "lists": 1}
LATER = {"reading": 32, "retrieval": 16, "summary": 2, "copying": 18, "labels": 50, "sorting": 20, "tools": 40, "extract": 44, "sums": 3, "talk": 24, "lists": 20}


def thoughtful(r, dialogue):
    """Now and then thinking is on where nothing is to be calculated: the thought is the question."""
    if dialogue.thinking or dialogue.kind == "sums" or dialogue.tools or r.random() > 0.03 or len(dialogue.messages) > 3:
        return dialogue
    asked = dialogue.messages[-2][1].strip().split("\n")[-1][:80]
    messages = [*dialogue.messages[:-1], ("assistant", f"{asked}\n</think>\n\n{dialogue.messages[-1][1]}")]
    return Dialogue(messages, thinking=True, kind=dialogue.kind)


def stream(seed, progress=lambda: 1.0):
    """Dialogues without end. `progress` (0 to 1) says how far the curriculum is."""
    r = random.Random(seed)
    names = list(KINDS)
    while True:
        done = min(1.0, progress())
        weights = [FIRST[k] * (1 - done) + LATER[k] * done for k in names]
        kind = r.choices(names, weights)[0]
        yield thoughtful(r, KINDS[kind](r, 0.1 + 0.9 * done))
