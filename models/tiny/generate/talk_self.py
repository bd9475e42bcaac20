"""What a user says of himself and asks for later: tellings, questions, the answer, what is said to the telling."""
from . import lexicon as lex
from . import names as n
from .relations import SLOTS

HEARD = "Good to know.|Good to know.|Thank you for telling me.|I see."
ABOUT_ME = [
    ("name", "My name is {v}.|I am {v}.|I'm {v}|Call me {v}.|They call me {v}.|{v} is my name.|You can call me {v}.|This is {v}.|My friends call me {v}.|Hi, {v} here.|I am called {v}.|Hello, my name is {v}|Let me introduce myself: {v}.", "What is my name?|Who am I?|Do you know my name?|How am I called?|What was my name?|Do you remember my name?|Tell me my name|Which name did I tell you?|whats my name|Say my name|What do my friends call me?|Can you still tell what I am called?", "{v}"),
    ("place", "I live in {v}.|My home is in {v}.|I have a flat in {v}.|I am at home in {v}.|My house is in {v}.|We live in {v}.|I moved to {v} last year.|I currently live in {v}.|My address is in {v}.", "Where do I live?|In which town do I live?|Where is my home?|Do you know where I live?|What town do I live in?|Which place is my home?|where do i live again", "in {v}"),
    ("from", "I come from {v}.|I am from {v}.|I was born in {v}.|I grew up in {v}.|My hometown is {v}.|Originally I am from {v}.|{v} is where I come from.", "Where do I come from?|Where am I from?|What is my hometown?|Which place am I from?|Where did I say I come from?|Do you remember where I am from?", "{v}"),
    ("job", "I am a {v}.|I work as a {v}.|My job is {v}.|I earn my money as a {v}.|By profession I am a {v}.|I have been a {v} for years.|My profession is {v}.|They hired me as a {v}.", "What is my job?|What do I do for a living?|What is my profession?|As what do I work?|Do you remember my job?|What did I say my job was?|What kind of work do I do?|my job?", "{v}"),
    ("age", "I am {v} years old.|I am {v}.|My age is {v}.|I turned {v} last week.|I just became {v}.|I am already {v} years old.|Yesterday I turned {v}.", "How old am I?|What is my age?|Do you know my age?|How many years old am I?|What did I say about my age?|Can you tell how old I am?|how old am i", "{v}"),
    ("pet", "My {a} is called {v}.|I have a {a} named {v}.|{v} is my {a}.|My {a}'s name is {v}.|I own a {a} that is called {v}.|We have a {a}, {v}.|Our {a} {v} is sleeping.|At home I have a {a} by the name of {v}.", "What is my {a} called?|What is the name of my {a}?|How is my {a} called?|Do you remember the name of my {a}?|What is my pet's name?|Which name has my {a}?|my {a}'s name?", "{v}"),
    ("colour", "My favourite colour is {v}.|The colour I like best is {v}.|I like {v} more than other colours.|I love the colour {v}.|{v} is the nicest colour for me.|Of all colours I prefer {v}.", "What is my favourite colour?|Which colour do I like best?|What colour do I prefer?|Do you know my favourite colour?|Which colour do I love?|my fav colour?", "{v}"),
    ("food", "My favourite food is {v}.|I like to eat {v}.|I could eat {v} every day.|What I like to eat most is {v}.|I love eating {v}.|Nothing tastes better to me than {v}.", "What is my favourite food?|What do I like to eat?|Which food do I love?|What could I eat every day?|Do you remember what I like to eat?|What food do I like best?", "{v}"),
    ("drink", "I like to drink {v}.|My favourite drink is {v}.|In the morning I drink {v}.|I always order {v} in a bar.|I drink {v} all day.", "What do I like to drink?|What is my favourite drink?|Which drink do I like?|What do I drink?|Do you know my favourite drink?", "{v}"),
    ("town", "My favourite town is {v}.|The town I like best is {v}.|Of all towns I love {v} most.|{v} is the best town in the world for me.", "What is my favourite town?|Which town do I like best?|Which town do I love?|Do you know my favourite town?", "{v}"),
    ("thing", "My favourite thing is {v}.|I am fond of {v}.|I adore {v}.|I am mad about {v}.|The best thing for me is {v}.", "What is my favourite thing?|What am I fond of?|What do I adore?|What am I mad about?|What do I like?", "{v}"),
    ("dislike", "I hate {v}.|I cannot stand {v}.|I do not like {v}.|{v} is the worst thing for me.|I am allergic to {v}.|I never touch {v}.", "What do I not like?|What can I not stand?|What do I hate?|What should you not give me?|Which thing do I not like?", "{v}"),
    ("bought", "I bought a {v}.|I have bought myself a {v}.|Yesterday I got a {v} at the market.|I ordered a {v}.|I picked up a {v} at the shop.", "What did I buy?|What have I bought?|Which thing did I buy?|What did I get?|Do you remember what I bought?", "a {v}"),
    ("lost", "I lost my {v}.|I cannot find my {v}.|My {v} is gone.|Somebody stole my {v}.|I left my {v} on the train.|My {v} has disappeared.", "What did I lose?|What can I not find?|Which of my things is gone?|What is missing?|What do I have to look for?", "{v}"),
    ("brother", "My brother is called {v}.|I have a brother named {v}.|{v} is my brother.|My brother's name is {v}.", "What is my brother called?|What is the name of my brother?|Who is my brother?|Do you remember my brother's name?", "{v}"),
    ("sister", "My sister is called {v}.|I have a sister named {v}.|{v} is my sister.|My sister's name is {v}.|My little sister {v} visits me.", "What is my sister called?|What is the name of my sister?|Who is my sister?|Do you remember my sister's name?", "{v}"),
    ("partner", "My wife is called {v}.|I am married to {v}.|My husband's name is {v}.|{v} and I are married.|I married {v}.", "To whom am I married?|What is the name of the person I married?|Who did I marry?|Do you remember whom I am married to?", "{v}"),
    ("child", "My daughter is called {v}.|I have a daughter named {v}.|Our daughter {v} goes to school.|{v} is my daughter.", "What is my daughter called?|What is the name of my daughter?|Who is my daughter?|my daughter's name?", "{v}"),
    ("friend", "My best friend is {v}.|{v} is my best friend.|I have a best friend called {v}.|My best friend's name is {v}.", "Who is my best friend?|What is my best friend called?|What is the name of my best friend?|Do you know my best friend?", "{v}"),
    ("boss", "My boss is called {v}.|I work for a boss named {v}.|{v} is my boss.|The name of my boss is {v}.", "Who is my boss?|What is my boss called?|What is the name of my boss?|For whom do I work?", "{v}"),
    ("siblings", "I have {v} brothers and sisters.|I have {v} siblings.|There are {v} other children in my family.|I grew up with {v} siblings.", "How many siblings do I have?|How many brothers and sisters do I have?|What is the number of my siblings?", "{v}"),
    ("language", "I speak {v}.|My mother tongue is {v}.|At home we speak {v}.|I grew up with {v}.|I am learning {v}.|My native language is {v}.", "Which language do I speak?|What is my language?|What language did I mention?|Which language did I tell you about?", "{v}"),
    ("sport", "I play {v}.|My sport is {v}.|I do {v} every week.|My hobby is {v}.|In my free time I do {v}.|On Sundays I always play {v}.", "Which sport do I do?|What is my sport?|What do I do in my free time?|Which hobby do I have?|What sport did I mention?", "{v}"),
    ("instrument", "I play the {v}.|I am learning the {v}.|My instrument is the {v}.|I have played the {v} since I was a child.", "Which instrument do I play?|What is my instrument?|What instrument did I mention?", "the {v}"),
    ("trip", "Next week I travel to {v}.|I will fly to {v}.|I plan a trip to {v}.|My next holiday is in {v}.|We are going to {v} in summer.|I have a ticket to {v}.", "Where will I travel?|Where do I go next?|What is the goal of my trip?|To which place do I plan to go?|Where is my next holiday?", "{v}"),
    ("date", "My exam is on {v}.|I have an exam on {v}.|The exam I must take is on {v}.|On {v} I have my exam.", "When is my exam?|On which date is my exam?|What is the date of my exam?|When do I have to take the exam?", "on {v}"),
    ("birthday", "My birthday is on {v}.|I was born on {v}.|I celebrate my birthday on {v}.|My date of birth is {v}.", "When is my birthday?|What is my birthday?|On which day was I born?|Do you remember my birthday?", "on {v}"),
    ("meeting", "I have a meeting at {v}.|My meeting is at {v}.|At {v} I have a meeting.|The meeting I have today starts at {v}.", "When is my meeting?|At what time is my meeting?|When do I have a meeting?|When must I be at the meeting?", "at {v}"),
    ("number", "My phone number is {v}.|You can reach me at {v}.|My number: {v}|Call me at {v}.", "What is my phone number?|At which number can people call me?|What is my number?|Do you remember my phone number?", "{v}"),
    ("code", "My order number is {v}.|I ordered under the number {v}.|It is about my order {v}.|The number of my order is {v}.", "What is my order number?|Which order is mine?|What is the number of my order?|Which number has my order?", "{v}"),
    ("firm", "I work at {v}.|My employer is {v}.|I am employed at {v}.|I have a job at {v}.|I started at {v} last month.", "Where do I work?|Who is my employer?|Which company do I work at?|What is the name of my company?", "{v}"),
    ("car", "I drive a {v}.|My car is a {v}.|I have a {v} in the garage.|The car I own is a {v}.", "What car do I drive?|Which car do I have?|What kind of car is mine?|What is in my garage?", "a {v}"),
    ("book", "I am reading {v}.|The book I read now is {v}.|At the moment I read {v}.|My current book is {v}.", "Which book do I read?|What am I reading?|What is my current book?|What is the title of my book?", "{v}"),
    ("code word", "My password is {v}.|The secret word is {v}.|Remember this word: {v}|Please keep in mind: {v}|Our code word is {v}.|Do not forget {v}.", "What is the word?|Which word should you remember?|What was the secret word?|Which word did I give you?", "{v}"),
]
MEMBERS = {one: words for one, _, words in lex.THINGS}
DISHES = "pancakes|soup|noodles|rice|fresh bread|cheese|pizza|fried fish|potato salad|chocolate|apple pie|dumplings|ice cream|curry|roast chicken|omelettes|sausages|mushrooms|pasta|honey|sandwiches|lentils|baked beans|cherry cake".split("|")


