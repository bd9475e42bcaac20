"""Writes what torch says, for `parity.mjs`: token ids of strings, and greedy continuations of prompts with their first log probabilities."""
import argparse
import json
import random
import sys
from itertools import islice
from pathlib import Path

import torch

FOLDER = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER))
from generate.mix import stream  # noqa: E402
from train.model import Model, Shape, shipped  # noqa: E402
from train.tokens import DECIDED, encode, load  # noqa: E402

ODD = ["", " ", "  two  spaces ", "tab\there", "line\n\nbreaks\r\n", "don't we'll I'M", "3.14159", "1,000,000", "naïve café Ærø", "日本語のテキスト", "🙂👩‍👩‍👧", "a\u0301", "x==y!=z", "<p>a</p>", "C:\\path\\file", "ﬁ", "\u00a0nbsp", "ÅÄÖ", "e=mc²", "½ ⅓", "…—–"]


def strings(count):
    r = random.Random(5)
    texts = list(ODD)
    for dialogue in islice(stream(11), count):
        texts.append(dialogue.messages[-2][1])
    while len(texts) < count:
        texts.append("".join(chr(r.choice([r.randint(32, 126), r.randint(160, 1200), r.randint(0x4E00, 0x4EFF)])) for _ in range(r.randint(1, 30))))
    half = texts[: count // 2]
    noise = ["".join(chr(r.choice([r.randint(32, 126), r.randint(160, 1200)])) for _ in range(r.randint(1, 30))) for _ in range(count - len(half))]
    return half + noise


@torch.no_grad()
def greedy(model, ids, end, count=16):
    ids, first = list(ids), None
    for _ in range(count):
        logits = model(torch.tensor([ids]))[0, -1]
        if first is None:
            first = torch.log_softmax(logits, -1)
        token = int(logits.argmax())
        ids.append(token)
        if token == end:
            break
    return ids, first


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", default=str(FOLDER.parents[1] / "build" / "tiny"))
    parser.add_argument("--name", default="model")
    parser.add_argument("--prompts", type=int, default=12)
    given = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = load(Path(given.work) / "tokenizer.json")
    saved = torch.load(Path(given.work) / f"{given.name}.pt", map_location="cpu", weights_only=True)
    model = Model(Shape(**saved["shape"]))
    model.load_state_dict(shipped(saved))
    end = tokenizer.token_to_id("<|im_end|>")
    record = {"strings": [[text, tokenizer.encode(text, add_special_tokens=False).ids] for text in strings(1000)], "prompts": []}
    for dialogue in islice(stream(13), given.prompts):
        ids, said = encode(tokenizer, dialogue)
        prompt = ids[: said.index(DECIDED)]
        whole, first = greedy(model, prompt, end)
        top = first.topk(5)
        record["prompts"].append({"prompt": prompt, "said": whole[len(prompt) :], "top": [[int(i), float(v)] for v, i in zip(top.values, top.indices)]})
    out = Path(given.work) / "reference.json"
    out.write_text(json.dumps(record), encoding="utf-8")
    print(out)


if __name__ == "__main__":
    main()
