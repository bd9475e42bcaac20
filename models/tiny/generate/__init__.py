"""The data of Quern's built-in model: dialogues written by grammars over a hand-made lexicon, without end, from a seed."""
