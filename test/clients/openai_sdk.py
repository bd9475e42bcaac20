"""OpenAI's SDK, at the universal runtime and at a project."""

import io
import json

import openai
from pydantic import BaseModel
from steps import CITY, CORE, KEY, LONG_QUESTION, MODEL, PERSON_TEXT, QUESTION, TOOL, V1, WEATHER, Client, done, equal, has, of_many, raises, vectors


class Person(BaseModel):
    name: str
    age: int


def chat_steps(row, client, model):
    """What both ports must do with a chat."""

    def ask(text):
        return {"model": model, "messages": [{"role": "user", "content": text}], "temperature": 0}

    row.step("chat", lambda: has(client.chat.completions.create(**ask(QUESTION)).choices[0].message.content))

    def stream():
        chunks = client.chat.completions.create(**ask(LONG_QUESTION), stream=True, stream_options={"include_usage": True})
        pieces, usage = [], None
        for chunk in chunks:
            usage = chunk.usage or usage
            pieces += [choice.delta.content for choice in chunk.choices]
        equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
        return of_many(pieces)

    row.step("stream", stream)

    def tools():
        asked = {"role": "user", "content": WEATHER}
        offer = {"model": model, "tools": [{"type": "function", "function": TOOL}], "temperature": 0}
        message = client.chat.completions.create(messages=[asked], **offer).choices[0].message
        call = message.tool_calls[0]
        equal((call.function.name, json.loads(call.function.arguments)), ("get_weather", {"city": "Paris"}))
        result = {"role": "tool", "tool_call_id": call.id, "content": "18 degrees and sun"}
        return has(client.chat.completions.create(messages=[asked, message, result], **offer).choices[0].message.content, "18")

    row.step("tools", tools)

    def structured():
        messages = [{"role": "user", "content": PERSON_TEXT}]
        answer = client.chat.completions.parse(model=model, messages=messages, response_format=Person, temperature=0)
        # Which name stands in it depends on the prompts of a project.
        return has(answer.choices[0].message.parsed.model_dump(), "31")

    row.step("structured", structured)


def runtime():
    client = openai.OpenAI(base_url=V1, api_key=KEY, max_retries=0)
    row = Client("openai", openai.__version__)
    chat_steps(row, client, MODEL)
    row.step("models", lambda: (has([one.id for one in client.models.list()], MODEL), client.models.retrieve(MODEL).id))
    row.step("embeddings", lambda: vectors([one.embedding for one in client.embeddings.create(model=MODEL, input=["a dog", "a cat"]).data], 2))

    def speech():
        with client.audio.speech.with_streaming_response.create(model="tts-1", voice="alloy", input="The meeting starts in the morning.", response_format="wav") as sound:
            spoken = sound.read()
        equal(spoken[:4], b"RIFF")
        file = io.BytesIO(spoken)
        file.name = "meeting.wav"
        return has(client.audio.transcriptions.create(model="whisper-1", file=file).text.lower(), "meeting")

    row.step("speech", speech)

    def responses():
        first = client.responses.create(model=MODEL, input=QUESTION, temperature=0)
        has(first.output_text)
        call = client.responses.create(
            model=MODEL, input=WEATHER, temperature=0, tools=[{"type": "function", "name": "get_weather", "parameters": CITY, "strict": False}]
        ).output[-1]
        equal(json.loads(call.arguments), {"city": "Paris"})
        events = list(client.responses.create(model=MODEL, input=LONG_QUESTION, temperature=0, stream=True))
        of_many([event.delta for event in events if event.type == "response.output_text.delta"])
        parsed = client.responses.parse(model=MODEL, input=PERSON_TEXT, text_format=Person, temperature=0)
        return equal(parsed.output_parsed, Person(name="Ann", age=31))

    row.step("responses", responses)
    unknown = lambda: client.chat.completions.create(model="gpt-none", messages=[{"role": "user", "content": "a"}])
    row.step("errors", lambda: raises(openai.NotFoundError, unknown, "gpt-none"))
    return row


def project():
    client = openai.OpenAI(base_url=f"{CORE}/v1/projects/default/quickstart", api_key=KEY, max_retries=0)
    row = Client("openai, a project", openai.__version__)
    row.step("models", lambda: has([one.id for one in client.models.list()], "default"))
    chat_steps(row, client, "default")
    unknown = lambda: client.chat.completions.create(model="gpt-none", messages=[{"role": "user", "content": "a"}])
    row.step("errors", lambda: raises(openai.BadRequestError, unknown, "gpt-none"))
    return row


done(runtime(), project())
