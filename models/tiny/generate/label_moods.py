"""Clauses of praise, of blame and of plain fact, and how they are joined: by contrast the last one counts."""
from . import lexicon as lex
from . import names as n

GOOD_ADJ = "great wonderful excellent perfect amazing lovely fantastic brilliant beautiful superb pleasant splendid outstanding impressive flawless delightful terrific marvellous first-rate enjoyable remarkable charming".split()
BAD_ADJ = "terrible awful horrible disappointing useless boring ugly bad poor annoying disgusting dreadful shabby lousy nasty pathetic miserable unbearable hopeless worthless dismal tedious appalling unpleasant".split()
GOOD_FOLK = "friendly helpful kind polite generous reliable cheerful charming thoughtful patient warm-hearted attentive wonderful".split()
BAD_FOLK = "rude unfriendly impolite careless lazy arrogant unreliable nasty clumsy bossy dishonest cold unhelpful".split()
FOLK = ["staff", "team", "crew", "waiter", "driver", "host", "{r}", "nurse", "teacher", "salesman"]

GOOD = """I love it|I am very happy with it|we will come back|best purchase ever|I can highly recommend it|it works like a charm|what a wonderful day|I enjoyed every minute|five stars from me|everything went well|it made me smile|we had a lovely time|they did a great job|a pleasure from start to end|we were delighted|it is worth every penny|I would buy it again|my family enjoyed it|not bad at all|I could not be happier|I have nothing to complain about|nothing was too much trouble for them|it could not have been better|I have never slept so well|I never want to use another one|you cannot go wrong with this|there was not a single dull moment|no problems whatsoever|I was not disappointed for a second|it never lets me down|we did not want to leave|the best {o} I have ever had|the {o} does exactly what it should
the soup was delicious|the bread was still warm and smelled heavenly|the cook knows his trade|my plate was empty in no time|the portions were generous|the fish melted on the tongue|the cake was a dream|I have rarely eaten so well|the waiter read our wishes from our eyes|the coffee was just right|every dish was a hit|I would walk ten miles for that pasta|the fruit was fresh and sweet
the room was spotless|the bed was soft and the view was stunning|we felt at home at once|the breakfast buffet left nothing to be desired|the hosts welcomed us with open arms|it was quiet, so we slept like babies|the pool was a treat for the kids|check-in took only a minute|the garden is a little paradise|we have already booked for next year
{f} answered my call at once|they solved my problem in five minutes|the repair was done the same day|they even called back to ask if all was well|{f} went out of the way to help|the driver carried the boxes up to the third floor|it arrived a day early|everything was packed with care|they replaced the {o} without a question|I got my money back the next day|the advice was honest and saved me a lot|the lady at the desk had all the patience in the world
I could not stop laughing|I was moved to tears|the plot kept me on the edge of my seat|the actors were at their best|I read it in one night|the music gave me goose bumps|the ending was clever|I would watch it a hundred times|a masterpiece|the audience clapped for ten minutes|{ti} deserves every prize it won|the pictures are a feast for the eyes
the app is a joy to use|it starts in a second|the update fixed everything I used to hate|it has saved me hours of work|even my grandmother gets along with it|the battery lasts for days|the screen is crisp and bright|it has run for a year without a fault|setup was child's play|the new version beats all others|the search finds whatever I need
{f} is a born teacher|{f} always has a kind word|you can count on {f}|{f} lights up every room|I have seldom met such an honest person|{f} explains things so well|working with {f} is fun|{f} kept every promise|I admire how calm {f} stays|our new neighbour is a treasure
the walk through {l} was magical|the kids are still raving about it|I slept through the whole flight, so comfortable was the seat|the train was on time and clean|the class flew by|I learned more in a day than in a year at school|the price is more than fair|so much quality for so little money|I got more than I had hoped for|it exceeded my expectations|I would choose it over any other|hats off to the makers|keep it up|this shop is a real find|I am over the moon|it fits like a glove|the colours are gorgeous|it feels solid and well made|I get compliments on it all the time|the children would not stop playing with it|it was love at first sight|I give it ten out of ten|you have a fan for life|simply the best|it brightened up my week|a real bargain|we felt looked after|the smell alone makes me happy|I tell all my friends about it|I was pleasantly surprised|thumbs up|they kept their word|the doctor took time for me and I felt in good hands|the pain was gone after one visit|it could hardly be easier|I cannot praise it enough|I cannot imagine life without it|no other {o} comes close|nobody does it better|never had a better evening|I would not change a thing|I have no regrets|the wait was well worth it|my doubts were gone at once|a gift for every guest|the lake was clear as glass and the sand white|she sang like an angel|the crew made us feel safe|it does all I need and more|they listened and found a way|it still looks like new after years|I came tired and left refreshed"""

