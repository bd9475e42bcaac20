"""Continue's `cn`, by its two ways to a local server. Its prompt takes nearly all of the built-in model's context, so answers are short."""

import json
import os
import sys
from pathlib import Path

from steps import KEY, MODEL, RUNTIME, V1, Client, command, done, raises

CN = sys.argv[1]
row = Client("continue (cn)", command([CN, "--version"]).strip())
home = Path(os.environ["HOME"])


def config(provider, base, model=MODEL):
    options = {"maxTokens": 50, "temperature": 0}
    entry = {"name": model, "provider": provider, "model": model, "apiBase": base, "apiKey": KEY, "roles": ["chat"], "defaultCompletionOptions": options}
    path = home / f"{provider}-{model}.yaml"
    # JSON is YAML too.
    path.write_text(json.dumps({"name": "Local", "version": "1.0.0", "schema": "v1", "models": [entry]}), encoding="utf-8")
    return str(path)


def ask(*args):
    said = command([CN, "-p", *args, "Hello! Who are you?"]).strip()
    if not said or '"status":"error"' in said:
        raise AssertionError(said or "no answer")
    return said


row.step("chat", lambda: ask("--config", config("openai", V1)))
row.step("chat by Ollama's protocol", lambda: ask("--config", config("ollama", RUNTIME)))
row.step("errors", lambda: raises(AssertionError, lambda: ask("--config", config("ollama", RUNTIME, "none")), "none"))
done(row)
