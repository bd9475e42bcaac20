"""Writes the trained model as GGUF: matrices as Q8_0, the rest as F32, with tokenizer and chat template."""
import argparse
import json
import sys
from pathlib import Path

import gguf
import torch

FOLDER = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER))
from train.tokens import CONTROL, SHOWN  # noqa: E402
from train.whole import whole  # noqa: E402

NAMES = {
    "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "q_norm": "attn_q_norm", "attn_norm": "attn_norm",
    "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down", "ffn_norm": "ffn_norm",
}
WHOLE = {"embedding.weight": "token_embd.weight", "output_norm": "output_norm.weight"}

# What the file recommends to who says nothing: little chance, and what an answer has said becomes less likely, which ends loops.
TEMPERATURE, PRESENCE_PENALTY, DRY_MULTIPLIER, DRY_BASE, DRY_ALLOWED_LENGTH = 0.3, 0.3, 1.0, 1.75, 2


def halves(rows, width):
    """Rows of each head from (pair, pair, ...) to (first of each pair, second of each pair), as llama.cpp turns them."""
    return rows.reshape(-1, width // 2, 2, *rows.shape[1:]).transpose(1, 2).reshape(rows.shape)


def pairs(rows, width):
    """The other way round."""
    return rows.reshape(-1, 2, width // 2, *rows.shape[1:]).transpose(1, 2).reshape(rows.shape)


def tensors(saved):
    """Its shape, and (name, values) of the file."""
    shape, weights, norms = whole(saved)

    def named():
        for name, values in (*weights.items(), *norms.items()):
            _, block, part, *_ = f"{name}...".split(".")
            if part in NAMES:
                yield f"blk.{block}.{NAMES[part]}.weight", halves(values, shape["head_width"]) if part in ("q", "k", "q_norm") else values
            else:
                yield WHOLE[name], values
        for block in range(shape["layers"]):
            yield f"blk.{block}.attn_k_norm.weight", torch.ones(shape["head_width"])

    return shape, named()


def add_shape(writer, shape):
    writer.add_context_length(shape["context"])
    writer.add_embedding_length(shape["width"])
    writer.add_block_count(shape["layers"])
    writer.add_feed_forward_length(shape["feed_forward"])
    writer.add_head_count(shape["heads"])
    writer.add_head_count_kv(shape["kv_heads"])
    writer.add_key_length(shape["head_width"])
    writer.add_value_length(shape["head_width"])
    writer.add_rope_freq_base(shape["rope_base"])
    writer.add_layer_norm_rms_eps(shape["epsilon"])
    writer.add_vocab_size(shape["vocabulary"])


def add_tokenizer(writer, path):
    record = json.loads(Path(path).read_text(encoding="utf-8"))
    ids = {**record["model"]["vocab"], **{one["content"]: one["id"] for one in record["added_tokens"]}}
    texts = sorted(ids, key=ids.get)
    kinds = [gguf.TokenType.CONTROL if t in CONTROL else gguf.TokenType.USER_DEFINED if t in SHOWN else gguf.TokenType.NORMAL for t in texts]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in record["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(texts)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(ids["<|im_end|>"])
    writer.add_pad_token_id(ids["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template((FOLDER / "template.jinja").read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", default=str(FOLDER.parents[1] / "build" / "tiny"))
    parser.add_argument("--name", default="model")
    parser.add_argument("--out", default=str(FOLDER / "quern-tiny.gguf"))
    parser.add_argument("--embedder", action="store_true", help="name the mean over tokens as its pooling")
    parser.add_argument("--f32", action="store_true", help="keep matrices exact, to compare with torch")
    given = parser.parse_args()
    saved = torch.load(Path(given.work) / f"{given.name}.pt", map_location="cpu", weights_only=True)
    writer = gguf.GGUFWriter(given.out, "qwen3")
    writer.add_name("quern-tiny")
    writer.add_description("Quern's built-in model, trained from scratch on generated dialogues; see model-card.md")
    writer.add_license("apache-2.0")
    # llama.cpp has no keys of its own for penalties and DRY.
    writer.add_sampling_temp(TEMPERATURE)
    writer.add_float32("general.sampling.penalty_present", PRESENCE_PENALTY)
    writer.add_float32("general.sampling.dry_multiplier", DRY_MULTIPLIER)
    writer.add_float32("general.sampling.dry_base", DRY_BASE)
    writer.add_uint32("general.sampling.dry_allowed_length", DRY_ALLOWED_LENGTH)
    if given.embedder:
        writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_string("quern.tokens_seen", str(int(saved["seen"])))
    shape, named = tensors(saved)
    add_shape(writer, shape)
    add_tokenizer(writer, Path(given.work) / "tokenizer.json")
    for name, weight in named:
        values = weight.float().contiguous().numpy()
        if values.ndim == 2 and not given.f32:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print(f"{given.out}: {Path(given.out).stat().st_size} bytes after {saved['seen']} tokens")


if __name__ == "__main__":
    main()
