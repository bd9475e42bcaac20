"""Ollama's own library."""

import json
from importlib.metadata import version

import ollama
from steps import LONG_QUESTION, MODEL, PERSON, PERSON_TEXT, QUESTION, RUNTIME, TOOL, WEATHER, Client, done, equal, has, of_many, raises, vectors

client = ollama.Client(host=RUNTIME)
row = Client("ollama", version("ollama"))
COLD = {"temperature": 0}


def ask(text):
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], "options": COLD}


def tools():
    offer = {"tools": [{"type": "function", "function": TOOL}]}
    message = client.chat(**ask(WEATHER), **offer).message
    equal(message.tool_calls[0].function.arguments, {"city": "Paris"})
    asked = ask(WEATHER)
    asked["messages"] += [message, {"role": "tool", "tool_name": "get_weather", "content": "18 degrees and sun"}]
    return has(client.chat(**asked, **offer).message.content, "18")


def created():
    """A model made of another: created, shown, used, copied and deleted."""
    client.create(model="brief", from_=MODEL, system="Be brief.", parameters={"num_predict": 2})
    equal(client.show("brief").modelinfo is not None, True)
    equal(client.chat(**{**ask(QUESTION), "model": "brief"}).eval_count, 2)
    client.copy("brief", "brief2")
    for name in ("brief", "brief2"):
        client.delete(name)
    return [one.model for one in client.list().models]


row.step("models", lambda: (has([one.model for one in client.list().models], f"{MODEL}:latest"), client.show(MODEL).capabilities))
row.step("chat", lambda: has(client.chat(**ask(QUESTION)).message.content))
row.step("stream", lambda: of_many([part.message.content for part in client.chat(**ask(LONG_QUESTION), stream=True)]))
row.step("generate", lambda: has(client.generate(model=MODEL, prompt=QUESTION, options=COLD).response))
row.step("tools", tools)
row.step("embeddings", lambda: vectors(client.embed(model=MODEL, input=["a dog", "a cat"]).embeddings, 2))
row.step("structured", lambda: equal(json.loads(client.chat(**ask(PERSON_TEXT), format=PERSON).message.content), {"name": "Ann", "age": 31}))
row.step("models in memory", lambda: has([one.model for one in client.ps().models], f"{MODEL}:latest"))
row.step("models of one's own", created)
row.step("errors", lambda: raises(ollama.ResponseError, lambda: client.chat(**{**ask("a"), "model": "none"}), "model 'none' not found"))
done(row)
