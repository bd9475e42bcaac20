"""Tool calls for tools that vary at random, answers from their results, and requests that no tool serves."""
import re

from .. import lexicon as lex
from .. import names as n
from .. import tool_words as words
from ..chat import Dialogue, call, tool
from ..tool_results import result, sentence
from ..tool_values import BY_DOMAIN, FAMILIES, Family, fill, fixed, make, plain, schema
from ..toolboxes import TOOLBOXES
from . import reading

LEFT = words.LEFT
# How many sets of tools are hand-written ones.
BOXES = 0.7
# How many requests each of them has.
REQUESTS = [sum(len(family.asks) for family in box) for box in TOOLBOXES.values()]
# How many dialogues are nothing but requests and calls.
IN_A_ROW = 0.4
# Families whose requests may be meant for one another.
CLASHES = [
    set(names.split())
    for names in """create_note add_todo remind_me add_to_list create_event create_ticket log_run;set_timer set_alarm remind_me create_event;send_email send_sms post_message forward_mail;call_person get_contact
find_nearby find_parking find_restaurant find_pharmacy web_search rent_car book_hotel order_taxi;get_route get_distance train_times search_flights;search_products compare_prices web_search return_item;read_file print_document;print_document print_model;scan_document take_screenshot
web_search define_word get_news find_recipe search_books get_population find_synonyms open_url find_records search_files translate;find_recipe what_to_cook scale_recipe order_food get_menu;lock_car lock_door unlock_door open_car;rollback deploy revert_commit restore_database
delete_file delete_branch drop_table delete_user remove_from_list cancel_timer remove_item mute_channel block_sender cancel_event complete_task;get_score match_result league_table;cancel_booking close_ticket stop_print return_item revert_commit order_status freeze_card apply_coupon
check_stock locate_item order_status;get_logs check_health disk_usage restart_service;add_to_list order_food buy_tickets book_table buy_game_item;get_weather tide_table snow_report air_quality sunset_time;invite_guest invite_player assign_ticket share_file create_user;open_url take_screenshot clone_repository
log_run log_swim log_weight log_water log_medicine record_harvest feed_animals receive_goods ship_goods;flight_status search_flights check_in;transfer_money split_bill add_expense create_invoice log_hours;play_music add_to_playlist find_movie rate_movie borrow_book;set_temperature preheat_oven
find_free_slot list_events book_meeting_room;get_balance stock_price find_fuel;book_service report_accident book_doctor;translate read_aloud check_spelling change_case count_words commit_changes create_note;start_game start_workout;days_between subtract get_distance;convert_length convert_weight convert_currency log_weight;find_employee get_contact
enroll_student withdraw_student book_class add_index;set_volume set_fan dim_light;create_branch create_folder create_channel create_user clone_repository;move_file copy_file rename_file""".replace("\n", ";").split(";")
]


# Families that could serve nearly any request.
GREEDY = "create_note remind_me add_todo post_message send_sms create_ticket read_aloud".split()


def clash(one, other):
    a, b = one.names[0], other.names[0]
    return a == b or one.domain == other.domain == "web" or any(a in group and b in group for group in CLASHES)


def third(verb):
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2] not in "aeiou" else verb + "es" if verb.endswith(("s", "x", "ch", "sh")) else verb + "s"


def tails(r, chosen):
    """(parameters, what names the thing, what a request says after it, what it says before)."""
    params, near, far, front = [], "", "", ""
    for key, field in zip("abcd", chosen):
        names, kind, ways = words.FIELDS[field]
        way = r.choice(ways)
        params.append((key, names.split(), kind, False))
        if way.startswith("^") and not front and r.random() < 0.3:
            front = way[2:3].upper() + way[3:].replace("{x}", "{" + key + "}") + r.choice([", ", ": "])
        else:
            text = way.lstrip("^").replace("{x}", "{" + key + "}")
            near, far = (near + text, far) if field in ("id", "name", "owner") else (near, far + text)
    return params, near, far, front


