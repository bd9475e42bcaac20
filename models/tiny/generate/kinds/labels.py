"""Choosing one of given labels, which vary at random: topics, moods, intents, urgency, languages, and labels explained in the prompt."""
from .. import lexicon as lex
from .. import names as n
from ..chat import Dialogue

GOOD = "great wonderful excellent perfect amazing lovely fantastic brilliant delicious friendly fast helpful beautiful superb pleasant splendid kind polite clean comfortable generous outstanding impressive tasty quick reliable cheerful flawless charming".split()
BAD = "terrible awful horrible broken slow rude disappointing useless boring dirty ugly bad poor annoying disgusting filthy cold late noisy faulty unfriendly overpriced cheap dreadful stale unreliable impolite careless shabby lousy tasteless nasty pathetic".split()
GOOD_LINES = ["I love it", "I am very happy with it", "We will come back", "Best purchase ever", "Highly recommended", "It works like a charm", "Thank you so much", "What a wonderful day", "I enjoyed every minute", "Five stars", "Everything went well", "It made me smile", "We had a lovely time", "They did a great job", "A pleasure from start to end", "We were delighted", "Worth every penny", "I would buy it again", "My family enjoyed it"]
BAD_LINES = ["I want my money back", "Never again", "It broke after two days", "I am very disappointed", "What a waste of time", "Nobody answered my mails", "It does not work at all", "I regret buying it", "One star", "The worst I have seen", "It made me angry", "Such a shame", "I feel cheated", "It fell apart", "Nobody helped us", "I am furious", "It stopped working", "We left early", "It was a disaster", "I cannot recommend it", "The staff did not care", "I hated it"]
PLAIN_LINES = ["The parcel arrived on Tuesday", "It is made of steel", "The shop opens at nine", "I ordered two of them", "It comes in three colours", "The room is on the second floor", "It weighs two kilograms", "The meeting is at noon"]
MOODS = [(["positive", "good", "happy", "praise", "satisfied"], "g"), (["negative", "bad", "unhappy", "complaint", "angry"], "b"), (["neutral", "neither", "factual"], "p")]
INTENTS = {
    "refund,money back,return": ["I want my money back", "Please refund the order", "I would like to return the {o}", "How can I send the {o} back?", "I do not want the {o} any more"],
    "order status,tracking,delivery": ["Where is my parcel?", "When will the {o} arrive?", "My order {c} has not come yet", "Has {c} been shipped?", "I am still waiting for the {o}"],
    "greeting,hello": ["Hi there", "Good morning", "Hello, how are you?", "Hey you", "Good evening to all"],
    "goodbye,farewell": ["Bye", "See you tomorrow", "Good night", "Have a nice day, bye", "Until next time"],
    "technical problem,bug,support": ["The app crashes when I open it", "I cannot log in", "The screen stays black", "I get an error message", "My {o} does not turn on", "The download stops half way"],
    "billing,invoice,payment": ["I was charged twice", "Please send me the invoice", "Can I pay by card?", "The amount on the invoice is wrong", "My payment failed"],
    "booking,reservation,appointment": ["I would like to book a table for two", "Can I get an appointment on {d}?", "Please reserve a room for {d}", "Two tickets for {d}, please"],
    "cancellation,cancel": ["Please cancel my order", "I want to end my subscription", "Cancel the appointment on {d}", "I will not come on {d}"],
    "thanks,gratitude": ["Thank you very much", "Thanks a lot for the help", "I am so grateful", "Many thanks to {p}"],
    "question,information": ["What does the {o} cost?", "Do you sell {o}s?", "How long are you open?", "Which colours are there?", "What is the {o} made of?"],
    "job application,hiring,career": ["I would like to work for you", "Attached is my application as a {r}", "Are you looking for a {r}?", "I apply for the position of {r}"],
    "spam,advertisement": ["You have won a prize, click here", "Cheap pills online now", "Earn money fast from home", "Buy now and get 90 percent off!!!", "Congratulations, claim your free {o}"],
    "emergency,urgent": ["Help, there is a fire", "Call an ambulance at once", "It is burning in the kitchen", "Someone is hurt, come quickly", "The server is down and nobody can work"],
    "meeting,schedule": ["Let us meet on {d}", "Can we move the meeting to {d}?", "The call with {p} is at {t}", "Are you free on {d}?"],
    "address change,contact details": ["I have moved to {l}", "My new address is in {l}", "Please change my phone number to {c}", "I have a new email address"],
}
LANGUAGES = {
    "German": ["Guten Morgen, wie geht es Ihnen?", "Ich habe das Buch gelesen.", "Wo ist der Bahnhof?", "Das Wetter ist heute schön.", "Wir gehen morgen ins Kino.", "Vielen Dank für die Hilfe."],
    "French": ["Bonjour, comment allez-vous ?", "J'ai lu le livre.", "Où est la gare ?", "Il fait beau aujourd'hui.", "Nous allons au cinéma demain.", "Merci beaucoup pour votre aide."],
    "Spanish": ["Buenos días, ¿cómo está?", "He leído el libro.", "¿Dónde está la estación?", "Hoy hace buen tiempo.", "Mañana vamos al cine.", "Muchas gracias por la ayuda."],
    "English": ["Good morning, how are you?", "I have read the book.", "Where is the station?", "The weather is fine today.", "We go to the cinema tomorrow.", "Thank you for the help."],
    "Italian": ["Buongiorno, come sta?", "Ho letto il libro.", "Dov'è la stazione?", "Oggi fa bel tempo.", "Domani andiamo al cinema."],
}


