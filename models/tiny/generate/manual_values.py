"""Values, names and section headings of the manuals."""
import re

from . import lexicon as lex
from . import names as n
from .slots import MAKERS


def _one(text):
    words = text.split(",")
    return lambda r: r.choice(words)


def _capital(r):
    return n.word(r, 1, 2).capitalize()


def host(r):
    """A host of nobody."""
    return n.word(r, 1, 2) + r.choice([".example", ".test", ".example.com", ".example.org", ".invalid"])


DRAWS = {
    **MAKERS,
    "w": lambda r: n.word(r, 1, 2), "W": _capital, "slug": lambda r: n.word(r, 1, 2), "host": host, "letter": lambda r: r.choice("ABCDEFGHJKLMNPQRSTUVWXYZ"),
    "k": lambda r: r.choice(lex.NUMBER_WORDS[:6]), "ENV": lambda r: n.word(r, 1, 2).upper(), "ma": _one("steel,bamboo,oak,plastic,aluminium,glass,cotton,copper,cork,felt"),
    "by": _one("date,size,name,weight,colour,age,owner,price,place"), "verb": _one("list,clean,add,show,fix,push,count,new,info,doctor,scan,prune"),
    "lang": lambda r: r.choice(["Node", "Python", "Ruby", "Java", "Go", "Rust", "PHP", "Erlang", "Lua", "Perl", "Swift", "Elixir", "Kotlin", _capital(r)]),
    "tool": lambda r: r.choice(["CMake", "GCC", "Clang", "Docker", "Git", "Make", "OpenSSL", "FFmpeg", "Redis", _capital(r)]),
    "EXT": lambda r: r.choice("CSV JSON PNG PDF YAML XML TOML SVG MP3 WAV FLAC TIFF EPUB HTML GIF ZIP DOCX".split() + [n.word(r, 1, 1).upper()[:4]]),
    "ext": _one("py,sh,js,rb,pl,lua"), "colour": _one("red,green,blue,white,yellow,orange,violet,black,grey,pink,turquoise,brown"),
    # What a program or a device has inside.
    "noun": _one("door,lid,tank,pump,fan,belt,window,tab,page,list,menu,drawer,sensor,lens,filter,printer,network,folder,calendar,search,index,table,chart,motor,timer,inbox,lamp,wheel,valve,handle"),
}
TOOLS = ["npm", "npm run", "npm run", "make", "make", "cargo", "yarn", "pnpm", "just", "task", "go", "poetry run", "mix", "rake", "gradle", "bun run", "mise run"]
NOUNS = {
    "p": "program,tool,library,editor,app,compiler,server,script,package,player,framework".split(","),
    "s": "service,server,platform,archive,API,host,shop,gateway,mail server".split(","),
    "d": "lamp,printer,router,camera,kettle,heater,scale,speaker,drone,drill,scanner,vacuum cleaner,thermostat,radio,fan,watch,doorbell".split(","),
}
# The headings of a section, what its table is called in the first column, and whether its settings may be environment variables.
SECTIONS = {
    "intro": ["About", "Overview", "What it is"], "install": ["Installation", "Install", "Getting it", "Setup"], "requirements": ["Requirements", "Prerequisites", "Before you begin", "What you need"],
    "usage": ["Usage", "Quick start", "Getting started", "Running"], "network": ["Network", "Access", "Connections"], "files": ["Files", "Where things are", "Paths"], "settings": ["Configuration", "Settings", "Defaults"],
    "limits": ["Limits", "Quotas", "Good to know"], "development": ["Development", "Contributing", "For developers", "Working on the code"], "licence": ["Licence", "License", "Legal"],
    "about": ["About", "Project", "Details"], "price": ["Price", "Plans and prices", "Buying"], "power": ["Power", "Battery and power", "Electricity"], "measures": ["Specifications", "Technical data", "Measures"],
    "use": ["Use", "Where to use it", "Operation"], "box": ["In the box", "Contents"], "service": ["Service", "Care and service", "Maintenance"], "errors": ["Troubleshooting", "Error codes", "When something fails"],
    "options": ["Options", "Flags", "Command line"], "keys": ["Keyboard", "Shortcuts", "Keys"], "lights": ["Lights", "What the lamp says"], "changes": ["Changes", "Changelog", "Release notes"],
    "commands": ["Commands", "What you can type"], "layout": ["Layout", "Folders", "Source tree"], "buttons": ["Buttons", "Controls"], "speed": ["Speed", "Benchmarks", "Measurements"],
}
AS_VARIABLES = {"settings", "network", "files", "limits"}
# Facts that answer each other's questions: only one of them is told of a subject, and none is missing where another is told.
TWINS = [
    {"author", "maker"}, {"price", "plan"}, {"version", "change"}, {"released", "begun", "change"}, {"runtime", "systems"}, {"runtime", "database"}, {"madein", "maker"}, {"button", "key"}, {"data", "database"},
    {"rate", "plan"}, {"memory", "speed"}, {"start", "subcommand"}, {"data", "logs"}, {"data", "folder"}, {"reset", "error"}, {"retries", "timeout"}, {"password", "variable"},
]


def fill(r, text, fixed):
    """The text with each `{slot}` drawn anew, unless it is fixed, and each `{2..9}` a number of that range."""
    text = re.sub(r"{(\d+)\.\.(\d+)}", lambda m: str(r.randint(int(m[1]), int(m[2]))), text)
    return re.sub(r"{(\w+)}", lambda m: fixed.get(m[1]) or DRAWS[m[1].rstrip("0123456789")](r), text).replace("^", "|")


def name(r, scope):
    """What a program, a service or a device is called."""
    if scope == "d":
        return r.choice([f"{_capital(r)} {r.randint(2, 90) * r.choice([1, 10, 100])}", f"{_capital(r)} {r.choice('ABEGKMRSTX')}{r.randint(1, 90)}", f"{r.choice(lex.ADJECTIVES).capitalize()} {_capital(r)}", _capital(r)])
    if scope == "s":
        return r.choice([_capital(r), f"{_capital(r)} {r.choice(['Cloud', 'Hub', 'Desk', 'Post', 'Store', 'Relay'])}", f"{_capital(r)}{r.choice(['ly', 'io', 'box', 'Base'])}"])
    return r.choice([_capital(r), n.word(r, 2, 2), f"{n.word(r, 1, 1)}-{n.word(r, 1, 1)}", f"{_capital(r)}{_capital(r)}", f"{r.choice(lex.NOUNS)}-{n.word(r, 1, 1)}", f"{_capital(r)} {r.choice(lex.NOUNS).capitalize()}"])