def close(one, other):
    """Whether two groups of verbs may be meant for one another."""
    return one is other or any(one[0].split()[0] in group and other[0].split()[0] in group for group in words.NEAR)


def made_up(r, other=None, like=None):
    """A family from a verb and a noun, so that only the definitions tell what there is to call; `other` shares its noun, `like` its verb."""
    group = like.result[0] if like else r.choice([one for one in words.VERBS if not other or not close(one, other.result[0])])
    nouns = other.result[1] if other else r.choice(words.NOUNS) if r.random() < 0.4 else [r.choice(lex.NOUNS)] if r.random() < 0.6 else [n.word(r, 1, 2)]
    verbs, noun = group[0].split(), r.choice(nouns)
    verb = r.choice(verbs)
    form = r.choice([f"{verb}_{noun}", f"{verb}_{noun}", f"{noun}_{verb}", f"{noun}.{verb}"])
    if r.random() < 0.12:
        form = r.choice([f"fn_{r.choice('abcdefgh')}{r.randint(0, 9)}", f"tool_{r.randint(1, 99)}", f"f{r.randint(1, 99)}", n.word(r), f"op_{n.word(r, 1, 1)}"])
    told, named = r.choice(verbs), r.choice(nouns)
    said = r.choice([f"{third(told).capitalize()} {n.an(named)}", f"{told.capitalize()} {n.an(named)}", f"Used to {told} {n.an(named)}", f"{third(told).capitalize()} {n.plural(named)}", f"Lets the user {told} {n.an(named)}"])
    chosen = r.sample(list(words.FIELDS), r.choice([0, 1, 1, 1, 1, 1, 2, 2, 2, 3]))
    chosen.sort(key=lambda field: (field not in ("id", "name"), field != "owner"))
    if "id" in chosen and "name" in chosen:
        chosen.remove("name")
    asks = []
    for _ in range(6):
        params, near, far, front = tails(r, chosen)
        spoken = f"the {r.choice(nouns)}{near}"
        ways = [way for way in group[1:] if not (way.startswith("!") and (front or far or "," in near))]
        if ways and r.random() < 0.45:
            way = r.choice(ways)
            whole = way.startswith("!")
            text = way.lstrip("!").replace("{o}", spoken).replace("{O}", "T" + spoken[1:]) + far
        else:
            whole, text = False, f"{r.choice(verbs)} {spoken}{far}"
        if whole:
            asks.append(text)
        elif front:
            asks.append(front + text)
        else:
            asks.append(r.choice(words.ASKS).replace("{P}", text[0].upper() + text[1:]).replace("{p}", text))
    params = [(key, [*names, f"{noun}_{names[0]}"] if names[0] in ("id", "name", "owner") else names, kind, False) for key, names, kind, _ in params]
    return Family([form], [said], params, (group, nouns), asks, "")


def styled(r, name, low=False):
    """The same name in another way of writing."""
    x = r.random()
    parts = re.split(r"[_.]", name)
    if x < 0.7 or len(parts) < 2:
        return name
    if x < 0.88 or low:
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    return f"{parts[0]}.{'_'.join(parts[1:])}" if x < 0.94 else "".join(part.capitalize() for part in parts)


def define(r, family):
    """(definition, {parameter key: wire name}) with names drawn at random."""
    wire, properties = {}, {}
    opaque = r.random() < 0.05
    items = list(family.params)
    if r.random() < 0.3:
        r.shuffle(items)
    for index, (key, names, kind, _) in enumerate(items):
        name = f"arg{index + 1}" if opaque else styled(r, r.choice(names), True)
        while name in properties:
            name += "_"
        wire[key] = name
        about = r.choice([one for one in names if len(one) > 3] or names).replace("_", " ").capitalize()
        properties[name] = dict(schema(kind), **({"description": about} if opaque or r.random() < 0.2 else {}))
    required = [wire[key] for key, _, _, optional in items if not optional]
    if r.random() < 0.08:
        properties.setdefault(r.choice(["unit", "verbose", "lang", "dry_run", "format", "timeout"]), {"type": "string"})
    name = f"{r.choice(['fn', 'tool', 'f', 'act'])}_{r.choice('abcdefgh')}{r.randint(0, 9)}" if r.random() < 0.05 else styled(r, r.choice(family.names))
    return tool(name, r.choice(family.descriptions) + r.choice(["", "."]), properties, required), wire


