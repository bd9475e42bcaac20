"""Tool calls for tools that vary at random, answers from their results, and requests that no tool serves."""
import json

from .. import lexicon as lex
from .. import names as n
from ..chat import Dialogue, call, tool

STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
INT = lambda r: r.randint(1, 200)
TITLE = lambda r: r.choice([n.title(r), n.object_(r)])
# (names, what it does, {parameter: (names, schema, description, maker)}, requests)
FAMILIES = [
    (["get_weather", "weather", "forecast", "current_weather"], "Gets the weather of a place", {"l": (["city", "location", "place", "town"], STRING, "Name of the city", n.place)}, ["What is the weather in {l}?", "Will it rain in {l}?", "How is the weather in {l} today?", "weather {l}", "Do I need an umbrella in {l}?", "Is it cold in {l}?"]),
    (["get_time", "local_time", "clock", "current_time"], "Tells the time in a city", {"l": (["city", "timezone", "location"], STRING, "City", n.place)}, ["What time is it in {l}?", "Tell me the time in {l}", "How late is it in {l}?"]),
    (["send_email", "mail", "send_message", "write_email"], "Sends a message to a person", {"p": (["to", "recipient", "receiver"], STRING, "Who gets it", n.person), "t": (["subject", "title", "text", "body"], STRING, "What it says", TITLE)}, ["Send an email to {p} about {t}", "Write to {p}: {t}", "Please tell {p} by mail: {t}", "Message {p} with the text {t}"]),
    (["set_timer", "start_timer", "timer"], "Starts a timer", {"n": (["minutes", "duration", "duration_minutes"], INTEGER, "Length in minutes", INT)}, ["Set a timer for {n} minutes", "Wake me in {n} minutes", "Start a {n} minute timer", "timer {n} min", "Remind me in {n} minutes"]),
    (["set_alarm", "alarm", "wake_up"], "Sets an alarm", {"c": (["time", "at", "alarm_time"], STRING, "When it rings", n.clock)}, ["Set an alarm for {c}", "Wake me at {c}", "I have to get up at {c}"]),
    (["search_flights", "find_flight", "book_flight"], "Finds flights between two cities", {"a": (["from", "origin", "departure"], STRING, "Start", n.place), "b": (["to", "destination", "arrival"], STRING, "Goal", n.place)}, ["Find a flight from {a} to {b}", "I want to fly from {a} to {b}", "Flights to {b} from {a}, please", "Book me a flight from {a} to {b}"]),
    (["add", "sum", "add_numbers"], "Adds two numbers", {"a": (["a", "x", "first"], INTEGER, "First number", INT), "b": (["b", "y", "second"], INTEGER, "Second number", INT)}, ["What is {a} plus {b}?", "Add {a} and {b}", "{a} + {b}", "Calculate {a} plus {b}"]),
    (["multiply", "product", "times"], "Multiplies two numbers", {"a": (["a", "x", "first"], INTEGER, "First factor", INT), "b": (["b", "y", "second"], INTEGER, "Second factor", INT)}, ["What is {a} times {b}?", "Multiply {a} by {b}", "{a} * {b}"]),
    (["convert_currency", "exchange", "currency"], "Converts money", {"n": (["amount", "value", "sum"], NUMBER, "Amount", INT), "a": (["from", "source", "from_currency"], STRING, "Currency given", lambda r: r.choice(["EUR", "USD", "GBP", "CHF", "JPY", "SEK"])), "b": (["to", "target", "to_currency"], STRING, "Currency wanted", lambda r: r.choice(["PLN", "INR", "CAD", "AUD", "NOK", "CZK"]))}, ["How much is {n} {a} in {b}?", "Convert {n} {a} to {b}", "Change {n} {a} into {b}, please"]),
    (["translate", "translate_text", "translation"], "Translates a text", {"t": (["text", "input", "phrase"], STRING, "The text", TITLE), "l": (["language", "target", "to"], STRING, "Language wanted", lambda r: r.choice(lex.THINGS[17][2]))}, ['Translate "{t}" into {l}', 'What is "{t}" in {l}?', 'How do you say "{t}" in {l}?', "Translate {t} to {l}"]),
    (["search", "web_search", "search_web", "lookup", "find_documents"], "Searches for information", {"t": (["query", "q", "text", "term"], STRING, "What to search", lambda r: r.choice([TITLE(r), n.person(r), n.company(r), n.proper(r)]))}, ["Search for {t}", "Look up {t}", "Find something about {t}", "Google {t}", "What do you find about {t}?"]),
    (["create_event", "add_appointment", "calendar_add", "schedule_meeting"], "Puts an event into the calendar", {"t": (["title", "name", "event"], STRING, "Name of the event", lambda r: r.choice(["meeting", "dentist", "lunch", "party", "concert", "exam", n.title(r), "meeting with " + n.person(r)])), "d": (["date", "day", "when"], STRING, "Day", lambda r: r.choice([n.date(r), r.choice(lex.DAYS)]))}, ["Put {t} into my calendar on {d}", "Add {t} on {d}", "Schedule {t} for {d}", "New event: {t}, {d}"]),
    (["get_stock_price", "stock", "share_price"], "Price of a share", {"c": (["company", "symbol", "name"], STRING, "Company", n.company)}, ["What is the share price of {c}?", "How is the stock of {c} doing?", "Price of {c} shares?"]),
    (["order_status", "track_order", "get_order", "find_order"], "Finds the state of an order", {"c": (["order_id", "id", "order", "number"], STRING, "Order number", n.code)}, ["Where is my order {c}?", "What is the status of order {c}?", "Track {c}", "Has order {c} been sent?"]),
    (["turn_on_light", "light_on", "lights"], "Switches the light on in a room", {"o": (["room", "area", "place"], STRING, "Room", lambda r: r.choice(["kitchen", "bedroom", "garage", "cellar", "hall", "bathroom", "attic", "living room", n.word(r)]))}, ["Turn on the light in the {o}", "Light on in the {o}", "It is dark in the {o}", "Switch the {o} light on"]),
    (["set_temperature", "heating", "thermostat"], "Sets the temperature of a room", {"o": (["room", "zone"], STRING, "Room", lambda r: r.choice(["kitchen", "bedroom", "office", "bathroom", "hall"])), "n": (["degrees", "temperature", "celsius"], INTEGER, "Degrees", lambda r: r.randint(10, 30))}, ["Set the {o} to {n} degrees", "Make it {n} degrees in the {o}", "Heat the {o} to {n}"]),
    (["play_music", "play", "play_song"], "Plays a piece of music", {"t": (["song", "title", "track"], STRING, "Name of the song", n.title)}, ["Play {t}", "I want to hear {t}", "Put on {t}, please"]),
    (["add_to_list", "shopping_add", "add_item"], "Adds something to the shopping list", {"n": (["quantity", "count", "amount"], INTEGER, "How many", lambda r: r.randint(2, 30)), "o": (["item", "product", "name"], STRING, "What to buy", lambda r: n.plural(r.choice(lex.NOUNS)))}, ["Add {n} {o} to the list", "I need {n} {o}", "Put {n} {o} on the shopping list", "We are out of {o}, buy {n}"]),
    (["find_person", "get_contact", "phone_book", "contact_lookup"], "Finds the contact of a person", {"p": (["name", "person", "who"], STRING, "Name", n.person)}, ["What is the number of {p}?", "Find the contact of {p}", "How can I reach {p}?"]),
    (["call_person", "dial", "phone_call"], "Calls a person by telephone", {"p": (["name", "contact", "person"], STRING, "Who to call", n.person)}, ["Call {p}", "I want to talk to {p} on the phone", "Ring {p} please", "Dial {p}"]),
    (["book_table", "reserve_table", "restaurant_booking"], "Reserves a table", {"c": (["restaurant", "name", "place"], STRING, "Restaurant", n.title), "n": (["people", "guests", "persons"], INTEGER, "Guests", lambda r: r.randint(1, 12)), "t": (["time", "at"], STRING, "When", n.clock)}, ["Book a table at {c} for {n} people at {t}", "We are {n} and want to eat at {c} at {t}", "Table for {n} at {t}, {c}"]),
    (["delete_file", "remove_file", "erase"], "Deletes a file", {"f": (["path", "file", "filename"], STRING, "The file", lambda r: n.word(r) + r.choice([".txt", ".pdf", ".csv", ".md", ".png"]))}, ["Delete {f}", "Remove the file {f}", "I do not need {f} any more, delete it"]),
    (["read_file", "open_file", "load"], "Reads a file", {"f": (["path", "file", "filename"], STRING, "The file", lambda r: n.word(r) + r.choice([".txt", ".pdf", ".csv", ".md", ".json"]))}, ["Read {f}", "What is in {f}?", "Open {f}", "Show me {f}"]),
    (["create_note", "save_note", "remember"], "Saves a note", {"t": (["text", "note", "content"], STRING, "What to keep", TITLE)}, ["Note: {t}", "Remember {t}", "Write down {t}", "Save a note that says {t}"]),
    (["get_population", "population", "inhabitants"], "Number of people who live in a place", {"l": (["city", "country", "place"], STRING, "Place", n.place)}, ["How many people live in {l}?", "Population of {l}?", "How big is {l}?"]),
    (["find_restaurant", "restaurants", "search_restaurants"], "Finds restaurants", {"l": (["city", "location", "near"], STRING, "Where", n.place), "k": (["cuisine", "kind", "food"], STRING, "Kind of food", lambda r: r.choice(["Italian", "Indian", "Thai", "French", "Greek", "vegan", "Mexican", "Turkish"]))}, ["Find a {k} restaurant in {l}", "Where can I eat {k} food in {l}?", "{k} food near {l}"]),
    (["roll_dice", "dice", "roll"], "Rolls dice", {"n": (["sides", "faces", "max"], INTEGER, "Sides of the die", lambda r: r.choice([4, 6, 8, 10, 12, 20, 100]))}, ["Roll a die with {n} sides", "Throw a d{n}", "Roll a {n} sided die"]),
    (["pay", "send_money", "transfer_money"], "Sends money", {"n": (["amount", "sum", "value"], NUMBER, "Amount in euros", INT), "p": (["to", "receiver", "recipient"], STRING, "Who gets it", n.person)}, ["Send {n} euros to {p}", "Pay {p} {n} euros", "Transfer {n} euros to {p}"]),
]
VERBS = "archive approve block check close confirm count create describe download export fetch find get import inspect list lock mark open pause print query rate release rename report reset restart resume scan show start stop submit sync test unlock update upload verify watch".split()
LEFT = "None of the tools can do that."
OFFTOPIC = ["Write me a poem", "Who are you?", "Make me a sandwich", "Sing a song", "Paint a picture of a cow", "What should I wear?", "Tell me a story", "Knit me a scarf", "Feed my cat", "Wash my car", "Water the plants"]


