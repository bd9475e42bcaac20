"""Averages the weights of checkpoints of one run, each with its share: `--of wide-140:0.2 wide-193:0.4 wide:0.4`."""
import argparse
import sys
from pathlib import Path

import torch

FOLDER = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER))
from train.model import shipped  # noqa: E402


def averaged(parts):
    """The last of [(checkpoint, share)] with the mean of what each would ship; without the optimizers' state."""
    last, _ = parts[-1]
    total = sum(share for _, share in parts)
    weights = {name: sum(shipped(saved)[name].double() * share for saved, share in parts) / total for name in shipped(last)}
    return {"shape": last["shape"], "model": {name: weight.float() for name, weight in weights.items()}, "seen": last["seen"], "steps": last["steps"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", default=str(FOLDER.parents[1] / "build" / "tiny"))
    parser.add_argument("--of", nargs="+", required=True, metavar="NAME:SHARE")
    parser.add_argument("--out", required=True, help="name of the new checkpoint")
    given = parser.parse_args()
    work = Path(given.work)
    parts = [(torch.load(work / f"{name}.pt", map_location="cpu", weights_only=True), float(share)) for name, share in (one.split(":") for one in given.of)]
    torch.save(averaged(parts), work / f"{given.out}.pt")


if __name__ == "__main__":
    main()