def offer(r, count):
    """Families to choose from, often near one another."""
    if r.random() < BOXES:
        box = r.choices(list(TOOLBOXES.values()), REQUESTS)[0]
        return r.sample(box, min(len(box), max(count, r.choice([1, 2, 3, 3, 4, 4, 5]))))
    home, found = r.choice(list(BY_DOMAIN.values())) if r.random() < 0.6 else FAMILIES, []
    for _ in range(12):
        if len(found) == count:
            break
        made = next((one for one in found if not one.domain), None)
        family = made_up(r, made if r.random() < 0.5 else None) if r.random() < 0.3 else r.choice(home)
        if not any(clash(family, one) or not family.domain and not one.domain and family.result[0] is one.result[0] for one in found):
            found.append(family)
    return found


class Tools:
    """The tools of one dialogue and what was asked of them last."""

    def __init__(self, r, count):
        self.r = r
        self.families = offer(r, count)
        self.defined = [define(r, family) for family in self.families]
        names = [definition["function"]["name"] for definition, _ in self.defined]
        if len(set(names)) < len(names):
            self.families, self.defined = self.families[:1], self.defined[:1]
        self.last = None
        self.known = {}

    def written(self, at, values):
        definition, wire = self.defined[at]
        arguments = {name: values[key] for key, name in wire.items() if key in values}
        return call(definition["function"]["name"], arguments)

    def referred(self, family, template, made):
        """The request with `it` or `there` for a value that was just named, where this reads well."""
        kinds = [plain(kind) for _, _, kind, _ in family.params]
        for key, _, kind, _ in family.params:
            if plain(kind) not in self.known or key not in made or kinds.count(plain(kind)) > 1:
                continue
            text = refer(template, key, plain(kind))
            if text:
                return text, {**made, key: (self.known[plain(kind)], "")}
        return template, made

    def told(self):
        """A turn that names something, of which the next request speaks: (what is said, the tool that can use it), or None."""
        r = self.r
        at = r.randrange(len(self.families))
        for key, _, kind, _ in self.families[at].params:
            fits = any(refer(one, key, plain(kind)) for one in self.families[at].asks if " => " not in one)
            if fits:
                value = make(r, kind)[0]
                self.known = {plain(kind): value}
                text = r.choice(HERE if plain(kind) == "place" else ABOUT)
                return text.replace("{n}", IT.get(plain(kind), "")).replace("{v}", value), at
        return None

    def ask(self, at=None, manners=True, refer=0.0):
        """(request, call) for one of the tools; `refer` is how often a pronoun stands for what was named before."""
        r = self.r
        at = r.randrange(len(self.families)) if at is None else at
        family = self.families[at]
        point = self.known and r.random() < refer
        for _ in range(10):
            template, meant = fixed(family, r.choice(family.asks))
            made = {key: make(r, kind) for key, _, kind, _ in family.params if "{" + key + "}" in template} | {key: (value, "") for key, value in meant.items()}
            if not point:
                break
            if meant:
                continue
            before, (template, made) = template, self.referred(family, template, made)
            if template != before:
                break
        text = fill(template, {key: said for key, (_, said) in made.items()})
        self.last = at, {key: value for key, (value, _) in made.items()}
        self.known = {plain(kind): self.last[1][key] for key, _, kind, _ in family.params if key in made and plain(kind) in {**IT, "place": ""}}
        return polite(r, text, template) if manners else (text, lower(text, template)), self.written(*self.last)

    def again(self):
        """(request, call) that changes one value of the last call, or None."""
        r = self.r
        at, values = self.last
        kinds = {key: plain(kind) for key, _, kind, _ in self.families[at].params}
        every = list(kinds.values())
        free = [key for key, kind in kinds.items() if kind in FOLLOW and every.count(kind) == 1 and sum(one in ("int", "num", "money", "intyear") for one in every) <= 1]
        free = [key for key in free if not {"date", "day", "weekday", "relday"} & {kind for other, kind in kinds.items() if other != key} or kinds[key] in ("place", "person", "room")]
        if not free:
            return None
        key = r.choice(free)
        kind = next(kind for one, _, kind, _ in self.families[at].params if one == key)
        value, said = make(r, kind)
        self.last = at, {**values, key: value}
        self.known.pop(plain(kind), None)
        if plain(kind) in {**IT, "place": ""}:
            self.known[plain(kind)] = value
        return r.choice(FOLLOW[plain(kind)]).replace("{v}", "the " + said if plain(kind) in ("room", "door") else said), self.written(*self.last)


