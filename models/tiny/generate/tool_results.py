"""What tools answer, in many shapes of JSON and text, and what is said from it."""
import json

from . import names as n
from . import tool_words as words
from .tool_values import make


def noise(r):
    return {r.choice(["id", "took_ms", "source", "request", "version", "checked_by"]): r.choice([n.code(r), r.randint(1, 900)])}


def shaped(r, fields):
    """Fields as a JSON text, between others, nested or not."""
    x = r.random()
    body = fields if x < 0.4 else {**fields, **noise(r)} if x < 0.6 else {**noise(r), **fields}
    if x > 0.8:
        body = r.choice([{"data": body}, {"result": body}, {"status": "ok", "result": body}, {"response": {"data": body}}])
    return json.dumps(body, ensure_ascii=False)


def failed(r):
    why = r.choice(words.ERRORS)
    text = r.choice([json.dumps({"error": why}), json.dumps({"ok": False, "error": why}), f"Error: {why}", json.dumps({"status": "error", "message": why}), json.dumps({"error": {"code": r.choice([400, 403, 404, 409, 500, 503]), "message": why}}), f"failed: {why}"])
    return text, f"That did not work: {why}."


def listed(r, kind):
    items = []
    while len(items) < r.choice([1, 2, 2, 3]):
        one = str(make(r, kind)[0])
        items += [one] if one not in items else []
    key = r.choice(["name", "title", "item"])
    rows = [{key: one, **(noise(r) if r.random() < 0.3 else {})} for one in items]
    x = r.random()
    text = json.dumps(items if x < 0.25 else {"results": items} if x < 0.4 else rows if x < 0.7 else {"count": len(rows), "items": rows}, ensure_ascii=False)
    text = "\n".join("- " + one for one in items) if x > 0.9 else text
    return text, "I found " + (", ".join(items[:-1]) + " and " if items[1:] else "") + items[-1] + "."


def weather_result(r):
    t, w = r.randint(-15, 38), r.choice(["sunny", "rain", "cloudy", "snow", "windy", "fog", "storm", "clear", "hail", "drizzle"])
    text = r.choice([json.dumps({"temperature": t, "condition": w}), json.dumps({"temp_c": t, "weather": w}), f"{t} degrees, {w}", json.dumps({"current": {"temp": t, "sky": w}}), json.dumps({"condition": w, "temperature": t, "source": n.word(r)})])
    return text, f"It is {t} degrees: {w}."


def some_result(r):
    """A value under some key, for tools of which nothing is known."""
    value = r.choice([n.quantity, n.price, n.title, n.code, n.clock, n.date, n.person])(r)
    x = r.random()
    if x < 0.35:
        return value, value
    return shaped(r, {r.choice(["value", "answer", "output", "result"] if x < 0.8 else [n.word(r)]): value}) if x < 0.8 else json.dumps({n.word(r): value}), value


SUMS = {"add": lambda v: v["a"] + v["b"], "subtract": lambda v: v["a"] - v["b"], "multiply": lambda v: v["a"] * v["b"], "divide": lambda v: round(v["a"] / v["b"], 2), "percent_of": lambda v: round(v["n"] * v["p"] / 100, 2), "area_of_rectangle": lambda v: round(v["a"] * v["b"], 2), "random_number": lambda v: (v["a"] + v["b"]) // 2}


def result(r, family, values):
    """A tool's answer, and what is said from it."""
    if r.random() < 0.15:
        return failed(r)
    if not family.domain:
        return some_result(r) if r.random() < 0.6 else done(r)
    if family.result is None:
        return done(r)
    if family.result == "weather":
        return weather_result(r)
    field, kind = family.result.split(" ")
    if field == "list":
        return (r.choice(["[]", '{"results": []}', '{"count": 0, "items": []}']), "I found nothing.") if r.random() < 0.1 else listed(r, kind)
    value = SUMS[family.names[0]](values) if family.names[0] in SUMS else make(r, kind)[0]
    if r.random() < 0.2:
        return str(value), str(value)
    return shaped(r, {field: value}), f"The {field.replace('_', ' ')} is {value}."


def sentence(r, family, values):
    """A result of which a whole sentence is said."""
    if not family.domain or family.result is None:
        return r.choice(["ok", "done", '{"ok": true}']), "Done."
    given, said = result(r, family, values)
    return (given, said) if said.endswith(".") else sentence(r, family, values)


def done(r):
    if r.random() < 0.25:
        code = n.code(r)
        return json.dumps(r.choice([{"ok": True, "id": code}, {"status": "created", "id": code}, {"id": code, "success": True}])), f"Done. The id is {code}."
    return r.choice(["ok", "done", '{"ok": true}', '{"status": "success"}', '{"success": true}', "OK", '{"result": "done"}', '{"status": "ok", "error": null}']), "Done."
