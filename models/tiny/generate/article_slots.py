"""Values, shared attributes and background sentences of the articles."""
from . import lexicon as lex
from . import names as n
from .relations import SLOTS as BASE


def _count(low, high):
    """A count in digits or, when small, in words."""
    def draw(r):
        number = r.randint(low, high)
        return r.choice(lex.NUMBER_WORDS) if low <= 12 and r.random() < 0.35 else f"{number:,}" if number > 999 and r.random() < 0.5 else str(number)
    return draw


def _with(units, low, high):
    """A count with one of the units."""
    draw = _count(low, high)
    return lambda r: f"{draw(r)} {r.choice(units)}"


def _one(text):
    words = text.split(",")
    return lambda r: r.choice(words)


def _sum(r):
    amount = r.choice([f"{r.randint(2, 99)} million", f"{r.randint(2, 990)},000", f"{r.randint(1, 9)}.{r.randint(1, 9)} million"])
    return f"{amount} {r.choice(['euros', 'dollars', 'pounds', 'francs', 'crowns'])}"


def _date(r):
    """A day, at times with a year that is not far away."""
    number, month = r.randint(1, 28), r.choice(lex.MONTHS)
    day = r.choice([f"{number} {month}", f"{month} {number}"])
    return day if r.random() < 0.5 else f"{day}{',' if day[0].isalpha() else ''} {r.randint(1950, 2030)}"