def made_up(r):
    """A family from a verb and a noun, so that only the definitions tell what there is to call."""
    verb = r.choice(VERBS)
    noun = r.choice(lex.NOUNS) if r.random() < 0.7 else n.word(r, 1, 2)
    form = r.choice([f"{verb}_{noun}", f"{verb}{noun.capitalize()}", f"{noun}_{verb}", f"{noun}.{verb}"])
    kinds = [("id", STRING, f"Id of the {noun}", n.code), ("name", STRING, f"Name of the {noun}", n.title), ("owner", STRING, "Whose it is", n.person), ("count", INTEGER, "How many", INT), ("city", STRING, "Where", n.place), ("date", STRING, "When", n.date), ("limit", INTEGER, "At most", INT)]
    chosen = r.sample(kinds, r.choice([1, 1, 2, 2, 3]))
    spoken = {"id": [" {x}", " number {x}", " with the id {x}"], "name": [" {x}", " called {x}", " named {x}"], "owner": [" of {x}", " that belongs to {x}", " owned by {x}"], "count": [" {x} times", ", count {x}"], "city": [" in {x}"], "date": [" on {x}", " from {x}"], "limit": [" with a limit of {x}", ", at most {x}"]}
    chosen.sort(key=lambda k: list(spoken).index(k[0]))
    keys = "abcdefg"
    parameters, tail = {}, ""
    for key, (name, schema, text, maker) in zip(keys, chosen):
        parameters[key] = ([name, f"{noun}_{name}" if name in ("id", "name") else name], schema, text, maker)
        tail += r.choice(spoken[name]).replace("{x}", "{" + key + "}")
    asks = [f"{verb.capitalize()} the {noun}{tail}", f"Please {verb} the {noun}{tail}", f"Can you {verb} the {noun}{tail}?", f"I want to {verb} the {noun}{tail}"]
    return ([form], r.choice([f"{verb.capitalize()}s a {noun}", f"{verb.capitalize()} a {noun}"]), parameters, asks)


