"""Kinds of dialogue, one file each."""
