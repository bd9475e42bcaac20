"""Simon Willison's `llm`: a command line whose models of other servers stand in a file."""

import json
import os
import sys
from pathlib import Path

from steps import LONG_ANSWER, LONG_QUESTION, MODEL, PERSON_TEXT, QUESTION, V1, WEATHER, Client, command, done, equal, has, raises

LLM = sys.argv[1]
folder = Path(os.environ["LLM_USER_PATH"])
folder.mkdir(parents=True, exist_ok=True)
entry = {"api_base": V1, "supports_tools": True, "supports_schema": True}
# JSON is YAML too.
models = [{"model_id": "quern", "model_name": MODEL, **entry}, {"model_id": "absent", "model_name": "none", **entry}]
(folder / "extra-openai-models.yaml").write_text(json.dumps(models), encoding="utf-8")
WEATHER_TOOL = 'def get_weather(city: str) -> str:\n    "The weather of a city"\n    return "18 degrees and sun"\n'
row = Client("llm", command([LLM, "--version"]).split()[-1])


def llm(*args):
    return command([LLM, *args])


cold = ("-m", "quern", "-o", "temperature", "0")
row.step("models", lambda: has([line for line in llm("models", "list").splitlines() if "quern" in line], "quern"))
row.step("chat", lambda: has(llm(*cold, "--no-stream", QUESTION)))
row.step("stream", lambda: has(llm(*cold, LONG_QUESTION), LONG_ANSWER))
row.step("tools", lambda: has(llm(*cold, "--functions", WEATHER_TOOL, WEATHER), "18 degrees"))
row.step("structured", lambda: equal(json.loads(llm(*cold, "--schema", "name, age int", PERSON_TEXT)), {"name": "Ann", "age": 31}))
row.step("errors", lambda: raises(AssertionError, lambda: llm("-m", "absent", "a"), "does not exist"))
done(row)
