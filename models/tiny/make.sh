#!/bin/sh
# Makes quern-tiny.gguf again, in build/tiny, on a CPU or with CUDA. Options of training are passed on: ./make.sh --threads 2 --compile
# Circuits that choose tools and labels are found first (train/finding.py) and stand beside what is learned.
# Needs: pip install torch tokenizers gguf numpy. The last step needs the built tree (npm start once).
set -e
cd "$(dirname "$0")"
python=${PYTHON:-python3}
work=../../build/tiny
mkdir -p "$work"
# MKL takes AVX2 on AMD by itself. glibc gives memory back between the steps of training and fetches it again, a sixth of the time; with jemalloc, where
# it is installed, a process stays at 4 GB (docs/decisions/tiny-model.md).
export MALLOC_TRIM_THRESHOLD_=-1 MALLOC_MMAP_THRESHOLD_=33554432 MKL_ENABLE_INSTRUCTIONS=AVX512
jemalloc=$(ldconfig -p 2>/dev/null | sed -n 's/.*libjemalloc\.so\.2 .*=> //p' | head -n 1)
[ -e "$work/tokenizer.json" ] || "$python" train/tokens.py --out "$work/tokenizer.json" --docs ../../README.md ../../docs/*.md ../../docs/decisions/*.md
[ -e "$work/meaning.pt" ] || "$python" train/finding.py --work "$work"
# The rate is constant for 112 million tokens and falls to zero in the rest.
env ${jemalloc:+LD_PRELOAD="$jemalloc" MALLOC_CONF=dirty_decay_ms:3000,muzzy_decay_ms:-1,thp:always,metadata_thp:always} \
  "$python" train/train.py --work "$work" --name quern-tiny --resume --meaning "$work/meaning.pt" --feed-forward 1024 --batch 6144 \
  --muon-rate 0.008 --adam-rate 0.0026 --tokens 178.4e6 --decay 0.37 "$@"
"$python" train/export.py --work "$work" --name quern-tiny --f32 --out "$work/exact.gguf"
"$python" train/export.py --work "$work" --name quern-tiny --out "$work/quern-tiny.gguf"
"$python" train/reference.py --work "$work" --name quern-tiny
node parity.mjs "$work/exact.gguf" "$work/reference.json"
"$python" train/heldout.py --out "$work/held-out.jsonl"
node evaluate.mjs "$work/quern-tiny.gguf" --held-out "$work/held-out.jsonl" --json "$work/evaluation.json"
echo "To ship it: cp $work/quern-tiny.gguf . && cp $work/evaluation.json eval/results.json && node figures.mjs"
