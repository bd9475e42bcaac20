"""Checks the generator: spans stand in their texts, JSON and calls are valid, dialogues render as the chat template renders them."""
import json
import re
import sys
from itertools import islice
from pathlib import Path

import jinja2

from generate import lexicon, names
from generate.chat import Dialogue
from generate.kinds.reading import NOT_THERE
from generate.mix import stream

TEMPLATE = Path(__file__).parent / "template.jinja"


def rendered(template, dialogue):
    """As the engine renders the messages before the last answer."""
    messages = [{"role": role, "content": text} for role, text in dialogue.messages[:-1]]
    return template.render(messages=messages, tools=dialogue.tools, enable_thinking=dialogue.thinking, add_generation_prompt=True)


def span(dialogue):
    """Each answer of a reading stands in what was said before it."""
    given = ""
    for role, text in dialogue.messages:
        answer = text.split("</think>")[-1].strip()
        if role == "assistant" and answer != NOT_THERE and answer.lower() not in given.lower():
            return f"{answer!r} is not in the text"
        if role != "assistant":
            given += text + "\n"
    return None


def valid_call(dialogue):
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in dialogue.tools}
    wanted = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list}
    calls = [json.loads(one) for role, text in dialogue.messages if role == "assistant" for one in re.findall(r"<tool_call>\n(.*)\n</tool_call>", text)]
    for call in calls:
        parameters = schemas[call["name"]]
        if set(parameters["required"]) - set(call["arguments"]) or set(call["arguments"]) - set(parameters["properties"]):
            return f"{call} does not fit {parameters}"
        for name, value in call["arguments"].items():
            about = parameters["properties"][name]
            if not isinstance(value, wanted[about["type"]]) or value not in about.get("enum", [value]):
                return f"{name} of {call} is not as {about}"
    return None


def flaw(dialogue, template):
    whole = "".join(text for text, _ in dialogue.segments())
    prompt = whole[: len(whole) - len(dialogue.messages[-1][1]) - len("<|im_end|>\n")]
    if rendered(template, dialogue) != prompt:
        return "it renders in another way than the template"
    if dialogue.kind in ("reading", "retrieval"):
        return span(dialogue)
    if dialogue.kind == "tools":
        return valid_call(dialogue)
    answer = dialogue.messages[-1][1].split("</think>")[-1].strip()
    if dialogue.kind in ("extract", "copying") and answer.startswith(("{", "[")):
        try:
            json.loads(answer)
        except ValueError as error:
            return str(error)
    return None


# Tools as programs send them, which the generator does not make.
ODD_TOOLS = [
    {"name": "bare"},
    {"name": "told", "description": "Two\nlines", "parameters": {"type": "object"}},
    {"name": "order", "parameters": {"properties": {"items": {"type": "array", "items": {"type": "string"}}, "any": True, "to": {"type": ["string", "null"]}}}},
    {"name": "nested", "description": "Deep", "parameters": {"properties": {"at": {"type": "object", "properties": {"x": {"type": "number"}}}, "unit": {"enum": ["c", "f"], "description": 'A "unit"'}, "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, "required": ["at"]}},
]


def odd():
    """A dialogue that offers all of them."""
    return Dialogue([("user", "Go"), ("assistant", "Yes")], tools=[{"type": "function", "function": one} for one in ODD_TOOLS])


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    # Words will do for the pieces of a tokenizer.
    names.PIECES[:] = lexicon.NOUNS
    flaws = [(one.kind, why, one.messages) for one in islice(stream(17), count) if (why := flaw(one, template))]
    if rendered(template, odd()) != "".join(text for text, _ in odd().segments()[:-2]):
        sys.exit("odd tools render otherwise than the template shows them")
    for kind, why, messages in flaws[:5]:
        print(kind, why, messages)
    print(f"{count - len(flaws)} of {count} dialogues are sound")
    return bool(flaws)


if __name__ == "__main__":
    sys.exit(main())
