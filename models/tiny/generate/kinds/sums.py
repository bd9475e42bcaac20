"""Short arithmetic, with its steps where thinking is on."""
from .. import lexicon as lex
from .. import names as n
from ..chat import Dialogue


def column(a, b, sign):
    """The steps of adding or taking away digit by digit."""
    steps, carry, digits = [], 0, []
    x, y = str(a)[::-1], str(b)[::-1]
    for i in range(max(len(x), len(y))):
        p, q = int(x[i]) if i < len(x) else 0, int(y[i]) if i < len(y) else 0
        if sign == "+":
            value = p + q + carry
            steps.append(f"{p} + {q}{f' + {carry}' if carry else ''} = {value}")
            carry, digit = divmod(value, 10)
        else:
            value = p - q - carry
            steps.append(f"{p} - {q}{f' - {carry}' if carry else ''} = {value}")
            carry, digit = (1, value + 10) if value < 0 else (0, value)
        digits.append(str(digit))
    if carry:
        digits.append(str(carry))
    return "\n".join(steps) + f"\ndigits {' '.join(digits)}"


def problem(r):
    """(question, steps, answer)"""
    x = r.random()
    if x < 0.75:
        top = r.choice([10, 20, 100, 100, 1000])
        a, b = r.randint(0, top), r.randint(0, top)
        if r.random() < 0.45:
            a, b = max(a, b), min(a, b)
            o, p = n.plural(r.choice(lex.NOUNS)), n.first(r)
            ask = r.choice([f"What is {a} - {b}?", f"{a} - {b}", f"{a} minus {b}", f"{p} has {a} {o} and gives away {b}. How many are left?", f"There were {a} {o}. {p} took {b}. How many {o} remain?", f"Subtract {b} from {a}.", f"{a}-{b}="])
            return ask, f"{a} - {b}\n{column(a, b, '-')}", a - b
        o, p, q = n.plural(r.choice(lex.NOUNS)), n.first(r), n.first(r)
        ask = r.choice([f"What is {a} + {b}?", f"{a} + {b}", f"{a} plus {b}", f"{p} has {a} {o} and {q} has {b}. How many do they have together?", f"{p} had {a} {o} and bought {b} more. How many {o} does {p} have now?", f"Add {a} and {b}.", f"{a}+{b}=?", f"The sum of {a} and {b}?"])
        return ask, f"{a} + {b}\n{column(a, b, '+')}", a + b
    a, b = r.randint(0, 12), r.randint(0, 12)
    o = n.plural(r.choice(lex.NOUNS))
    if r.random() < 0.75 or b == 0:
        ask = r.choice([f"What is {a} times {b}?", f"{a} * {b}", f"{a} x {b}", f"{n.first(r)} has {a} boxes with {b} {o} each. How many {o} are there?", f"Multiply {a} by {b}."])
        return ask, f"{a} * {b} = {a * b}", a * b
    ask = r.choice([f"What is {a * b} divided by {b}?", f"{a * b} / {b}", f"Share {a * b} {o} among {b} people. How many does each get?"])
    return ask, f"{a * b} / {b} = {a}", a


def sums(r, level=1.0):
    ask, steps, answer = problem(r)
    thinking = r.random() < 0.65
    if not thinking:
        ask, steps, answer = next((q, s, a) for q, s, a in (problem(r) for _ in range(200)) if a <= 60)
    text = f"{steps}\n</think>\n\n{answer}" if thinking else str(answer)
    messages = [("user", ask), ("assistant", text)]
    if r.random() < 0.4:
        messages.insert(0, ("system", "You are a helpful assistant."))
    return Dialogue(messages, thinking=thinking, kind="sums")
