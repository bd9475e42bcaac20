"""Counts the hand-written items that share words in a row with what the generator's tables say: a guard against writing towards the test."""
import json
import re
from pathlib import Path

FOLDER = Path(__file__).parent


def words(text):
    return re.findall(r"[a-z0-9']+", text.lower())


def runs(text, length):
    found = words(text)
    return {tuple(found[at : at + length]) for at in range(len(found) - length + 1)}


def texts(value):
    """All texts inside an item."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


def main():
    sources = [*FOLDER.glob("generate/**/*.py"), *FOLDER.glob("generate/*/*.txt")]
    tables = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    items = [json.loads(line) for path in FOLDER.glob("eval/*.jsonl") for line in path.read_text(encoding="utf-8").splitlines() if line]
    for length in (5, 6, 8):
        known = runs(tables, length)
        shared = sum(any(runs(text, length) & known for text in texts(item)) for item in items)
        print(f"{shared} of {len(items)} items share {length} words in a row with the generator")


if __name__ == "__main__":
    main()
