"""Reference vectors of a BERT sentence model, for comparison with ours.

python3 reference.py <folder with model.safetensors and tokenizer.json> <reference.json to write>

Uses transformers and torch where they are there, else the same equations in numpy; tokens come from the tokenizers library either way.
"""
import json
import os
import sys
from math import erf, sqrt

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer


def encoded(folder, texts, limit):
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.enable_truncation(limit)
    tokenizer.no_padding()
    return [tokenizer.encode(text).ids for text in texts]


def numpy_states(folder):
    w = load_file(f"{folder}/model.safetensors")
    config = json.load(open(f"{folder}/config.json"))
    heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
    gelu = np.vectorize(lambda x: 0.5 * x * (1 + erf(x / sqrt(2))), otypes=[np.float64])

    def norm(x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x, name):
        return x @ w[f"{name}.weight"].T.astype(np.float64) + w[f"{name}.bias"]

    def states(ids):
        n = len(ids)
        e = "embeddings"
        x = w[f"{e}.word_embeddings.weight"][ids] + w[f"{e}.position_embeddings.weight"][:n] + w[f"{e}.token_type_embeddings.weight"][0]
        x = norm(x.astype(np.float64), f"{e}.LayerNorm")
        for layer in range(config["num_hidden_layers"]):
            name = f"encoder.layer.{layer}"
            q, k, v = (linear(x, f"{name}.attention.self.{part}").reshape(n, heads, -1).transpose(1, 0, 2) for part in ("query", "key", "value"))
            scores = q @ k.transpose(0, 2, 1) / sqrt(q.shape[-1])
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (shares / shares.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(n, -1)
            x = norm(linear(mixed, f"{name}.attention.output.dense") + x, f"{name}.attention.output.LayerNorm")
            x = norm(linear(gelu(linear(x, f"{name}.intermediate.dense")), f"{name}.output.dense") + x, f"{name}.output.LayerNorm")
        return x

    return states


def torch_states(folder):
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder).eval()

    def states(ids):
        with torch.no_grad():
            return model(input_ids=torch.tensor([ids])).last_hidden_state[0].double().numpy()

    return states


def main(folder, target):
    limit = json.load(open(f"{folder}/sentence_bert_config.json"))["max_seq_length"]
    texts = json.load(open(f"{os.path.dirname(os.path.abspath(__file__))}/texts.json"))
    try:
        states, by = torch_states(folder), "transformers"
    except ImportError:
        states, by = numpy_states(folder), "numpy"
    rows = encoded(folder, texts, limit)
    vectors = [states(ids).mean(0) for ids in rows]
    vectors = [(vector / np.linalg.norm(vector)).tolist() for vector in vectors]
    json.dump({"by": by, "texts": texts, "ids": rows, "vectors": vectors}, open(target, "w"))


main(*sys.argv[1:])
