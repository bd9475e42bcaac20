"""Short arithmetic, with its steps where thinking is on."""
from .. import lexicon as lex
from .. import names as n
from ..chat import Dialogue
from ..sum_stories import BARE, ON, SEVERAL, STORIES, TWO

# What can be counted and carried about.
COUNTED = [w for w in lex.NOUNS[: lex.NOUNS.index("tunnel")] if w not in ("knife", "cheese", "sheep", "goose", "salmon")]
SYSTEMS = ["You are a helpful assistant."] * 4 + ["You are a calculator.", "Be brief.", "You help with sums.", "You are a patient teacher of arithmetic."]


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


def times(a, b):
    """The steps of multiplying a longer number by one digit."""
    steps, carry, digits = [], 0, []
    for p in map(int, str(a)[::-1]):
        value = p * b + carry
        steps.append(f"{p} * {b}{f' + {carry}' if carry else ''} = {value}")
        carry, digit = divmod(value, 10)
        digits.append(str(digit))
    if carry:
        digits.append(str(carry))
    return "\n".join(steps) + f"\ndigits {' '.join(digits)}"


def step(a, b, sign):
    """(steps, result) of one sum."""
    if sign in "+-":
        return f"{a} {sign} {b}\n{column(a, b, sign)}", a + b if sign == "+" else a - b
    if sign == "*":
        return (f"{a} * {b}\n{times(a, b)}" if a > 12 and b < 10 else f"{a} * {b} = {a * b}"), a * b
    return f"{a} / {b} = {a // b}", a // b


def numbers(r, sign, top, low=0):
    """Two numbers for a sign, small ones as often as large ones; the result stays within a thousand."""
    if sign == "*":
        if top > 12 and r.random() < 0.4:
            b = r.randint(2, 9)
            return r.randint(13, 1000 // b), b
        return r.randint(low, min(top, 12)), r.randint(low, min(top, 12))
    if sign == "/":
        b = r.randint(max(low, 1), 12)
        return b * r.randint(low, 12), b
    top = min(top, r.choice([10, 20, 50, 100, 100, 300, 1000]))
    a, b = r.randint(min(low, top), top), r.randint(min(low, top), top)
    if sign == "-":
        return max(a, b), min(a, b)
    return (a, b) if a + b <= 1000 else (a // 2, b // 2)


def told(r, text, answer, x, **given):
    """The story and its answer: a sentence as often as the number alone."""
    s, t = (r.choice([w for w in COUNTED if w[0] not in "aeiou"]) for _ in range(2))
    given = {"p": n.first(r), "q": n.first(r), "m": n.proper(r), "l": n.place(r), "o": n.plural(r.choice(COUNTED) if r.random() < 0.8 else n.word(r, 1, 2)), "s": s, "t": t, "d": r.choice(lex.DAYS), "mo": r.choice(lex.MONTHS), "x": x, **given}
    text = text.format(**given)
    return text[0].upper() + text[1:] if not text.startswith("i ") else text, answer.format(**given) if answer and r.random() < 0.5 else str(x)


def problem(r, small=False):
    """(question, steps, answer, result)"""
    sign = r.choice("++++----**/" if not small else "+++---***/")
    if r.random() < (0.35 if small else 0.5):
        top, text, answer = r.choice(STORIES[sign])
        top = 1000 if sign == "*" and r.random() < 0.3 else top
        a, b = fitting(r, sign, min(top, 15) if small and sign in "+-" else top, 2, small)
        steps, x = step(a, b, sign)
        text, answer = told(r, text, answer, x, a=a, b=b) if x > 1 else told(r, text, "", x, a=a, b=b)
    else:
        a, b = fitting(r, sign, 1000, 0, small)
        steps, x = step(a, b, sign)
        text, answer = r.choice(BARE[sign].split("|")).format(a=a, b=b), str(x)
    return text, steps, answer, x


def fitting(r, sign, top, low, small):
    """Numbers for what is known without steps: up to twenty, and the times table."""
    if not small:
        return numbers(r, sign, top, low)
    if sign == "+":
        return r.randint(low, 10), r.randint(low, 10)
    if sign == "-":
        b, x = r.randint(low, 10), r.randint(low, 10)
        return b + x, b
    b = r.randint(max(low, 1), 10)
    x = r.randint(low, 10)
    return (x, b) if sign == "*" else (b * x, b)


def two_steps(r):
    """(question, steps of both, answer)"""
    signs, top, text, answer = r.choice(TWO)
    while True:
        a, b, c = (r.randint(2, min(top, r.choice([20, 50, 100, 500]))) for _ in range(3))
        first, x = step(a, b, signs[0]) if signs[0] != "-" or a > b else ("", -1)
        if x > 1 and (signs[1] == "+" or x > c + 1):
            break
    second, x = step(x, c, signs[1])
    text, answer = told(r, text, answer, x, a=a, b=b, c=c)
    return text, f"{first}\n{second}", answer


def drill(r):
    """Several small sums in one dialogue, at times each with the result before it."""
    messages = []
    for _ in range(r.randint(2, 7)):
        if messages and isinstance(last, int) and 2 < last < 15 and r.random() < 0.25:
            sign = r.choice("+-")
            b = r.randint(1, min(9, last if sign == "-" else 20 - last))
            ask, last = r.choice(ON[sign].split("|")).format(b=b), last + b if sign == "+" else last - b
            answer = str(last)
        else:
            ask, _, answer, last = problem(r, small=True)
        messages += [("user", ask), ("assistant", answer)]
    return messages


def several(r, thinking):
    """Sums line by line in one message, the answer with a line for each."""
    lines, thoughts, results = [], [], []
    for _ in range(r.randint(2, 3) if thinking else r.randint(3, 6)):
        sign = r.choice("++--*")
        a, b = fitting(r, sign, 1000, 0, not thinking)
        steps, x = step(a, b, sign)
        lines.append(f"{a} {sign} {b}")
        thoughts.append(steps)
        results.append(x)
    repeat = r.random() < 0.6
    answer = "\n".join(f"{line} = {x}" if repeat else str(x) for line, x in zip(lines, results))
    tail = " =" if repeat else ""
    return r.choice(SEVERAL).format(t="\n".join(line + tail for line in lines)), "\n".join(thoughts), answer


def sums(r, level=1.0):
    thinking = r.random() < 0.6
    messages = drill(r)[: 2 * r.choice([0, 1, 1, 2, 3])] if thinking and r.random() < 0.3 else []
    x = r.random()
    if thinking:
        ask, steps, answer = several(r, True) if x < 0.12 else two_steps(r) if x < 0.32 else problem(r)[:3]
        messages += [("user", ask), ("assistant", f"{steps}\n</think>\n\n{answer}")]
    elif x < 0.2:
        ask, _, answer = several(r, False)
        messages += [("user", ask), ("assistant", answer)]
    else:
        messages = drill(r) if x < 0.75 else drill(r)[:2]
    if r.random() < 0.35:
        messages.insert(0, ("system", r.choice(SYSTEMS)))
    return Dialogue(messages, thinking=thinking, kind="sums")