SAME = ["And {v}?", "What about {v}?", "The same for {v}", "And now {v}", "Now the same for {v}, please", "Do that for {v} too", "And how about {v}?", "{v} as well, please", "Sorry, I meant {v}", "No, not that one. I meant {v}"]
PLACE = [*SAME, "And in {v}?", "And for {v}?", "How does it look for {v}?"]
NUMBER = ["Make that {v}", "Rather {v}, please", "No, {v}", "Better {v}", "I changed my mind: {v}", "Sorry, I meant {v}", "{v} instead", "Hm, {v} after all"]
DATE = ["And {v}?", "What about {v}?", "The same for {v}", "Rather {v}, please", "Sorry, I meant {v}", "Make that {v}", "Better {v}"]
FOLLOW = {
    **dict.fromkeys("room door person company title proper code file image word host service branch dish object ingredient plate anyword url domain flight channel planet subject sport game crop dbtable email hash".split(), SAME),
    **dict.fromkeys(["place", "country"], PLACE), **dict.fromkeys(["int", "money", "clock"], NUMBER), **dict.fromkeys(["date", "day", "weekday", "relday"], DATE),
}


IT = {"file": "file", "image": "picture", "code": "number", "hash": "commit", "url": "page", "host": "server", "branch": "branch", "service": "service", "title": "title", "plate": "car", "dbtable": "table", "domain": "domain", "company": "company", "proper": "name"}
LEADING = set(
    "delete read open show is has does did was will track cancel restart of to for with from on about in into at against by print copy move rename share convert resize rotate clone fetch load find search play block ban deny renew build merge create use redeem return close assign scan get ping check fix stop abort revert undo ship index drop count zip lock unlock rate extend borrow reserve try put give send pass keep take scale reboot bounce tail shorten capture apply let make do erase wipe forward"
    .split()
)
ABOUT = ["It is about {v}.", "I have a question about {v}.", "The {n} is {v}.", "Here is the {n}: {v}", "I am looking at {v}.", "You know {v}?", "{n}: {v}", "This is the {n}: {v}."]
HERE = ["I am in {v}.", "I live in {v}.", "We are on our way to {v}.", "Next week I travel to {v}.", "My sister moved to {v}.", "I like {v}."]


