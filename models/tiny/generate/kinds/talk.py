"""Small talk, questions about itself and Quern, what the user said of himself, a little everyday knowledge, honest not-knowing; and obedience to rules."""
from .. import noise
from ..chat import Dialogue
from ..talk_self import HEARD, about_me
from ..talk_turns import exchange, turn
from .obeying import obeying
from .reading import surrounded

SYSTEMS = ["You are a helpful assistant."] * 5 + ["Be friendly.", "You are the assistant of Quern.", "Be brief.", "You are a kind assistant.", "Help the user.", "Answer shortly and honestly.", "You chat with people."]
AGAIN = "Can you repeat that?|Say that again|Once more please|Come again?|What did you say?|Pardon?|I did not get that|Could you say it again, please?|repeat pls|Sorry, what?|Again please|Repeat your answer|Please write that once more|What was that?|I missed that, say it again".split("|")
LATER = ["Now tell me: ", "And ", "By the way, ", "Do you still know? ", "One question: ", "Let me test you. "]


def named(r):
    """Things that the user says about himself and asks for later, one by one or several at once."""
    parts = about_me(r, r.choice([1, 1, 2, 2, 3, 4]))
    messages, at = [], 0
    while at < len(parts):
        together = parts[at : at + r.randint(1, 3)]
        name = next((p[3] for p in together if p[3]), None)
        text = " ".join(p[0] if p[0][-1] in ".!?" or p is together[-1] else p[0] + "." for p in together)
        messages += [("user", text), ("assistant", f"Nice to meet you, {name}!" if name else r.choice(HEARD.split("|")))]
        at += len(together)
        if r.random() < 0.25:
            q, a = turn(r)
            messages += [("user", q), ("assistant", a)]
    for _, question, answer, _ in r.sample(parts, r.randint(1, len(parts))):
        if r.random() < 0.12:
            question = r.choice(LATER) + question[0].lower() + question[1:]
        messages += [("user", noise.question(r, question)), ("assistant", answer)]
    return messages


def talk(r, level=1.0):
    x, found = r.random(), r.random() < 0.15 * level
    if x < 0.4:
        return Dialogue(obeying(r), kind="obeying")
    if x < 0.55:
        messages = named(r)
    else:
        messages = []
        for _ in range(1 + int(r.random() ** 2 * 4)):
            q, a = exchange(r) if found else turn(r)
            messages += [("user", q), ("assistant", a)]
            if r.random() < 0.04:
                messages += [("user", noise.question(r, r.choice(AGAIN))), ("assistant", a)]
    if r.random() < 0.4:
        messages.insert(0, ("system", r.choice(SYSTEMS)))
    if found and x >= 0.55:
        messages = surrounded(r, messages)
    return Dialogue(messages, kind="talk")
