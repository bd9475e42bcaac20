"""Widens the feed-forward parts of a checkpoint, which computes the same at first: what new units give is nothing until it is trained."""
import argparse
import sys
from pathlib import Path

import torch

FOLDER = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER))
from train.model import Model, Shape, shipped  # noqa: E402


def widened(saved, units):
    """The checkpoint with so many units a layer in place of those that it has; without the optimizers' state, which has other sizes."""
    shape = Shape(**{**saved["shape"], "feed_forward": units})
    # A new model's rows of gate and up are random, and its down matrices nothing.
    grown = Model(shape).state_dict()
    for name, old in shipped(saved).items():
        new = grown[name]
        new[tuple(slice(size) for size in old.shape)] = old
    return {"shape": shape.record(), "model": grown, "seen": saved["seen"], "steps": saved["steps"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", default=str(FOLDER.parents[1] / "build" / "tiny"))
    parser.add_argument("--name", default="model", help="name of the checkpoint that is widened")
    parser.add_argument("--out", required=True, help="name of the new checkpoint")
    parser.add_argument("--feed-forward", type=int, required=True)
    given = parser.parse_args()
    saved = torch.load(Path(given.work) / f"{given.name}.pt", map_location="cpu", weights_only=True)
    if given.feed_forward < saved["shape"]["feed_forward"]:
        sys.exit(f"{given.name} has {saved['shape']['feed_forward']} units a layer; it can only be made wider")
    torch.save(widened(saved, given.feed_forward), Path(given.work) / f"{given.out}.pt")


if __name__ == "__main__":
    main()