def refer(template, key, kind):
    """The request with a pronoun for one value, or None where that would read badly."""
    slot = "{" + key + "}"
    if template.count(slot) != 1:
        return None
    if kind == "place":
        return template.replace("in " + slot, "there") if " in " + slot in template and not re.search(r"(Where|there) in \{", template) else None
    if kind not in IT:
        return None
    if template.startswith(slot + " ") and not re.match(r"\S+ (for|in|plus) ", template):
        return "It" + template[len(slot) :]
    found = re.search(r"(\w+) " + re.escape(slot) + r"($|[ ?.,!])", template)
    if re.search(r"(?<!^)(?<!When )(?<!Where )(?<!shelf )\b(is|was|the print|off print|in) " + re.escape(slot) + r"$|\b(is|was|print) " + re.escape(slot), template) and not re.match(r"(Is|Was|When is|Where is|Why is|What is) " + re.escape(slot), template):
        return None
    nouns = re.search(re.escape(slot) + r" (queue|timer|log|league|recipe|service|channel|system|class|server|pods|branch|column|team|account)", template)
    return template.replace(slot, "it") if found and found[1].lower() in LEADING and not nouns else None


def lower(text, template):
    """The request with a small first letter, unless a value or a name stands there."""
    return text if template.startswith(("{", '"', "I ", "PR ", "SMS", "CI ", "QR", "Google")) else text[0].lower() + text[1:]


def polite(r, text, template):
    x = r.random()
    if x < 0.62:
        return text
    if x < 0.7:
        return text + r.choice([" Thanks!", " Thank you."]) if text.endswith("?") else text.rstrip(".") + r.choice([" please", ", please.", "!", "."] if "please" not in text.lower() else ["!", "."])
    if x < 0.78:
        return r.choice(["Hi, ", "Hey, ", "Now ", "ok, ", "So, ", "Next: ", "One more thing: ", "Listen, "]) + lower(text, template)
    if x < 0.84:
        return words.fill_words(r, r.choice(words.BEFORE)) + " " + text
    if x < 0.88:
        return text + ("" if text.endswith(("?", ".", "!")) else ".") + words.fill_words(r, r.choice(words.AFTER))
    return lower(text, template)


def two(r, tools):
    """Two requests in one message, two calls in one answer."""
    (first, _), one = tools.ask(manners=False)
    before = tools.last
    (second, low), other = tools.ask(manners=False)
    tools.pair = before, tools.last
    if first.endswith("?") or second.endswith("?") or "." in first[-2:]:
        text = f"{first.rstrip('.')}{'' if first.endswith('?') else '.'} {r.choice(['And ', 'Also, ', 'Then: '])}{low}"
    else:
        text = r.choice([f"{first} and then {low}", f"{first}. {second}", f"Two things: {first}. And {low}", f"{first}, and also: {low}", f"First: {first}. Second: {second}"])
    return text, one + "\n" + other


def unserved(r, tools):
    """A request that none of the offered tools serves."""
    broad = any(one.domain == "web" or one.names[0] in GREEDY for one in tools.families)
    made = next((one for one in tools.families if not one.domain), None)
    if made and len(tools.families) < 3 and r.random() < 0.45 and not any(one.domain for one in tools.families):
        # The right thing with another verb, or the right verb with another thing.
        family = made_up(r, made) if r.random() < 0.6 else made_up(r, None, made)
        if not any(one.result[0] is family.result[0] and set(one.result[1]) & set(family.result[1]) for one in tools.families) and (len(tools.families) < 2 or tools.families[0].result[1] is tools.families[1].result[1] and not any(close(one.result[0], family.result[0]) for one in tools.families)):
            return spoken(r, family)
    if r.random() < 0.4:
        return words.offtopic(r, broad)
    if tools.families[0].domain in TOOLBOXES:
        others = [one for one in TOOLBOXES[tools.families[0].domain] if one not in tools.families]
        return spoken(r, r.choice(others)) if others and r.random() < 0.7 else words.offtopic(r, broad)
    near_by = [one for family in tools.families if family.domain for one in BY_DOMAIN[family.domain]]
    family = r.choice(near_by if near_by and r.random() < 0.6 else FAMILIES)
    if broad or any(clash(family, one) for one in tools.families):
        return words.offtopic(r, broad)
    return spoken(r, family)


def spoken(r, family):
    """One way to ask for it."""
    return fill(fixed(family, r.choice(family.asks))[0], {key: make(r, kind)[1] for key, _, kind, _ in family.params})


