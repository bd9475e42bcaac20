"""Tokenizer, model, training and export of Quern's built-in model."""
