"""The steps of one client: each prints `ok` or what failed, and is a line of JSON in the file that RESULTS names.

A driver makes a `Client`, runs steps with it and ends with `done(client)`. Addresses come from python.sh: QUERN_RUNTIME and QUERN_CORE.
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

RUNTIME = os.environ["QUERN_RUNTIME"]
CORE = os.environ["QUERN_CORE"]
V1 = f"{RUNTIME}/v1"
MODEL = "quern-tiny"
KEY = "none"
# The built-in model finds answers in a text, calls a tool that fits and copies into JSON; these three it always does.
QUESTION = "The ferry to Elba leaves at 9:40. When does the ferry leave?"
ANSWER = "9:40"
# A question whose answer has some thirty words: a stream of it has many pieces.
LONG_QUESTION = "Hello! What can you do?"
LONG_ANSWER = "questions"
WEATHER = "What is the weather in Paris?"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"name": "get_weather", "description": "The weather of a city", "parameters": CITY}
PERSON_TEXT = "Ann is 31 years old and lives in Oslo. Write her name and age."
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


class Client:
    """Steps of a client whose row of the table is `name` and `version`."""

    def __init__(self, name, version):
        self.name, self.version, self.failed = name, version, False

    def step(self, kind, run):
        """Runs one step; what it returns is shown. A step that raises has failed, and the next one is run all the same."""
        try:
            said, outcome = run(), "ok"
        except Exception as error:  # Whatever a client raises is what is to be reported.
            said, outcome = f"{type(error).__name__}: {error}", "failed"
            self.failed = True
        print(f"{outcome:6} {self.name} {self.version}: {kind}: {one_line(said)}", flush=True)
        row = {"client": self.name, "version": self.version, "step": kind, "outcome": outcome, "said": one_line(said)}
        with open(os.environ["RESULTS"], "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def done(*clients):
    """Ends the driver: exit code 1 where a step of these clients failed."""
    sys.exit(1 if any(client.failed for client in clients) else 0)


def one_line(said):
    return " ".join(str(said).split())[:300]


def has(text, part=ANSWER):
    """The text, which must hold `part`."""
    if part not in str(text):
        raise AssertionError(f"{part!r} is not in {text!r}")
    return text


def equal(value, wanted):
    if value != wanted:
        raise AssertionError(f"{value!r} instead of {wanted!r}")
    return value


def of_many(pieces):
    """The pieces of a stream, which together answer the long question; a stream of few pieces is no stream."""
    pieces = [piece for piece in pieces if piece]
    has("".join(pieces), LONG_ANSWER)
    if len(pieces) < 5:
        raise AssertionError(f"the stream had {len(pieces)} pieces")
    return f"{len(pieces)} pieces: {''.join(pieces)}"


def vectors(values, count):
    """`count` vectors of one length, each of length 1."""
    equal(len(values), count)
    equal(len({len(value) for value in values}), 1)
    for value in values:
        if abs(sum(x * x for x in value) - 1) > 0.01:
            raise AssertionError("a vector is not of length 1")
    return f"{count} of {len(values[0])} numbers"


def raises(kind, run, part):
    """The error of a class that a call must end in, with `part` in its words."""
    try:
        run()
    except kind as error:
        return has(str(error), part)
    raise AssertionError(f"no {kind}")


def command(args, text=None, **env):
    """What a program prints on standard output; one that fails raises with all it said."""
    run = subprocess.run(args, input=text, capture_output=True, text=True, timeout=300, env={**os.environ, **env}, check=False)
    if run.returncode != 0:
        raise AssertionError(f"exit code {run.returncode}: {run.stdout[-500:]} {run.stderr[-1500:]}")
    return run.stdout


def fetch(url, body=None, token=None, headers=None):
    """Bytes of an answer; `body` as bytes goes as it is, anything else as JSON."""
    headers = dict(headers or {})
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=120) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{url} answered {error.code}: {error.read().decode(errors='replace')[:500]}") from error


def fetch_json(url, body=None, **options):
    return json.loads(fetch(url, body, **options))