def define(r, family):
    """(definition, {parameter key: wire name}) with names drawn at random."""
    names, text, parameters, _ = family
    wire, properties = {}, {}
    items = list(parameters.items())
    for key, (options, schema, description, _) in items:
        name = r.choice(options)
        while name in properties:
            name += "_"
        wire[key] = name
        properties[name] = dict(schema, **({"description": description} if r.random() < 0.35 else {}))
    optional = {}
    if r.random() < 0.15:
        optional = {r.choice(["unit", "verbose", "lang", "mode", "format"]): dict(STRING)}
    return tool(r.choice(names), text + r.choice(["", "."]), {**properties, **optional}, list(properties)), wire


def offer(r, count):
    families, seen = [], set()
    while len(families) < count:
        family = made_up(r) if r.random() < 0.5 else r.choice(FAMILIES)
        if family[1] not in seen:
            seen.add(family[1])
            families.append(family)
    return families


def asked(r, family, wire):
    values = {key: maker(r) for key, (_, _, _, maker) in family[2].items()}
    return r.choice(family[3]).format(**values), {wire[key]: value for key, value in values.items()}


def result(r, family):
    """A tool's answer, and what is said from it."""
    x = r.random()
    value = r.choice([n.quantity, n.price, n.title, n.code, n.clock, n.date, n.person])(r)
    if x < 0.3:
        return value, value
    key = r.choice(["result", "value", "answer", "output", n.word(r)])
    other_key, other = r.choice(["id", "code", "source", "took"]), n.code(r)
    text = json.dumps({key: value, other_key: other} if x < 0.6 else {other_key: other, key: value} if x < 0.8 else {key: value}, ensure_ascii=False)
    return text, None if x < 0.8 and key not in ("result", "value", "answer", "output") else value


