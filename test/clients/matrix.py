"""Writes the table of docs/clients.md from the lines of results: `matrix.py RESULTS PAGE FACTS`; FACTS stands above the table."""

import json
import sys
from pathlib import Path

STEPS = ("models", "chat", "stream", "tools", "structured", "embeddings", "speech", "errors")
BEGIN, END = "<!-- The table of clients, written by test/clients/python.sh. -->", "<!-- End of the table of clients. -->"

results, page, facts = sys.argv[1:]
clients = {}
for line in Path(results).read_text(encoding="utf-8").splitlines():
    row = json.loads(line)
    clients.setdefault((row["client"], row["version"]), {})[row["step"]] = row
lines = [facts, "", "| Client | Version | " + " | ".join(STEPS) + " | also |", "|---" * (len(STEPS) + 3) + "|"]
failures = []
for (client, version), steps in clients.items():
    cells = [steps[step]["outcome"] if step in steps else "" for step in STEPS]
    also = ", ".join(step if one["outcome"] == "ok" else f"{step}: {one['outcome']}" for step, one in steps.items() if step not in STEPS)
    lines.append(f"| {client} | {version} | " + " | ".join(cells) + f" | {also} |")
    failures += [f"* {client}, {step}: {one['said']}" for step, one in steps.items() if one["outcome"] != "ok"]
if failures:
    lines += ["", *failures]
text = Path(page).read_text(encoding="utf-8")
before, rest = text.split(BEGIN)
after = rest.split(END)[1]
Path(page).write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after, encoding="utf-8")
