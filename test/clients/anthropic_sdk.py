"""Anthropic's SDK."""

import anthropic
from steps import CITY, KEY, LONG_QUESTION, MODEL, PERSON, PERSON_TEXT, QUESTION, RUNTIME, WEATHER, Client, done, equal, has, of_many, raises

client = anthropic.Anthropic(base_url=RUNTIME, api_key=KEY, max_retries=0)
row = Client("anthropic", anthropic.__version__)


def ask(text, **more):
    return {"model": MODEL, "max_tokens": 200, "messages": [{"role": "user", "content": text}], "extra_body": {"temperature": 0}, **more}


def stream():
    with client.messages.stream(**ask(LONG_QUESTION)) as events:
        said = of_many(list(events.text_stream))
        equal(events.get_final_message().stop_reason, "end_turn")
    return said


def tools():
    offer = {"tools": [{"name": "get_weather", "description": "The weather of a city", "input_schema": CITY}]}
    message = client.messages.create(**ask(WEATHER, **offer))
    call = next(block for block in message.content if block.type == "tool_use")
    equal((message.stop_reason, call.name, call.input), ("tool_use", "get_weather", {"city": "Paris"}))
    asked = ask(WEATHER, **offer)
    asked["messages"] += [
        {"role": "assistant", "content": message.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "18 degrees and sun"}]},
    ]
    return has(client.messages.create(**asked).content[0].text, "18")


def structured():
    """Anthropic's own way to JSON of a shape: a tool that must be used."""
    offer = {"tools": [{"name": "write_person", "description": "Writes a person", "input_schema": PERSON}], "tool_choice": {"type": "tool", "name": "write_person"}}
    (call,) = [block for block in client.messages.create(**ask(PERSON_TEXT, **offer)).content if block.type == "tool_use"]
    equal(set(call.input), {"name", "age"})
    return has(call.input["name"], "Ann")


row.step("models", lambda: has([one.id for one in client.models.list()], MODEL))
row.step("chat", lambda: has(client.messages.create(**ask(QUESTION)).content[0].text))
row.step("stream", stream)
row.step("tools", tools)
row.step("structured", structured)
row.step("count of tokens", lambda: client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": QUESTION}]).input_tokens)
row.step("errors", lambda: raises(anthropic.NotFoundError, lambda: client.messages.create(**{**ask("a"), "model": "claude-none"}), "claude-none"))
done(row)
