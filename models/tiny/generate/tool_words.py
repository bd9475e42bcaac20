"""Words around tools: verbs with synonyms for tools that are made up, requests that no tool serves, system messages, errors."""
from . import lexicon as lex
from . import names as n

# Verbs of one meaning | further ways to ask for it ({o} is the thing; `!` marks whole sentences)
VERBS = [line.split("|") for line in """
delete remove erase discard|get rid of {o}|throw {o} away|do away with {o}|!I no longer need {o}|!{O} can go
find locate|search for {o}|look for {o}|track down {o}|hunt for {o}|!Where is {o}?|!I cannot find {o}
show display view|let me see {o}|present {o}|put {o} on the screen|!I want to have a look at {o}|!What does {o} look like?
create make build generate|set up {o}|put together {o}|bring {o} into being
start launch begin run|kick off {o}|get {o} going|set {o} in motion|fire up {o}
stop halt end terminate|shut {o} down|bring {o} to an end|put an end to {o}|!{O} has run long enough
pause suspend interrupt|put {o} on hold|let {o} rest|!{O} needs a break
resume continue|go on with {o}|carry on with {o}|pick {o} up again
restart reboot relaunch|start {o} again|give {o} a fresh start
rename relabel|give {o} another name|call {o} something else
copy duplicate clone|make a second {o}|make a copy of {o}
count tally|work out how many pieces {o} has
check verify inspect examine|see whether {o} is in order|take a close look at {o}|make sure {o} is fine|!Is {o} all right?
repair fix mend|put {o} right|get {o} working again|!{O} is broken
buy purchase acquire|get hold of {o} for money|pay for {o}|!I would like to own {o}
sell|turn {o} into cash|find a buyer for {o}|put {o} up for sale
send ship dispatch|post {o}|get {o} on its way|mail {o} out
download fetch|pull {o} down|save {o} on my computer|get {o} from the server
upload|put {o} on the server|push {o} up|bring {o} online
lock secure|keep everybody out of {o}|protect {o} with a lock|!Nobody should get into {o}
unlock|let people into {o}|take the lock off {o}|give access to {o}
approve accept confirm|say yes to {o}|agree to {o}|give {o} the green light|!{O} is fine with me
reject decline refuse|say no to {o}|turn {o} down|!I do not agree to {o}
archive store|put {o} into the archive|lay {o} aside for the records|keep {o} for later times
clean wash|make {o} clean|get the dirt off {o}|!{O} is dirty
move relocate transfer|bring {o} elsewhere|take {o} to another place|shift {o}
share|let others see {o}|give everybody access to {o}|pass {o} around
hide conceal|make {o} invisible|keep {o} out of sight|!Nobody should see {o}
merge combine join|bring the parts of {o} together|unite {o}
split divide|cut {o} into parts|break {o} up|take {o} apart
measure gauge|tell how large {o} is|take the size of {o}|!How big is {o}?
weigh|put {o} on the scales|!How heavy is {o}?
paint colour|put colour on {o}|give {o} a new coat
print|put {o} on paper|!I need {o} on paper
rate score|give {o} points|say how good {o} is|judge {o}
reserve book|keep {o} for me|hold {o} for me|!I would like to have {o} reserved
cancel|call {o} off|drop {o}|!{O} is not going to happen|!Forget {o}
report flag|tell the people in charge about {o}|raise the alarm about {o}|!Somebody should know about {o}
watch monitor observe|keep an eye on {o}|follow what {o} does|!Tell me whenever {o} changes
publish release|make {o} public|bring {o} out|!The world should see {o}
encrypt|make {o} unreadable for strangers|scramble {o}
calibrate adjust tune|set {o} right|make {o} exact
summarize shorten|give me {o} in a few words|boil {o} down|!{O} is too long to read
follow|subscribe to {o}|sign me up for {o}|keep me posted about {o}
open|swing {o} open|!{O} is still closed
close shut|!{O} must not stay open|pull {o} shut
""".strip().split("\n")]
# Groups of verbs, by their first, whose requests come too close.
NEAR = [set(line.split()) for line in "show check watch find summarize report;lock close hide encrypt archive;unlock open share publish approve;stop pause cancel close delete reject;start resume restart open create;move send share upload archive;check measure count weigh rate calibrate repair;buy reserve follow;sell cancel delete;copy create print download;split merge;clean repair paint".split(";")]
NOUNS = [line.split() for line in """
document paper;car vehicle;customer client;picture image photo;job task;employee worker;house building;shop store;film movie;mail letter;trip journey;bill invoice;parcel package;child kid;doctor physician
bike bicycle;phone telephone;couch sofa;garbage trash;road street;sickness illness;present gift;stone rock;boat vessel;error fault;firm company;author writer;teacher instructor;pupil student;meal dish;field meadow;contract agreement
""".strip().replace("\n", ";").split(";")]
# field: (wire names, kind, ways to say it in a request; what starts with ^ may also open the sentence)
FIELDS = {
    "id": ("id ref key number", "code", [" {x}", " number {x}", " with the id {x}"]), "name": ("name title label called", "title", [" {x}", " called {x}", " named {x}", " with the name {x}", ' "{x}"']),
    "owner": ("owner user person for_whom", "person", [" of {x}", " that belongs to {x}", " owned by {x}", " from {x}"]), "count": ("count times repeat", "int 2 200", [", {x} times", ", {x} times in all"]), "city": ("city location place site", "place", ["^ in {x}", "^ at our place in {x}"]),
    "date": ("date day when on", "date", ["^ on {x}"]), "limit": ("limit max at_most", "int 2 200", [" with a limit of {x}", ", at most {x}", ", no more than {x}"]), "level": ("priority urgency level", "enum high~urgent,normal~ordinary,low~minor", [" with {x} priority", ", priority {x}"]),
    "amount": ("amount price value cost", "money", [" for {x} euros", ", it is about {x} euros"]), "email": ("email contact address", "email", [" and tell {x}", " and write to {x}"]), "time": ("time at hour", "clock", ["^ at {x}"]),
    "weight": ("weight kilograms kg", "num 1 90", [" with a weight of {x} kg", ", weight {x}"]), "color": ("color colour tint", "pick red,blue,green,yellow,black,white,pink,brown", [" in {x}", ", colour {x}"]), "file": ("file output path", "file", [" with the file {x}", " and use {x}"]), "notify": ("notify inform tell_all announce", "bool and tell everybody/and tell nobody", [" {x}", ", {x}"]),
    "urgent": ("urgent rush express in_a_hurry", "bool it is urgent/there is no hurry", [", {x}"]), "force": ("force forced by_force", "bool by force/without force", [" {x}", ", {x}"]), "tags": ("tags labels keywords", "list word", [" with the tags {x}", ", tags {x}"]),
}
ASKS = [
    "{P}", "{P}", "{P}", "Please {p}", "Can you {p}?", "I want to {p}", "Could somebody {p}?", "It would be great if you could {p}", "My boss asks me to {p}", "Time to {p}", "I need you to {p}", "I have to {p}", "Would you mind helping me to {p}?", "Be so kind and {p}", "Before lunch I would like to {p}", "We should {p}",
]
LEFT = "None of the tools can do that."
OFFTOPIC = (
    "Write me a poem|Make me a sandwich|Sing a song|Paint a picture of a cow|What should I wear?|Tell me a story|Knit me a scarf|Feed my cat|Wash my car|Polish my shoes|Cut my hair|Bake a cake for {p}|Marry me|Carry my bags to {l}|Tie my shoes|Do my homework|Iron my shirt|Build me a {o}|Paint the {o} green|Catch the mouse in the attic"
    "|Who invented the {o}?|Why is the sky blue?|What is the meaning of life?|Explain gravity|Who was {p}?|What did {p} dream last night?|Is {p} in love with me?|How do I repair a {o}?|Give me advice about {p}|Which colour suits me?|Who will win the election?|Is there life on other planets?|What is love?|Can fish sleep?|How do birds find their way?|Guess what I am thinking"
    "|Massage my back|Hold my hand|Walk the dog|Mow the lawn|Dig a hole behind the house|Milk the cow|Bring me a {o}|Steal the {o} of {p}|Hide the {o} from {p}|Teach me to juggle|Dance with me|Shave my beard|Blow up a balloon|Climb a tree|Tune my piano|Sew a button on my coat|Compose a symphony for {p}|Design a logo with a {o}|Write an essay about {l}|Make up a riddle"
    "|Fly me to the moon|Turn water into wine|Read my mind|Predict my future|Wake the dead|Make {p} like me|Wrap the {o} as a present|Shovel the snow|Peel the potatoes|Set the table|Babysit for {p}|Chop some wood|Repaint the fence of {p}|Change the baby|Find out what {p} thinks of the {o}|Draw a map of my dreams|Dust the {o}"
).split("|")
SMALL = [("Hello|Hi|Hey|Hello!|Hi there|Greetings|Good day", "Hello! How can I help you?"), ("Thanks|Thank you|Thank you very much|Thanks a lot|Many thanks|Great, thank you!|Perfect, thanks", "You are welcome."), ("Bye|Goodbye|See you|See you later|I have to go", "Goodbye! See you soon.")]
BEFORE = "I just came home.|Good morning!|Sorry to bother you.|I am in a hurry.|Hello there.|My hands are full.|It is a long day.|You are doing great.|Quick one.|I just talked to {p}.|I bought a {o} yesterday.|{p} is here for a visit.|I was in {l} last year.|It has been a while.|My {o} fell on the floor.|I have a small wish.|We had dinner with {p}.|Let me think.".split("|")
AFTER = " That would help me a lot.| I am in a hurry.| Thanks!| Thank you.| Take your time.| {p} asked for it.| It is important.| You are the best.".split("|")
SYSTEM = (
    ["You are a helpful assistant."] * 4
    + ["Use the tools.", "You can call tools.", "Be brief.", "Answer the user.", "Call a function when one fits.", "You are {p}.", "You are {p}, a friendly {j}.", "You are the assistant of {c}.", "You work for {c} and help its customers.", "You are {p}, the digital {j} of {c}.", "You are a polite {j}.", "Your name is {p}. Be kind and quick.", "You help people in {l}.", "You assist a busy {j} in {l}.", "You are a voice assistant. Keep it short."]
)
ERRORS = "not found|timeout|permission denied|no connection|invalid date|out of stock|too many requests|the device is offline|unknown name|server error|the account is locked|no seats left|quota exceeded|the file is in use|already exists|the service is down|access expired|the battery is empty|wrong format|nothing matches|the printer is out of paper|no signal|the number is busy".split("|")


def offtopic(r, broad=False):
    """Something that hardly any tool does; no question where a tool answers all of them (`broad`)."""
    return fill_words(r, r.choice([one for one in OFFTOPIC if not (broad and (one.endswith("?") or one.startswith(("Explain", "Find", "Give", "Tell", "Write"))))]))


def system(r):
    return fill_words(r, r.choice(SYSTEM))


def fill_words(r, text):
    noun = r.choice(lex.NOUNS)
    if noun[0] in "aeiou":
        text = text.replace(" a {o}", " an {o}")
    return text.replace("{p}", n.person(r)).replace("{l}", n.place(r)).replace("{c}", n.company(r)).replace("{o}", noun).replace("{j}", r.choice(["butler", "clerk", "secretary", "librarian", "cook", "guide", "nurse", "banker", "captain", "gardener", "teacher", "concierge", "mechanic"]))
