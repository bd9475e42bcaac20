#!/bin/sh
# Makes quern-tiny.gguf again, in build/tiny, on a CPU or with CUDA. Options of training are passed on: ./make.sh --threads 2
# First a narrow model, then a wider one that begins with what that has learned.
# Needs: pip install torch tokenizers gguf numpy. The last step needs the built tree (npm start once).
set -e
cd "$(dirname "$0")"
python=${PYTHON:-python3}
work=../../build/tiny
mkdir -p "$work"
# glibc gives memory back between the steps of training otherwise, and fetches it again: a sixth of the time. MKL takes AVX2 on AMD by itself.
export MALLOC_TRIM_THRESHOLD_=-1 MALLOC_MMAP_THRESHOLD_=33554432 MKL_ENABLE_INSTRUCTIONS=AVX512
[ -e "$work/tokenizer.json" ] || "$python" train/tokens.py --out "$work/tokenizer.json" --docs ../../README.md ../../docs/*.md ../../docs/decisions/*.md
[ -e "$work/wide.pt" ] || {
  "$python" train/train.py --work "$work" --resume "$@"
  "$python" train/grow.py --work "$work" --out wide --feed-forward 1024
}
# Four stretches, each to a rate of zero. The last begins with a mean of the weights before it, and what is shipped is a mean of its two ends.
[ -e "$work/wide-1.pt" ] || {
  "$python" train/train.py --work "$work" --name wide --resume --finish 79e6 --muon-rate 0.005 --adam-rate 0.0016 "$@"
  cp "$work/wide.pt" "$work/wide-1.pt"
}
[ -e "$work/wide-2.pt" ] || {
  "$python" train/train.py --work "$work" --name wide --resume --finish 51e6 --muon-rate 0.0046 --adam-rate 0.0015 "$@"
  cp "$work/wide.pt" "$work/wide-2.pt"
}
[ -e "$work/last.pt" ] || {
  "$python" train/train.py --work "$work" --name wide --resume --finish 14e6 --muon-rate 0.003 --adam-rate 0.001 "$@"
  "$python" train/average.py --work "$work" --of wide-2:0.15 wide:0.85 --out wide-3
  cp "$work/wide-3.pt" "$work/last.pt"
}
"$python" train/train.py --work "$work" --name last --resume --finish 14e6 --muon-rate 0.003 --adam-rate 0.001 "$@"
"$python" train/average.py --work "$work" --of wide-3:0.45 last:0.55 --out quern-tiny
"$python" train/export.py --work "$work" --name quern-tiny --f32 --out "$work/exact.gguf"
"$python" train/export.py --work "$work" --name quern-tiny --out "$work/quern-tiny.gguf"
"$python" train/reference.py --work "$work" --name quern-tiny
node parity.mjs "$work/exact.gguf" "$work/reference.json"
"$python" train/heldout.py --out "$work/held-out.jsonl"
node evaluate.mjs "$work/quern-tiny.gguf" --held-out "$work/held-out.jsonl" --json "$work/evaluation.json"
echo "To ship it: cp $work/quern-tiny.gguf . && cp $work/evaluation.json eval/results.json && node figures.mjs"