SLOTS = {
    **BASE,
    "full": lambda r: f"{n.first(r)} {n.last(r)}",
    "height": _with(["metres", "feet"], 4, 400), "length": _with(["metres", "kilometres", "miles"], 3, 900), "size": _with(["hectares", "square kilometres", "acres"], 3, 900),
    "weight": _with(["kilograms", "tonnes", "grams", "pounds"], 2, 900), "speed": _with(["knots", "kilometres per hour", "miles per hour"], 8, 300),
    "temp": _with(["degrees", "degrees Celsius"], 13, 900), "cool": _with(["degrees", "degrees Celsius"], 4, 30), "percent": _with(["percent", "per cent"], 2, 99), "area": _with(["square metres"], 18, 240),
    "few": _count(2, 12), "many": _count(14, 900), "crowd": _count(300, 90000), "sum": _sum,
    "old": lambda r: str(r.randint(41, 99)), "age": lambda r: str(r.randint(16, 98)), "score": lambda r: f"{r.randint(0, 6)}-{r.randint(0, 6)}",
    "span": _with(["hours", "days", "weeks", "months", "minutes"], 2, 60), "years": _with(["years"], 2, 40), "months": _with(["months", "weeks", "days"], 2, 60), "minutes": _with(["minutes"], 3, 90),
    "language": _one("Latin,Greek,Welsh,Polish,Arabic,Swedish,Turkish,Hindi,Dutch,Korean,Finnish,Irish,Catalan,Danish,Basque,Swahili,Czech,Thai,Hungarian,Persian"), "date": _date, "year": lambda r: n.year(r) if r.random() < 0.15 else str(r.randint(1880, 2026)),
    "time": n.clock, "last": n.proper, "rare": _one("bus,boat,train,sledge,mule,bicycle,ferry,tram,taxi,tractor,motorbike,cable car"), "mail": lambda r: f"{n.word(r)}@{n.word(r)}.{r.choice(['com', 'org', 'net', 'example'])}", "phone": lambda r: f"0{r.randint(20, 99)} {r.randint(100000, 9999999)}",
    "file": lambda r: f"{n.word(r)}.{r.choice(['yaml', 'toml', 'ini', 'json', 'conf', 'xml'])}", "port": lambda r: str(r.randint(1000, 65000)), "version": lambda r: f"{r.randint(1, 9)}.{r.randint(0, 30)}" + (f".{r.randint(0, 20)}" if r.random() < 0.4 else ""),
    "key": lambda r: f"{r.choice(['max', 'min', 'log', 'cache', 'user', 'net', 'retry', n.word(r, 1, 1)])}_{r.choice(['size', 'level', 'path', 'limit', 'delay', n.word(r, 1, 1)])}",
    "room": lambda r: r.choice([f"room {r.randint(1, 400)}", f"hall {r.choice('ABCDEFG')}", f"building {r.randint(1, 40)}"]), "platform": lambda r: str(r.randint(1, 24)),
    "food": _one("onions,lentils,carrots,rice,mushrooms,leeks,beans,barley,potatoes,almonds,walnuts,spinach,pumpkin,cheese,plums,apples,cod,beef,lamb,chicken,cabbage,chestnuts"),
    "herb": _one("thyme,parsley,cinnamon,saffron,ginger,mint,pepper,dill,rosemary,nutmeg,paprika,sage,basil,honey,vanilla"),
    "plant": _one("roses,ferns,orchids,tulips,palms,cacti,lilies,oaks,cherry trees,irises,lavender,bamboo,maples,sunflowers"),
    "prey": _one("small fish,beetles,berries,seeds,earthworms,snails,grasses,roots,moths,mice,leaves,shrimps,algae,frogs"),
    "habitat": _one("dry forests,salt marshes,mountain streams,deep caves,open grassland,warm lagoons,peat bogs,old orchards,rocky coasts,pine woods,city parks"),
    "fish": _one("trout,pike,eels,perch,carp,salmon,herons,otters,swans,crayfish,beavers"),
    "stone": _one("granite,limestone,brick,concrete,timber,steel,sandstone,basalt,iron,glass,marble"), "subject": _one("geometry,medieval history,statistics,pottery,first aid,bookkeeping,astronomy,web design,botany,welding,music theory,photography,economics,carpentry"),
    "engine": _one("a diesel engine,a steam engine,two gas turbines,an electric motor,four sails,a nuclear reactor,three masts"), "cargo": _one("coal,grain,timber,wine,cars,bananas,iron ore,tea,wool,salt,machine parts,sugar"),
    "show": _one("old clocks,toys,farm tools,coins,maps,glass,trains,costumes,fossils,puppets,radios,weapons,carpets,stamps"), "craft": _one("boat building,fishing,lace making,cheese,pottery,slate mining,weaving,beekeeping,glassblowing,wine,basket making"),
    "ill": _one("headaches,hay fever,back pain,a dry cough,insomnia,travel sickness,heartburn,sore throats,fever,muscle cramps"), "side": _one("dizziness,a dry mouth,tiredness,nausea,a mild rash,loss of appetite,blurred vision,thirst"),
    "gas": _one("hydrogen,methane,helium,nitrogen,carbon dioxide,sulphur vapour,ammonia,argon,oxygen"), "acid": _one("vinegar,warm water,ethanol,acetone,dilute acid,salt water,lye,ammonia,copper sulphate,baking soda"),
    "colour": BASE["colour"], "cause": _one("a broken valve,a power cut,a full disk,an expired certificate,a loose cable,human error,a frozen pipe,a worn belt,a wrong password,a blocked filter,a software bug,lightning"),
    "damage": _one("a flooded cellar,lost orders,a delay of one day,two broken windows,a burnt motor,some spoiled food,missing invoices"), "crime": _one("theft,fraud,arson,forgery,smuggling,libel,blackmail,poaching,tax evasion,breach of contract"),
    "verdict": _one("not guilty,guilty,partly guilty"), "weather": _one("heavy rain,thick fog,a snowstorm,strong wind,bright sunshine,hail,a heat wave,a thunderstorm"), "obstacle": _one("a crevasse,frostbite,lack of oxygen,an avalanche,broken ropes,snow blindness,hunger,a rockfall"),
    "post": _one("defender,striker,goalkeeper,midfielder,substitute"), "genre": _one("crime novel,love story,ghost story,family saga,war novel,comic novel,adventure novel,fable"), "invention": _one("the safety pin,a folding bicycle,a steam plough,the zip lock,a water clock,a sewing machine,a typewriter,a lifebuoy,a gas lamp,an electric kettle,the cork press,a coffee mill"),
    "symptom": _one("flashes twice,stays dark,beeps,turns hot,shows an empty battery,makes a grinding noise,stops halfway"), "cure": _one("press the reset button,replace the fuse,clean the filter,pull out the plug,charge the battery,call the service,tighten the screws,empty the tank"),
    "reason": _one("a strike,building work,a storm,too little money,an outbreak of flu,bad weather,a lack of staff,a missing permit,high costs,a fire,a flood"), "skill": _one("French,Spanish,a driving licence,bookkeeping,welding,SQL,first aid,sign language,typing,Portuguese,night shifts"),
    "perk": _one("free lunch,a company bicycle,a bus pass,private health insurance,a laptop,six weeks of holiday,a parking space"), "pest": _one("moths,slugs,mildew,rabbits,aphids,storms,drought,moles"), "dance": _one("a torchlight parade,fireworks,a boat race,a brass band,a tug of war,a costume ball,a horse market,a pie contest,folk dancing"),
}

