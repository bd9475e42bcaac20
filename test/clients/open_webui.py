"""Open WebUI, over the API that its own pages use: sign-in is off, documents are embedded and speech is made by Quern."""

import json
import os
import time
import uuid

from steps import ANSWER, LONG_QUESTION, MODEL, QUESTION, TOOL, WEATHER, Client, done, equal, fetch, fetch_json, has, of_many

BASE = os.environ["OPEN_WEBUI"]
row = Client("open-webui", os.environ["OPEN_WEBUI_VERSION"])
# With WEBUI_AUTH=False any sign-in is that of the one admin.
token = fetch_json(f"{BASE}/api/v1/auths/signin", {"email": "", "password": ""})["token"]
OLLAMA_MODEL = f"{MODEL}:latest"
TEXT = b"The lighthouse of Porto Azzurro was built in 1864. The ferry to Elba leaves the harbour at 9:40. The museum is closed on Mondays.\n"


def call(path, body=None, **options):
    return fetch_json(f"{BASE}{path}", body, token=token, **options)


def form(name, content, kind):
    """A body of multipart/form-data with one file."""
    mark = uuid.uuid4().hex
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: {kind}\r\n\r\n'
    return head.encode() + content + f"\r\n--{mark}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={mark}"}


def ask(text, model=OLLAMA_MODEL, **more):
    return {"model": model, "messages": [{"role": "user", "content": text}], "stream": False, "params": {}, "temperature": 0, **more}


def models():
    """Those of Ollama's list, and those in memory of OpenAI's; each once."""
    ids = [one["id"] for one in call("/api/models")["data"]]
    equal(len(ids), len(set(ids)))
    return has(ids, OLLAMA_MODEL)


def stream():
    lines = fetch(f"{BASE}/api/chat/completions", ask(LONG_QUESTION, stream=True), token=token).decode().splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    return of_many([choice["delta"].get("content") for event in events for choice in event.get("choices", [])])


def tools():
    answer = call("/api/chat/completions", ask(WEATHER, tools=[{"type": "function", "function": TOOL}]))
    (asked,) = answer["choices"][0]["message"]["tool_calls"]
    return equal(json.loads(asked["function"]["arguments"]), {"city": "Paris"})


def documents():
    """A file is uploaded, embedded by Quern and asked about."""
    body, headers = form("harbour.txt", TEXT, "text/plain")
    file = call("/api/v1/files/", body, headers=headers)
    for _ in range(60):
        status = call(f"/api/v1/files/{file['id']}/process/status")["status"]
        if status not in ("pending", "processing"):
            break
        time.sleep(0.5)
    equal(status, "completed")
    knowledge = call("/api/v1/knowledge/create", {"name": "harbour", "description": "the harbour"})
    call(f"/api/v1/knowledge/{knowledge['id']}/file/add", {"file_id": file["id"]})
    found = call("/api/v1/retrieval/query/collection", {"collection_names": [knowledge["id"]], "query": "When does the ferry leave?", "k": 1})
    has(found["documents"])
    answer = call("/api/chat/completions", ask("When does the ferry to Elba leave?", files=[{"type": "collection", "id": knowledge["id"]}]))
    return answer["choices"][0]["message"]["content"], f"{ANSWER} is in the passage that was found"


def speech():
    """Its list of voices is ours; what one of them says is understood."""
    has([voice["id"] for voice in call("/api/v1/audio/voices")["voices"]], "af_heart")
    spoken = fetch(f"{BASE}/api/v1/audio/speech", {"input": "The meeting starts in the morning.", "voice": "alloy", "model": "tts-1"}, token=token)
    body, headers = form("meeting.mp3", spoken, "audio/mpeg")
    return has(call("/api/v1/audio/transcriptions", body, headers=headers)["text"].lower(), "meeting")


def errors():
    try:
        call("/ollama/api/chat", ask(QUESTION, model="none:latest"))
    except AssertionError as error:
        return has(str(error), "none")
    raise AssertionError("a model that is not there answered")


row.step("models", models)
row.step("chat", lambda: has(call("/api/chat/completions", ask(QUESTION))["choices"][0]["message"]["content"]))
row.step("stream", stream)
row.step("chat by OpenAI's protocol", lambda: has(call("/openai/chat/completions", ask(QUESTION, model=MODEL))["choices"][0]["message"]["content"]))
row.step("tools", tools)
row.step("embeddings", documents)
row.step("speech", speech)
row.step("errors", errors)
done(row)