BAD = """I want my money back|never again|it broke after two days|I am very disappointed|what a waste of time|nobody answered my mails|it does not work at all|I regret buying it|one star is too much|the worst I have seen|it made me angry|such a shame|I feel cheated|it fell apart|nobody helped us|I am furious|it stopped working|we left early|it was a disaster|I cannot recommend it|the staff did not care|I hated it|not worth the money|not good at all|I am not happy with it|I expected far more|it did not do what it promised|I would not give it to my worst enemy|this is not what I paid for|nothing worked as it should|I could not have been more let down|no one said sorry|it is anything but comfortable|far from perfect|there was nothing to like about it|I will not be back|nobody should have to pay for this|do not buy this|the {o} was a total letdown
the soup was cold and had no taste|the bread was hard as stone|the meat was tough as leather|I found a hair in my salad|the fish smelled off|we all had stomach ache afterwards|the coffee tasted like dishwater|we waited an hour for two plates of noodles|the waiter forgot us|the cake was dry as dust|the vegetables were boiled to death|half of the menu was sold out|the portions would not fill a sparrow
the room stank of smoke|there were stains on the sheets|the walls are so thin that we heard every word|the shower only ran cold|there was mould behind the curtain|the bed was as hard as a board|we did not sleep a wink|the view was of a rubbish yard|the heating did not work and we froze|nobody was at the desk when we came|the towels were grey and torn|the photos on the site are a lie
I was on hold for an hour|they passed me from one desk to the next|{f} hung up on me|the repair made it worse|they lost my papers twice|the driver threw the parcel over the fence|it came three weeks late|half of the parts were missing|the box arrived crushed|they refused to take the {o} back|they charged me for things I never ordered|I still have no answer|they laughed at my question|the man at the desk did not even look up
I fell asleep after ten minutes|the plot makes no sense|the actors speak as if they read from a sheet|I put the book away after one chapter|the jokes fell flat|the ending ruined it all|the music gave me a headache|half of the audience walked out|two hours of my life that I will never get back|{ti} is a bore|the sound was so bad that we understood nothing|a cheap copy of better films
the app crashes all the time|it takes ages to start|the update ruined everything|I lost all my photos because of it|nobody can find the settings|the battery is flat by noon|the screen froze again|it is full of bugs|the ads drive me mad|setup was a nightmare|the new version is a step back|it deleted my work without asking
{f} never listens|{f} breaks every promise|you cannot rely on {f}|{f} ruined the whole evening|I have seldom met such a rude person|{f} lied to my face|working with {f} is a pain|{f} shouts at everybody|{f} is late every single time|our neighbour is a menace
the streets of {l} were filthy|the kids cried all the way|my knees were jammed against the seat in front|the train was late and packed|the class dragged on for ever|I learned nothing|the price is a joke|daylight robbery|it is money thrown out of the window|I got less than I had paid for|I would rather walk than use it again|stay away from this place|shame on the makers|this shop is a rip-off|I am fed up|it pinches everywhere|the colours came off in the wash|it feels cheap and wobbly|the seam tore on the first day|the children were in tears|I threw it in the bin|I give it zero points|you have lost a customer|simply the worst|it spoiled our holiday|a bad joke|we felt like a nuisance|the smell made me sick|I warn all my friends about it|I was shocked at how dirty it was|thumbs down|they broke their word|the doctor did not even look at me|the pain got worse after the visit|it could hardly be more complicated|I cannot stand it|I cannot understand how anyone likes this|no {o} has ever let me down like this|nobody cares|never had a worse evening|I would change everything about it|I regret every cent"""