SHARED = {
    "built": """
was put up by {person} in {year}|was designed by {person}|dates from {year}|went up in {year} under the direction of {person} # person: Who built {x}?|Which architect was responsible for {x}?|Whose plans was {x} built to?|Who is behind the design of {x}? # year: When was {x} constructed?|In which year did the builders work on {x}?|What is the year of construction of {x}?
was at first made of {stone}, but is made of {stone2} today|originally consisted of {stone} and was rebuilt in {stone2} # stone: What was {x} originally made of?|Which material did the builders of {x} use at first?|What did {x} first consist of? # stone2: What is {x} made of now?|What did the material of {x} change to?|Which material was used for {x} later?
cost {sum}|took {sum} to build|swallowed {sum} before it was ready # sum: What was spent on {x}?|How expensive was the building of {x}?|How much money went into {x}?""",
    "owned": """
used to belong to {person}, but is now the property of {company}|was sold by {person} to {company}|passed from {person} to {company} # person: Who was the former owner of {x}?|Who owned {x} before?|Who gave {x} away to another owner? # company: Who owns {x} now?|Who is the present owner of {x}?|Which firm has {x} today?""",
    "visit": """
attracts {crowd} visitors a year|is visited by {crowd} people every year|draws {crowd} guests each year # crowd: How many people come to {x} every year?|What is the annual number of visitors to {x}?|How popular is {x}, in visitors a year?
can be seen for {price}|charges {price} at the entrance|lets you in for {price} # price: What does a ticket for {x} cost?|How much do visitors pay for {x}?|What is the admission fee of {x}?
is shut on {day}|stays closed every {day}|opens every day except {day} # day: On which day can {x} not be visited?|Which day of the week should visitors of {x} avoid?|When is the closing day of {x}?""",
    "harm": """
was damaged by fire in {year}|burnt down in {year}|suffered from a fire in {year} # year: When was there a fire at {x}?|In what year did flames hit {x}?|When did {x} burn?""",
    "life": """
was born in {place} on {date}|was born in {place}|came into the world on {date} # place: Where was {x} born?|What is the birthplace of {x}?|In which place did the life of {x} begin? # date: What is the birthday of {x}?|When was {x} born?|What is the date of birth of {x}?
married {person} in {year}|was married to {person}|met {its} later spouse, {person}, in {month} # person: What was the name of {its} wife or husband?|Who became the partner of {x}?|Whom did {x} marry? # year: When was {its} wedding?|In what year did {x} marry?
had {few} children|brought up {few} children|was the parent of {few} children # few: How many children did {x} have?|What was the number of {its} sons and daughters?
died in {place} at the age of {old}|lived to the age of {old}|was {old} when death came # place: Where did {x} die?|In what place did the life of {x} end? # old: How old did {x} become?|At what age did {x} pass away?
studied {subject} under {person}|was a student of {subject}|learned {subject} from {person} # subject: What did {x} study?|Which subject did {x} learn?|What was {its} field of study? # person: Who taught {m}?|Whose pupil was {x}?|Who was the teacher of {x}?""",
}
BACKGROUND = [
    "Not much else is known.", "Opinions on this differ.", "A local newspaper has written about {x} more than once.", "There is a photograph of {x} in the town hall.", "A short film about {x} can be found online.", "Many people talk about {x}.",
    "The weather was fine that day.", "Some details are still unclear.", "Not everybody agrees.", "More can be read in the archive.", "That came as a surprise to many.", "A {adj} {noun} stands nearby.", "Nobody had expected that.", "{person} wrote a long letter about it.",
    "The {role} keeps a list of such things.", "There are plans for the future, but nothing is certain.", "As so often, it is a long story.", "People from {place} ask about {x} again and again.", "This is only a short overview.", "A {colour} sign shows the way.",
]
