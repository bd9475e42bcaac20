"""Facts with a fixed relation: slots, ways to state them, ways to ask for a slot. `|` separates wordings."""
from . import lexicon as lex
from . import names as n

SLOTS = {
    "person": n.person, "place": n.place, "company": n.company, "title": n.title, "code": n.code, "number": n.number, "quantity": n.quantity,
    "year": n.year, "date": n.day, "clock": n.clock, "price": n.price, "object": n.object_, "word": n.word, "proper": n.proper,
    "role": lambda r: r.choice(lex.ROLES),
    "adj": lambda r: r.choice(lex.ADJECTIVES),
    "colour": lambda r: r.choice("red blue green yellow black white grey brown purple orange pink turquoise silver golden beige violet".split()),
    "day": lambda r: r.choice(lex.DAYS),
    "month": lambda r: r.choice(lex.MONTHS),
    "noun": lambda r: r.choice(lex.NOUNS) if r.random() < 0.75 else n.word(r, 1, 2),
    "nouns": lambda r: n.plural(r.choice(lex.NOUNS) if r.random() < 0.75 else n.word(r, 1, 2)),
    "reason": lambda r: r.choice(lex.REASONS),
    "material": lambda r: r.choice("oak,steel,leather,silk,wool,clay,marble,cotton,bronze,bamboo,glass,iron,paper,straw,plastic,sandstone,copper,granite,felt,wax".split(",")),
    "thing": lambda r: r.choice(r.choice(lex.THINGS)[2]).lower(),
    "building": lambda r: r.choice("museum library school hospital factory bakery theatre bridge tower station cinema hotel mill castle church stadium temple harbour office garden zoo".split()),
    "kin": lambda r: r.choice("brother sister cousin father mother uncle aunt neighbour friend boss teacher colleague daughter son wife husband grandmother".split()),
    "animal": lambda r: r.choice("dog cat horse parrot rabbit goat hamster donkey goldfish pony turtle cow pig owl".split()),
    "language": lambda r: r.choice(lex.LANGUAGES) if r.random() < 0.7 else n.proper(r),
    "sport": lambda r: r.choice("football tennis chess hockey swimming rowing judo cycling boxing golf cricket volleyball badminton".split()),
    "instrument": lambda r: r.choice("guitar piano violin drum flute trumpet cello harp clarinet saxophone organ".split()),
}

