"""What people do to text: typos, missing capitals and marks, filler words."""

POLITE = ["please ", "Please ", "Can you tell me: ", "Tell me: ", "I want to know: ", "Question: ", "Hey, ", "Quick question: ", "So, ", "Hi! ", "Now: ", "ok, "]


def typo(r, text):
    if len(text) < 4:
        return text
    at = r.randrange(1, len(text) - 1)
    x = r.random()
    if x < 0.4:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    if x < 0.7:
        return text[:at] + text[at + 1 :]
    return text[:at] + text[at] + text[at:]


def question(r, text):
    x = r.random()
    if x < 0.6:
        return text
    if x < 0.68:
        return r.choice(POLITE) + text
    if x < 0.78:
        return text[:1].lower() + text[1:].rstrip("?.")
    if x < 0.86:
        return text.rstrip("?.")
    if x < 0.91:
        return text.lower()
    if x < 0.94:
        return text + r.choice([" Thanks!", " Please answer briefly.", " Answer in a few words.", " Thank you."])
    return typo(r, text)