def fill(r, text):
    return text.format(o=n.object_(r), c=n.code(r), d=f"{r.choice(lex.DAYS)}", p=n.person(r), r=r.choice(lex.ROLES), t=n.clock(r), l=n.place(r))


def topic_text(r, words):
    """A few clauses with words of one topic."""
    w = lambda: r.choice(words)
    makers = [
        lambda: f"The {w()} and the {w()} were {r.choice(['there', 'ready', 'late', 'gone', 'important', 'the best part'])}",
        lambda: f"{n.person(r)} talked about the {w()} and the new {w()}",
        lambda: f"We need a {w()} for the {w()}",
        lambda: f"My {w()} needs a better {w()}",
        lambda: f"After the {w()}, {n.first(r)} looked at the {w()}",
        lambda: f"The {w()} was {r.choice(lex.ADJECTIVES)}, and the {w()} too",
        lambda: f"How do I choose a {w()}?",
        lambda: f"A {w()} without a {w()} is not worth much",
        lambda: f"{n.place(r)} is proud of its {w()} and its {w()}",
        lambda: f"The {w()} had to be {r.choice(lex.VERBS)[2]} {n.when(r)} because of the {w()}",
        lambda: f"{w()}, {w()} and {w()}".capitalize(),
        lambda: f"Everyone was waiting for the {w()} with the {w()}",
    ]
    return ". ".join(r.choice(makers)() for _ in range(r.randint(1, 3))) + r.choice([".", ".", "!", ""])


def by_topic(r):
    picks = r.sample(lex.TOPICS, r.randint(2, 6))
    names = [r.choice(names) for names, _ in picks]

    def draw(at):
        own = set(picks[at][1]) - {w for i, (_, words) in enumerate(picks) if i != at for w in words}
        return topic_text(r, sorted(own))

    return names, draw


