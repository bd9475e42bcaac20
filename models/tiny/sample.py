"""Prints dialogues of the generator: `python sample.py [seed] [count] [kind]`."""
import sys
from itertools import islice

from generate.mix import stream

if __name__ == "__main__":
    seed, count = int(sys.argv[1]) if len(sys.argv) > 1 else 0, int(sys.argv[2]) if len(sys.argv) > 2 else 10
    wanted = sys.argv[3] if len(sys.argv) > 3 else None
    found = (d for d in stream(seed) if wanted is None or d.kind == wanted)
    for dialogue in islice(found, count):
        print(f"==== {dialogue.kind}")
        print("".join(f"\033[32m{text}\033[0m" if said else text for text, said in dialogue.segments()))