# (slots, statements, {slot: questions})
RELATIONS = [
    ("t=title p=person y=year", "{t} was written by {p} in {y}.|In {y}, {p} wrote {t}.|{p} is the author of {t}, which appeared in {y}.|The book {t} by {p} came out in {y}.",
     {"p": "Who wrote {t}?|Who is the author of {t}?|Which author wrote {t}?|By whom was {t} written?", "y": "When was {t} written?|In which year did {t} appear?|What year did {t} come out?", "t": "What did {p} write?|Which book did {p} write?"}),
    ("c=company p=person y=year l=place", "{c} was founded by {p} in {l} in {y}.|In {y}, {p} founded {c} in {l}.|{p} started the company {c} in {y}; its first office was in {l}.|Founded in {y} by {p}, {c} has its seat in {l}.",
     {"p": "Who founded {c}?|Who started {c}?|Who was the founder of {c}?|Who set up {c}?", "y": "When was {c} founded?|In what year was {c} started?|Since when does {c} exist?|What year was {c} established?", "l": "Where was {c} founded?|In which city is {c}?|Where is {c} based?", "c": "Which company did {p} found?|What did {p} found in {y}?"}),
    ("o=object q=price", "The {o} costs {q}.|The price of the {o} is {q}.|You can buy the {o} for {q}.|They ask {q} for the {o}.|The {o} was sold for {q}.",
     {"q": "How much does the {o} cost?|What is the price of the {o}?|What does the {o} cost?|How much is the {o}?|How much do I have to pay for the {o}?", "o": "What costs {q}?|What can I get for {q}?"}),
    ("p=person l=place", "{p} lives in {l}.|{p} has a house in {l}.|The home of {p} is in {l}.|{p} moved to {l} and still lives there.",
     {"l": "Where does {p} live?|In which place does {p} live?|Where is the home of {p}?|What town does {p} live in?", "p": "Who lives in {l}?|Who has a house in {l}?"}),
    ("p=person l=place y=date", "{p} was born in {l} on {y}.|Born on {y} in {l}, {p} grew up poor.|{p} was born on {y}. The birthplace was {l}.",
     {"l": "Where was {p} born?|What is the birthplace of {p}?|In which town was {p} born?", "y": "When was {p} born?|What is the date of birth of {p}?|On what day was {p} born?"}),
    ("p=person r=role c=company", "{p} works as a {r} at {c}.|{p} is a {r} and works for {c}.|{c} employs {p} as a {r}.|At {c}, the {r} is called {p}.",
     {"r": "What is the job of {p}?|What does {p} do for a living?|What is the profession of {p}?|As what does {p} work?", "c": "Where does {p} work?|Who employs {p}?|For which company does {p} work?|What is the employer of {p}?", "p": "Who works at {c}?|Who is the {r} at {c}?"}),
    ("e=building l=place c=clock d=clock", "The {e} in {l} opens at {c} and closes at {d}.|In {l}, the {e} is open from {c} to {d}.|Opening hours of the {e} in {l}: {c} to {d}.",
     {"c": "When does the {e} in {l} open?|At what time does the {e} open?|From when on is the {e} open?", "d": "When does the {e} in {l} close?|At what time does the {e} close?|Until when is the {e} open?"}),
    ("e=building q=quantity", "The {e} is {q} high.|The height of the {e} is {q}.|With its {q}, the {e} is the tallest in the region.|The {e} rises to a height of {q}.",
     {"q": "How high is the {e}?|How tall is the {e}?|What is the height of the {e}?"}),
    ("t=title q=quantity", "{t} weighs {q}.|The weight of {t} is {q}.|{t} has a weight of {q}.", {"q": "How much does {t} weigh?|What is the weight of {t}?|How heavy is {t}?"}),
    ("t=title q=quantity", "{t} is {q} long.|The length of {t} is {q}.|{t} has a length of {q}.", {"q": "How long is {t}?|What is the length of {t}?"}),
    ("l=place n=number", "About {n} people live in {l}.|{l} has {n} inhabitants.|The population of {l} is {n}.|{l} is a town of {n} people.",
     {"n": "How many people live in {l}?|How many inhabitants does {l} have?|What is the population of {l}?"}),
    ("e=building n=number s=nouns", "The {e} has {n} {s}.|There are {n} {s} in the {e}.|In the {e} you can see {n} {s}.|The {e} owns {n} {s}.",
     {"n": "How many {s} does the {e} have?|How many {s} are in the {e}?|What is the number of {s} in the {e}?", "e": "Where are the {s}?|What has {n} {s}?"}),
    ("p=person k=kin o=person", "{p} is the {k} of {o}.|{o} has a {k} named {p}.|The {k} of {o} is called {p}.|{o}'s {k} is {p}.",
     {"p": "Who is the {k} of {o}?|What is the name of {o}'s {k}?|What is {o}'s {k} called?|Who is {o}'s {k}?", "o": "Whose {k} is {p}?"}),
    ("o=object c=colour", "The {o} is {c}.|The colour of the {o} is {c}.|They painted the {o} {c}.|The {o} has a {c} surface.", {"c": "What colour is the {o}?|Which colour does the {o} have?|What is the colour of the {o}?"}),
    ("o=object m=material", "The {o} is made of {m}.|The {o} consists of {m}.|They made the {o} from {m}.", {"m": "What is the {o} made of?|Which material is the {o} made of?|What material was used for the {o}?", "o": "What is made of {m}?"}),
    ("p=person a=animal n=proper", "{p} has a {a} called {n}.|{n} is the {a} of {p}.|The {a} of {p} is named {n}.",
     {"n": "What is the name of {p}'s {a}?|What is the {a} of {p} called?|How is {p}'s {a} called?", "a": "What kind of animal is {n}?|Which pet does {p} have?", "p": "Who owns {n}?|Who has a {a}?"}),
    ("p=person s=thing", "{p} likes {s} most of all.|The favourite thing of {p} is {s}.|{p} loves {s}.|{p}'s favourite is {s}.", {"s": "What does {p} like?|What is {p}'s favourite?|What does {p} love?", "p": "Who likes {s}?|Who loves {s}?"}),
    ("p=person s=thing", "{p} hates {s}.|{p} cannot stand {s}.|{p} is allergic to {s}.", {"s": "What does {p} not like?|What can {p} not stand?|What does {p} hate?|To what is {p} allergic?", "p": "Who hates {s}?|Who does not like {s}?"}),
    ("p=person i=instrument", "{p} plays the {i}.|{p} learned the {i} as a child.|{p} is known for playing the {i}.", {"i": "Which instrument does {p} play?|What does {p} play?", "p": "Who plays the {i}?|Who can play the {i}?"}),
    ("p=person l=language", "{p} speaks {l}.|{p} is fluent in {l}.|The mother tongue of {p} is {l}.", {"l": "Which language does {p} speak?|What language does {p} know?|What is the mother tongue of {p}?", "p": "Who speaks {l}?"}),
    ("v=title d=day l=place c=clock", "The {v} takes place on {d} at {c} in {l}.|On {d} at {c}, the {v} begins in {l}.|{l} hosts the {v} on {d}; it starts at {c}.",
     {"d": "On which day is the {v}?|What day does the {v} take place?|On what day is the {v}?", "l": "Where does the {v} take place?|Where is the {v}?|Which town hosts the {v}?", "c": "At what time does the {v} start?|When does the {v} begin?"}),
    ("w=word o=object", 'The word "{w}" means {o}.|"{w}" is an old word for a {o}.|People there call a {o} a {w}.|In their language, a {o} is called {w}.', {"o": "What does {w} mean?|What is the meaning of {w}?|What is a {w}?", "w": "What is the word for a {o}?|How do they call a {o}?"}),
    ("a=place b=place q=quantity", "The distance from {a} to {b} is {q}.|{a} is {q} away from {b}.|From {a} to {b} it is {q}.", {"q": "How far is {a} from {b}?|What is the distance between {a} and {b}?|How far is it from {a} to {b}?"}),
    ("a=place b=place c=clock", "The train from {a} to {b} leaves at {c}.|At {c}, a train departs from {a} to {b}.|The bus to {b} leaves {a} at {c}.", {"c": "When does it leave {a}?|At what time can I go from {a} to {b}?|When is the departure to {b}?", "b": "Where does the one from {a} go?|What is the destination of the one that leaves {a}?"}),
    ("c=code p=person d=date", "Order {c} was placed by {p} on {d}.|On {d}, {p} placed the order {c}.|Order number {c} belongs to {p}; it was made on {d}.", {"p": "Who placed order {c}?|Whose order is {c}?|Who is the customer of order {c}?", "c": "What is the order number of {p}?|Which order did {p} place?", "d": "When was order {c} placed?|What is the date of order {c}?"}),
    ("c=code p=person", "The phone number of {p} is {c}.|You can reach {p} at {c}.|Call {p} at {c}.|To talk to {p}, dial {c}.", {"c": "What is the phone number of {p}?|How can I reach {p}?|Which number do I dial for {p}?|Under which number can I call {p}?", "p": "Whose number is {c}?"}),
    ("o=object l=code", "The password for the {o} is {l}.|The code of the {o} is {l}.|Use {l} to open the {o}.|The {o} opens with the code {l}.", {"l": "What is the code of the {o}?|What is the password for the {o}?|Which code opens the {o}?|How do I open the {o}?"}),
    ("v=title n=number", "The default value of {v} is {n}.|{v} is set to {n}.|Unless changed, {v} is {n}.|The limit for {v} is {n}.", {"n": "What is the value of {v}?|What is {v} set to?|What is the default of {v}?|What is the limit for {v}?"}),
    ("s=title n=number", "The {s} server listens on port {n}.|Port {n} belongs to {s}.|{s} uses port {n}.", {"n": "On which port does {s} listen?|Which port does {s} use?|What is the port of {s}?", "s": "What uses port {n}?|Who listens on port {n}?"}),
    ("p=person c=title y=year", "{p} won the {c} in {y}.|In {y}, the {c} went to {p}.|The winner of the {c} in {y} was {p}.", {"p": "Who won the {c}?|Who got the {c} in {y}?|Who was the winner of the {c}?", "c": "What did {p} win?|Which prize did {p} win?", "y": "When did {p} win the {c}?|In which year did {p} win?"}),
    ("l=place c=place", "{l} is the capital of {c}.|The capital of {c} is {l}.|{c} is governed from its capital {l}.", {"l": "What is the capital of {c}?|Which town is the capital of {c}?", "c": "Of which country is {l} the capital?"}),
    ("r=proper l=place m=place", "The river {r} flows from {l} to {m}.|The {r} rises near {l} and ends at {m}.|The source of the river {r} is near {l}; its mouth is at {m}.", {"l": "Where does the {r} rise?|Where is the source of the {r}?", "m": "Where does the {r} end?|Where is the mouth of the {r}?", "r": "Which river flows through {l}?|What river goes to {m}?"}),
    ("p=person o=object q=reason", "{p} did not come {q}.|{p} left early {q}.|{p} stayed at home {q}.", {"q": "Why did {p} not come?|Why did {p} leave?|What was the reason of {p}?|Why did {p} stay at home?"}),
    ("p=person s=sport y=number", "{p} has played {s} for {y} years.|For {y} years, {p} has been playing {s}.", {"s": "Which sport does {p} play?|What sport does {p} do?", "y": "For how many years has {p} played {s}?|How long has {p} played {s}?", "p": "Who plays {s}?"}),
    ("p=person y=number", "{p} is {y} years old.|At the age of {y}, {p} is still active.|{p} turned {y} last week.", {"y": "How old is {p}?|What is the age of {p}?", "p": "Who is {y} years old?"}),
    ("d=title n=quantity", "A full charge of the {d} lasts {n}.|The battery of the {d} lasts {n}.|The {d} runs for {n} on one charge.", {"n": "How long does the battery of the {d} last?|How long does the {d} run?|What is the battery life of the {d}?"}),
    ("d=title n=quantity", "The {d} comes with a warranty of {n}.|The warranty of the {d} is {n}.|There are {n} of warranty on the {d}.", {"n": "How long is the warranty of the {d}?|What warranty does the {d} have?"}),
    ("a=title b=title", "{a} replaced {b}.|{b} was replaced by {a}.|{a} is the successor of {b}.", {"a": "What replaced {b}?|What is the successor of {b}?", "b": "What did {a} replace?|What was there before {a}?"}),
    ("e=title p=person l=place", "{p} painted {e}, which hangs in {l}.|{e} is a painting by {p}; today it is in {l}.|The painting {e} in {l} was made by {p}.", {"p": "Who painted {e}?|Who is the painter of {e}?|Which artist made {e}?", "l": "Where is {e}?|Where can I see {e}?|Where does {e} hang?"}),
    ("s=title p=person", "The captain of the {s} is {p}.|{p} commands the {s}.|The {s} sails under {p}.|The head of {s} is {p}.|{p} leads {s}.", {"p": "Who is the captain of the {s}?|Who commands the {s}?|Who leads {s}?|Who is in charge of {s}?", "s": "What does {p} command?|What does {p} lead?"}),
    ("m=day o=object p=person", "On {m}, {p} cleans the {o}.|{p} takes care of the {o} every {m}.|Every {m} it is {p} who looks after the {o}.", {"p": "Who takes care of the {o}?|Who cleans the {o}?|Who looks after the {o}?", "m": "On which day does {p} clean the {o}?|What day is the {o} cleaned?"}),
    ("b=noun f=thing", "The {b} eats mostly {f}.|Most of what the {b} eats is {f}.|A {b} feeds on {f}.", {"f": "What does the {b} eat?|What does a {b} feed on?|What is the food of the {b}?"}),
    ("b=proper l=place", "The {b} is found only in {l}.|The {b} is native to {l}.|{l} is the only place where the {b} lives.", {"l": "Where does the {b} live?|Where is the {b} found?|Where does the {b} come from?", "b": "What lives in {l}?|What is native to {l}?"}),
    ("o=object u=object", "The {o} is used to hold the {u}.|With the {o} people move the {u}.|People use the {o} for the {u}.", {"u": "What is the {o} used for?|For what do people use the {o}?", "o": "What is used for the {u}?"}),
]


def _slots(spec):
    return [part.split("=") for part in spec.split()]


TABLE = [(_slots(spec), statements.split("|"), {slot: asked.split("|") for slot, asked in questions.items()}) for spec, statements, questions in RELATIONS]


def fact(r, entry=None, share=None):
    """(sentence, {slot: (question, answer)}, entry, values). `share` gives values to take over, so that facts differ in one slot only."""
    entry = entry or r.choice(TABLE)
    slots, statements, questions = entry
    values = {name: SLOTS[kind](r) for name, kind in slots}
    if share:
        values.update(share)
    asked = {slot: (once(r.choice(wordings).format(**values)), values[slot]) for slot, wordings in questions.items()}
    return once(r.choice(statements).format(**values)), asked, entry, values


def once(text):
    """A name that brings its own article takes no second one."""
    return text.replace("the The ", "The ").replace("The The ", "The ")
