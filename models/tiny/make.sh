#!/bin/sh
# Makes quern-tiny.gguf again, in build/tiny, on a CPU or with CUDA. Options of training are passed on: ./make.sh --tokens 60e6 --threads 2
# Needs: pip install torch tokenizers gguf numpy. The last step needs the built tree (npm start once).
set -e
cd "$(dirname "$0")"
python=${PYTHON:-python3}
work=../../build/tiny
mkdir -p "$work"
[ -e "$work/tokenizer.json" ] || "$python" train/tokens.py --out "$work/tokenizer.json" --docs ../../README.md ../../docs/*.md ../../docs/decisions/*.md
"$python" train/train.py --work "$work" --resume "$@"
"$python" train/export.py --work "$work" --f32 --out "$work/exact.gguf"
"$python" train/export.py --work "$work" --out "$work/quern-tiny.gguf"
"$python" train/reference.py --work "$work"
node parity.mjs "$work/exact.gguf" "$work/reference.json"
"$python" train/heldout.py --out "$work/held-out.jsonl"
node evaluate.mjs "$work/quern-tiny.gguf" --held-out "$work/held-out.jsonl" --json "$work/evaluation.json"
echo "To ship it: cp $work/quern-tiny.gguf . && cp $work/evaluation.json eval/results.json && node figures.mjs"
