"""Pieces of the project's own documents, as retrieval finds them: they stand between the passages that a question is about."""
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FILES = ["README.md", "CHANGELOG.md", "docs/architecture.md", "docs/benchmarks.md", *(f"docs/decisions/{name}.md" for name in ("README", "layers", "tiny-model"))]
# Characters of a piece; chat sends pieces of some 500 to 1,000.
SHORTEST, LONGEST = 100, 700


@cache
def paragraphs():
    """All paragraphs of the files that are there."""
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in FILES if (ROOT / name).exists()]
    return [one.strip() for text in texts for one in re.split(r"\n\s*\n", text) if one.strip()]


def piece(r):
    """Some paragraphs in a row, cut at a line or a word where they are long."""
    every = paragraphs()
    at, size, text = r.randrange(len(every)), r.randint(SHORTEST, LONGEST), ""
    while len(text) < size and at < len(every):
        text += ("\n\n" if text else "") + every[at]
        at += 1
    return text[:size].rsplit(None, 1)[0]