WEATHER = ["sunny", "rain", "cloudy", "snow", "windy", "fog", "storm", "clear"]


def weather_result(r):
    t, w = r.randint(-15, 38), r.choice(WEATHER)
    text = r.choice([json.dumps({"temperature": t, "condition": w}), json.dumps({"temp_c": t, "weather": w}), f"{t} degrees, {w}"])
    return text, f"It is {t} degrees: {w}."


def tools(r, level=1.0):
    families = offer(r, r.choice([1, 1, 1, 2, 2, 2, 3]))
    defined = [define(r, family) for family in families]
    names = [d["function"]["name"] for d, _ in defined]
    if len(set(names)) < len(names):
        families, defined = families[:1], defined[:1]
    messages = [("system", r.choice(["You are a helpful assistant.", "You are a helpful assistant.", "Use the tools.", "You can call tools."]))] if r.random() < 0.65 else []
    offered = [d for d, _ in defined]
    if r.random() < 0.1:
        messages += [("user", r.choice(OFFTOPIC)), ("assistant", LEFT)]
        return Dialogue(messages, offered, kind="tools")
    at = r.randrange(len(families))
    text, arguments = asked(r, families[at], defined[at][1])
    name = offered[at]["function"]["name"]
    messages += [("user", polite(r, text)), ("assistant", call(name, arguments))]
    if r.random() < 0.35:
        given, said = weather_result(r) if families[at] is FAMILIES[0] else result(r, families[at])
        if said is not None:
            messages += [("tool", given), ("assistant", said)]
            if r.random() < 0.3:
                at = r.randrange(len(families))
                text, arguments = asked(r, families[at], defined[at][1])
                messages += [("user", text), ("assistant", call(offered[at]["function"]["name"], arguments))]
    # More calls of the same tools, which cost many tokens to describe.
    for _ in range(r.choice([0, 0, 1, 2, 3])):
        if messages[-1][1].startswith("<tool_call>"):
            messages += [("tool", r.choice(["ok", "done", '{"ok": true}'])), ("assistant", "Done.")]
        at = r.randrange(len(families))
        text, arguments = asked(r, families[at], defined[at][1])
        messages += [("user", polite(r, text)), ("assistant", call(offered[at]["function"]["name"], arguments))]
    return Dialogue(messages, offered, kind="tools")


def polite(r, text):
    x = r.random()
    if x < 0.65:
        return text
    if x < 0.75:
        return text.rstrip("?.") + r.choice([" please", ", please.", "!", "."])
    if x < 0.85:
        return r.choice(["Hi, ", "Hey, ", "Now ", "ok, "]) + text[0].lower() + text[1:]
    return text[0].lower() + text[1:]