def thing(r):
    """What one likes or not: a sport, a drink, a season, or things of a kind."""
    x = r.random()
    if x < 0.4:
        return r.choice(MEMBERS[r.choice(["sport", "drink", "season", "language", "metal"])])
    return n.plural(r.choice([r.choice(lex.NOUNS), r.choice(MEMBERS["animal"][:7]), r.choice(MEMBERS["flower"][:5]), n.word(r)]))


VALUES = {
    "name": lambda r: n.first(r) if r.random() < 0.8 else f"{n.first(r)} {n.last(r)}", "place": n.place, "from": n.place, "job": lambda r: r.choice([x for x in lex.ROLES if x[0] not in "aeiou"]), "age": lambda r: str(r.randint(6, 99)), "pet": n.proper, "colour": SLOTS["colour"], "food": lambda r: r.choice(DISHES) if r.random() < 0.6 else n.word(r),
    "drink": lambda r: r.choice(next(words for one, _, words in lex.THINGS if one == "drink")) if r.random() < 0.7 else n.word(r), "town": n.place, "thing": thing, "dislike": thing, "bought": lambda r: consonant(r, n.object_), "lost": n.object_, "brother": n.first, "sister": n.first, "partner": n.first, "child": n.first, "friend": n.first, "boss": n.person,
    "siblings": lambda r: r.choice(lex.NUMBER_WORDS), "language": SLOTS["language"], "sport": SLOTS["sport"], "instrument": SLOTS["instrument"], "trip": n.place, "date": n.day, "birthday": n.day, "meeting": n.clock, "number": lambda r: str(r.randint(10000, 99999999)), "code": n.code, "firm": n.company, "car": lambda r: consonant(r, n.title), "book": n.title, "code word": lambda r: r.choice([n.word(r), n.code(r), r.choice(lex.NOUNS)]),
}
# What would be asked for in the same words.
CLASHES = [{"place", "from", "town", "trip"}, {"thing", "dislike"}, {"job", "firm", "boss"}, {"bought", "lost"}, {"number", "code", "code word"}, {"sport", "instrument"}]


def consonant(r, make):
    """A thing that `a` stands before."""
    return next(v for v in (make(r) for _ in range(100)) if v[0].lower() not in "aeiou" and not v.startswith("The "))


def about_me(r, count):
    """[(telling, question, answer)] of parts that cannot be taken for each other."""
    rows = r.sample(ABOUT_ME, count)
    keys = [row[0] for row in rows]
    if any(len(clash & set(keys)) > 1 for clash in CLASHES):
        return about_me(r, count)
    out, animal = [], r.choice("dog cat horse parrot rabbit goat hamster donkey pony turtle pig mouse snake canary".split())
    for key, told, asked, answer in rows:
        v = VALUES[key](r)
        text = r.choice(told.split("|")).format(v=v, a=animal)
        out.append((text[0].upper() + text[1:] if not text.startswith(v) else text, r.choice(asked.split("|")).format(a=animal), answer.format(v=v), v if key == "name" else None))
    return out
