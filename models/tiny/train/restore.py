"""Makes checkpoint and tokenizer of a GGUF that export.py wrote: to train on from the file where nothing else is left of its training."""
import argparse
import sys
from pathlib import Path

import gguf
import torch

FOLDER = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER))
from train.export import NAMES, pairs  # noqa: E402
from train.model import Shape  # noqa: E402
from train.tokens import byte_level  # noqa: E402

# Norms before a part have weights only beside circuits.
PARTS = {theirs: ours for ours, theirs in NAMES.items() if ours not in ("attn_norm", "ffn_norm")}


def shape_of(reader):
    number = lambda name: reader.fields[f"qwen3.{name}"].contents()
    [last_norm] = (tensor for tensor in reader.tensors if tensor.name == "output_norm.weight")
    return Shape(
        vocabulary=number("vocab_size"), width=number("embedding_length"), layers=number("block_count"), heads=number("attention.head_count"),
        kv_heads=number("attention.head_count_kv"), head_width=number("attention.key_length"), feed_forward=number("feed_forward_length"),
        context=number("context_length"), rope_base=number("rope.freq_base"), epsilon=number("attention.layer_norm_rms_epsilon"),
        scale=1 / float(last_norm.data[0]),
    )


def weights_of(reader, shape):
    """The weights by their names in train/model.py."""
    for tensor in reader.tensors:
        values = torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type))
        if tensor.name == "token_embd.weight":
            yield "embedding.weight", values
            continue
        _, block, theirs, *_ = (tensor.name + "..").split(".")
        part = PARTS.get(theirs)
        if part:
            name = f"blocks.{block}.{part}" + ("" if part == "q_norm" else ".weight")
            yield name, pairs(values, shape.head_width) if part in ("q", "k", "q_norm") else values


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", default=str(FOLDER.parents[1] / "build" / "tiny"))
    parser.add_argument("--name", default="model", help="name of the checkpoint")
    parser.add_argument("--file", default=str(FOLDER / "quern-tiny.gguf"))
    given = parser.parse_args()
    reader = gguf.GGUFReader(given.file)
    shape = shape_of(reader)
    if any(tensor.name == "output_norm.weight" and len(set(tensor.data.tolist())) > 1 for tensor in reader.tensors):
        sys.exit(f"{given.file} holds circuits beside what is learned, which cannot be told apart again; go on from its checkpoint")
    seen = int(reader.fields["quern.tokens_seen"].contents())
    work = Path(given.work)
    work.mkdir(parents=True, exist_ok=True)
    for there in (work / f"{given.name}.pt", work / "tokenizer.json"):
        if there.exists():
            sys.exit(f"{there} is there already; name another folder with --work")
    torch.save({"shape": shape.record(), "model": dict(weights_of(reader, shape)), "seen": seen, "steps": 0}, work / f"{given.name}.pt")
    tokens, merges = (reader.fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "merges"))
    byte_level(tokens, merges).save(str(work / "tokenizer.json"))
    print(f"{work / given.name}.pt after {seen} tokens")


if __name__ == "__main__":
    main()