def by_mood(r):
    picks = list(MOODS if r.random() < 0.5 else MOODS[:2])
    r.shuffle(picks)
    names = [r.choice(names) for names, _ in picks]

    def draw(at):
        kind = picks[at][1]
        o = n.object_(r)
        adjective = r.choice(GOOD if kind == "g" else BAD)
        if kind == "p":
            text = r.choice(PLAIN_LINES)
        else:
            lines = GOOD_LINES if kind == "g" else BAD_LINES
            flipped = r.choice(BAD if kind == "g" else GOOD)
            text = r.choice([f"The {o} is {adjective}. {r.choice(lines)}", r.choice(lines), f"{r.choice(lines)}! The {o} was {adjective}", f"The staff was {adjective} and the {o} {r.choice(GOOD if kind == 'g' else BAD)}", f"What a {adjective} {o}", f"{n.first(r)} was {adjective} to us", f"The {o} is not {flipped} at all"])
        return text + r.choice([".", ".", "!", ""])

    return names, draw


def by_intent(r):
    picks = r.sample(list(INTENTS), r.randint(2, 6))
    names = [r.choice(names.split(",")) for names in picks]
    return names, lambda at: fill(r, r.choice(INTENTS[picks[at]]))


def by_language(r):
    names = r.sample(list(LANGUAGES), r.randint(2, 5))
    return names, lambda at: r.choice(LANGUAGES[names[at]])


def by_member(r):
    """Which kind of thing a word is."""
    picks = r.sample(lex.THINGS, r.randint(2, 5))
    return [r.choice(p[:2]) for p in picks], lambda at: r.choice(picks[at][2])


def told(r, picks, at, text):
    """Labels that mean nothing by themselves, explained in the prompt."""
    codes = list(dict.fromkeys(r.choice([n.word(r), n.code(r), "ABCDEFGH"[i]]) for i in range(len(picks))))
    if len(codes) < len(picks):
        return None
    return "\n".join(f"{c}: {p}" for c, p in zip(codes, picks)), codes[at], codes


ASKS = [
    "Classify the text as one of: {l}.\n\n{t}", "Which label fits? Labels: {l}\nText: {t}", "{t}\n\nChoose one: {l}", "Labels: {l}\n\nText: {t}\n\nLabel:", "Is this {o}? {t}", "Put this into one of the categories {l}: {t}",
    'Category of "{t}"? Options: {l}', "Decide between {o}.\n{t}", "{t}\nWhich of these is it: {l}?", "Sort the message into {o}: {t}", "Pick the best label from [{l}] for this text: {t}", "Text: {t}\nOptions: {l}\nAnswer with one option.",
]


def labels(r, level=1.0):
    names, draw = r.choice([by_topic, by_topic, by_mood, by_intent, by_intent, by_language, by_member])(r)
    at = r.randrange(len(names))
    text, answer = draw(at), names[at]
    shown = names
    if r.random() < 0.12 and (case := told(r, names, at, text)):
        table, answer, shown = case
        ask = r.choice([f"{table}\n\nWhich code fits this text? {text}", f"Use this table:\n{table}\nAnswer with the code for: {text}"])
        messages = [("user", ask), ("assistant", answer)]
    else:
        if r.random() < 0.2:
            names = [name.upper() if r.random() < 0.5 else name.capitalize() for name in names]
            answer, shown = names[at], names
        joined = r.choice([", ", ", ", " / ", " | "]).join(names)
        either = ", ".join(names[:-1]) + " or " + names[-1]
        if r.random() < 0.25:
            messages = [("system", r.choice([f"Classify each message as one of: {joined}. Answer with the label only.", f"You sort messages into {either}.", f"Labels: {joined}. Answer with one label."])), ("user", text), ("assistant", answer)]
        else:
            messages = [("user", r.choice(ASKS).format(l=joined, o=either, t=text)), ("assistant", answer)]
            if r.random() < 0.3:
                messages.insert(0, ("system", "You are a helpful assistant."))
    for _ in range(r.choice([0, 0, 0, 1, 2, 3, 4]) if r.random() < level else r.randint(2, 6)):
        at = r.randrange(len(names))
        again = "{}" if messages[0][0] == "system" else r.choice(["{}", "{}", "And this: {}", "Next: {}", "And: {}"])
        messages += [("user", again.format(draw(at))), ("assistant", shown[at])]
    return Dialogue(messages, kind="labels")
