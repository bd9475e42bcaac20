"""Writes dialogues that training never draws, for `evaluate.mjs --held-out FILE`: the messages before the last answer, and that answer."""
import argparse
import json
import sys
from itertools import islice
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER))
from generate.mix import stream  # noqa: E402

# Beside the seeds of training, which are its first seed plus the tokens seen, and of the checks during training.
SEED = 2_000_000_011


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=str(FOLDER.parents[1] / "build" / "tiny" / "held-out.jsonl"))
    parser.add_argument("--count", type=int, default=500)
    given = parser.parse_args()
    with open(given.out, "w", encoding="utf-8") as out:
        for one in islice(stream(SEED), given.count):
            *before, (_, answer) = one.messages
            messages = [{"role": role, "content": text, **({"tool_call_id": "call_1"} if role == "tool" else {})} for role, text in before]
            record = {"kind": one.kind, "messages": messages, "tools": one.tools, "think": one.thinking, "answer": answer.split("</think>")[-1].strip()}
            out.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