def answered(r, tools, messages, bare=False):
    """Adds the results of the calls that were just written, and what is said from them."""
    if messages[-1][1].count("<tool_call>") > 1:
        found = [sentence(r, tools.families[at], values) for at, values in tools.pair]
        messages += [("tool", given) for given, _ in found]
        messages.append(("assistant", "Both are done." if all(said == "Done." for _, said in found) else " ".join(said for _, said in found)))
        return
    family = tools.families[tools.last[0]]
    given, said = (r.choice(["ok", "done", '{"ok": true}']), "Done.") if bare and (not family.domain or family.result is None) else result(r, family, tools.last[1])
    messages += [("tool", given), ("assistant", said)]


def by_itself(r):
    """A short text with a question about it, which needs no tool."""
    for _ in range(5):
        found = reading.reading(r, 0.2).messages
        if len(found) == 2 and sum(len(text.split()) for _, text in found) < 45 and "</think>" not in found[1][1]:
            return found
    return []


def in_a_row(r):
    """Many requests for the same tools, which are described but once: what words mean is learned by choosing."""
    offered = Tools(r, r.choice([3, 4, 4, 5, 6]))
    messages, begun = [("system", words.system(r))] if r.random() < 0.6 else [], set()
    for _ in range(r.randint(5, 13)):
        text, said = (unserved(r, offered), LEFT) if r.random() < 0.06 else offered.ask()
        start = (said.split('"arguments"')[0], *text.split()[:2])
        # Of the same tool in the same words only the values would be new.
        if start not in begun:
            messages += [("user", text), ("assistant", said)]
        begun.add(start)
    return Dialogue(messages, [definition for definition, _ in offered.defined], kind="tools")


def tools(r, level=1.0):
    if r.random() < IN_A_ROW * level:
        return in_a_row(r)
    offered = Tools(r, r.choices([1, 2, 3, 4, 5], [34, 40, 16, 7, 3])[0])
    definitions = [definition for definition, _ in offered.defined]
    messages = [("system", words.system(r))] if r.random() < 0.6 else []
    x = r.random()
    if x < 0.05:
        asks, said = r.choice(words.SMALL)
        messages += [("user", r.choice(asks.split("|"))), ("assistant", said)]
    elif x < 0.145:
        messages += [("user", unserved(r, offered)), ("assistant", LEFT)]
        if r.random() < 0.45:
            return Dialogue(messages, definitions, kind="tools")
    elif x > 0.975:
        messages += by_itself(r)
    told = offered.told() if 0.9 < x < 0.975 else None
    if 0.145 <= x < 0.215:
        text, said = two(r, offered)
    elif told:
        messages += [("user", told[0]), ("assistant", "All right. What shall I do?")]
        text, said = offered.ask(told[1], refer=1.0)
    else:
        text, said = offered.ask()
    messages += [("user", text), ("assistant", said)]
    if r.random() < 0.35:
        answered(r, offered, messages)
        if r.random() < 0.08:
            asks, answer = words.SMALL[1]
            messages += [("user", r.choice(asks.split("|"))), ("assistant", answer)]
    # More calls of the same tools, which cost many tokens to describe.
    size, follows = len(str(definitions)), said.count("<tool_call>") == 1
    for _ in range(r.choice([0, 0, 0, 1, 1, 2] if size > 750 else [0, 0, 0, 1, 1, 2, 3])):
        if messages[-1][1].startswith("<tool_call>"):
            answered(r, offered, messages, bare=r.random() < 0.7)
        turn = offered.again() if follows and r.random() < 0.33 else None
        if turn is None and r.random() < 0.05:
            turn = unserved(r, offered), LEFT
        text, said = turn or offered.ask(refer=0.3 if follows else 0.0)
        follows = said != LEFT
        messages += [("user", text), ("assistant", said)]
    return Dialogue(messages, definitions, kind="tools")
