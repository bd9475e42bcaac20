"""aider, by its two ways to a local server. The built-in model writes no code, so it is only asked."""

import os
import re
import sys

from steps import KEY, MODEL, RUNTIME, V1, Client, command, done, has

AIDER = sys.argv[1]
QUIET = "--no-check-update --no-analytics --no-git --no-gitignore --yes-always --no-show-model-warnings --no-show-release-notes --no-pretty --map-tokens 0"
row = Client("aider", command([AIDER, "--version"]).split()[-1])


def ask(*args):
    """What aider says of an answer: how many tokens went and came. With its own prompt around it, the built-in model says little of sense."""
    said = command(
        [AIDER, *QUIET.split(), "--chat-mode", "ask", "--message", "Hello! Who are you?", *args],
        OPENAI_API_BASE=V1,
        OPENAI_API_KEY=KEY,
        OLLAMA_API_BASE=RUNTIME,
        LITELLM_LOCAL_MODEL_COST_MAP="True",
    )
    tokens = re.search(r"Tokens: ([\d.k]+) sent, ([\d.k]+) received", said)
    if not tokens:
        raise AssertionError(said)
    return tokens[0]


row.step("chat", lambda: ask("--model", f"openai/{MODEL}", "--no-stream"))
row.step("stream", lambda: ask("--model", f"openai/{MODEL}"))
row.step("chat by Ollama's protocol", lambda: ask("--model", f"ollama_chat/{MODEL}"))


def errors():
    said = command([AIDER, *QUIET.split(), "--chat-mode", "ask", "--message", "a", "--model", "openai/none"], OPENAI_API_BASE=V1, OPENAI_API_KEY=KEY)
    return has(said, "does not exist")


row.step("errors", errors)
done(row)