PLAIN = """the parcel arrived on {d}|it is made of {ma}|the shop opens at nine|I ordered two of them|it comes in three colours|the room is on the second floor|it weighs two kilograms|the meeting is at noon|the {o} is {k} centimetres long|the film runs for ninety minutes|we stayed for two nights|there are {k} rooms in the house|the app has a menu on the left|the menu lists {k} dishes|{f} started in {mo}|the box contains a cable and a manual|the book has {k} pages|the bus leaves at {t}|the {o} stands in the corner|{p} works in {l}|the hotel lies next to the station|the office is in {l}|breakfast is served from seven to ten|I bought the {o} in {mo}|the battery is in the back|it runs on two batteries|the ticket is valid on {d}|the price includes tax|the course takes place on {d}|there is a car park behind the building|the version number is {k}|the invoice was sent on {d}|the next train goes at {t}|the table seats four people|the museum shows {os}|{f} sat at the window|the bottle holds one litre|the shirt is size medium|the lake is two kilometres away|the lift goes to the fifth floor|the password has eight letters|the garden has two gates|the concert was on {d}|the file is in the folder|the {o} was delivered to {l}|{f} read the letter and put it back|it was written in {y}|the shop sells {os}|the house was built in {y}|the kitchen is to the left of the hall|the form has two pages|my seat was in row {k}|we paid by card|the guide spoke for an hour|the doors close at {t}|the handle is on the right|the soup contains carrots and leeks|the second part follows in {mo}|we went there by bus|the manual is in English""".replace("\n", "|")

GOOD, BAD, PLAIN = (text.replace("\n", "|").split("|") for text in (GOOD, BAD, PLAIN))
FIRST_GOOD = "nice to look at|cheap|a promising start|pretty on the outside|good in the beginning|lovely photos|friendly at first|the first week was fine|a great idea on paper|the adverts sound wonderful|everybody told me it was great|it looks good".split("|")
FIRST_BAD = "slow at first|a bit small|a difficult start|ugly on the outside|I had my doubts|the first ten minutes were dull|not cheap|hard to find|I expected little|the box was dented|everybody had warned me|a long wait".split("|")


def adjective(r, good, folk=False):
    return r.choice((GOOD_FOLK if good else BAD_FOLK) if folk else GOOD_ADJ if good else BAD_ADJ)


def contrast(r, good):
    """A weak start on the other side, then what counts."""
    start = r.choice(FIRST_BAD if good else FIRST_GOOD)
    return r.choice([f"{start}, but {r.choice(['in the end ', '', 'then '])}{r.choice(GOOD if good else BAD)}", f"{start}, but in the end {adjective(r, good)}", f"{start}, yet all in all {adjective(r, good)}"])


def described(r, good):
    """A thing or a person with an adjective, or the other side denied."""
    folk = r.random() < 0.35
    a, b, other = adjective(r, good, folk), adjective(r, good, folk), adjective(r, not good, folk)
    thing = r.choice(FOLK if folk else ["{o}", "{o}", "service", "food", "room", "film", "app", "place", "book", "trip", "music", "new version", "hotel", "course", "show", "garden", "website", "soup", "game", "lesson"])
    own = [f"{{f}} was {r.choice(['so ', 'really ', ''])}{a} to us"] if folk else [f"what {n.an(a)} {thing}" if thing not in ("music", "food") else f"what {a} {thing}", f"I call that {a}"]
    return r.choice([f"the {thing} is {a}", f"the {thing} was {a} and {b}" if a != b else f"the {thing} was {a}", f"the {thing} is not {other} at all", f"the {thing} was anything but {other}", f"I found the {thing} {a}", f"the {thing} was {r.choice(['truly', 'just', 'simply'])} {a}", *own])


def mood_text(r, kind):
    """A text of one mood: "g", "b" or "p"."""
    if kind == "p":
        parts = [r.choice(PLAIN) for _ in range(r.choice([1, 1, 2]))]
    else:
        good = kind == "g"
        x = r.random()
        if x < 0.2:
            parts = [contrast(r, good)]
        else:
            parts = [r.choice(GOOD if good else BAD) if r.random() < 0.65 else described(r, good) for _ in range(r.choice([1, 1, 2]))]
            if x > 0.85:
                parts.insert(0, r.choice(PLAIN))
    return ". ".join(p[:1].upper() + p[1:] for p in parts) + r.choice([".", ".", "!" if kind != "p" else ".", ""])


MOODS = [
    (["positive", "good", "happy", "praise", "satisfied", "pleased", "content", "liked it", "thumbs up", "favourable"], "g", "the writer likes it"),
    (["negative", "bad", "unhappy", "complaint", "angry", "displeased", "dissatisfied", "disliked it", "thumbs down", "critical"], "b", "the writer dislikes it"),
    (["neutral", "neither", "factual", "no opinion", "plain fact", "just information"], "p", "no opinion, only facts"),
]
