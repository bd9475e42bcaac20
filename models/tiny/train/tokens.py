"""Byte-level BPE with the pre-tokenizer that llama.cpp calls `qwen2`, and dialogues as token ids."""
import argparse
import re
import sys
from itertools import islice
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from generate.mix import stream  # noqa: E402

# Splits every digit from its neighbours, which makes numbers easy to copy and to add.
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# The same without the space before a word or a sign: merges never cross it, so that a word has the same tokens wherever it stands
# (after a space, a quotation mark, a line break) and can be copied as it is.
APART = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
# Texts that end or begin a turn; llama.cpp's kind "control".
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
# Texts that the model writes and a reader sees; llama.cpp's kind "user defined".
SHOWN = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
# What a token is: given to the model, said by it, or said and decisive.
GIVEN, SAID, DECIDED = 0, 1, 2
# The name of a called tool.
NAME = re.compile(r'(?<=<tool_call>\n\{"name": ")[^"]+')


def splitting(pattern):
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )


def train_tokenizer(texts, size):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = splitting(APART)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size - len(CONTROL) - len(SHOWN), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, max_token_length=12
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.pre_tokenizer = splitting(PATTERN)
    tokenizer.add_special_tokens([*CONTROL, *SHOWN])
    return tokenizer


def byte_level(texts, merges):
    """The tokenizer of a GGUF: its tokens in the order of their ids, its merges as pairs with a space between."""
    special = {*CONTROL, *SHOWN}
    vocabulary = {text: number for number, text in enumerate(texts) if text not in special}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[tuple(merge.split(" ")) for merge in merges]))
    tokenizer.pre_tokenizer = splitting(PATTERN)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([text for text in texts if text in special])
    return tokenizer


def load(path):
    return Tokenizer.from_file(str(path))


def pieces(tokenizer):
    """Its tokens that are letters, in the order of their ids; those that are parts of a letter are left out."""
    texts = (tokenizer.decode([number]) for number in range(tokenizer.get_vocab_size()))
    return [text for text in texts if text.isalpha()]


def encode(tokenizer, dialogue):
    """(ids, said): of each token GIVEN, SAID or DECIDED, which are the first of an answer and those of a tool's name."""
    segments = dialogue.segments()
    ids, said = [], []
    # Each segment border is a special token or a line break before one, so that parts encode as the whole does.
    for encoding, (text, mine) in zip(tokenizer.encode_batch([text for text, _ in segments], add_special_tokens=False), segments):
        ids += encoding.ids
        named = {at for found in NAME.finditer(text) for at in range(*found.span())}
        said += [DECIDED if at == 0 or start in named else SAID for at, (start, _) in enumerate(encoding.offsets)] if mine else [GIVEN] * len(encoding.ids)
    return ids, said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[3] / "build" / "tiny" / "tokenizer.json"))
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--dialogues", type=int, default=30000)
    parser.add_argument("--docs", nargs="*", default=[], help="own texts that lend their words to the vocabulary")
    given = parser.parse_args()
    texts = ["".join(text for text, _ in dialogue.segments()) for dialogue in islice(stream(7), given.dialogues)]
    for special in [*CONTROL, *SHOWN]:
        texts = [text.replace(special, "\n") for text in texts]
    documents = [Path(name).read_text(encoding="utf-8") for name in given.docs]
    tokenizer = train_tokenizer([*texts, *documents * 8], given.size)
    Path(given.out).parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(given.out)
    print(f"{given.out}: {tokenizer.get_vocab_size()} tokens")


if __name__ == "__main__":
    main()
