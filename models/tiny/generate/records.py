"""Records of everyday papers: (domain, fields, sentences that state some of them). A field is `key,other key=kind`; `a~` becomes a or an."""
import re

from . import lexicon as lex
from . import names as n
from .record_lines import LINES

TABLE = [
    ("contact", "name,full_name,person=p;age,years=i 6 97;town,city,residence=l;phone,telephone,phone_number=phone;email,mail,email_address=email;job,profession,occupation=r;company,employer=co;married=b is married/is not married",
     "{name} lives in {town} and works as a~{job}.|You can reach {name} at {phone} or {email}.|{name}, {age}, is a~{job} at {company}.|Write to {email} if you need {name}.|The number of {name} is {phone}.|My name is {name}, I am {age} years old and come from {town}.|{name} from {town} {married} and is {age}.|{company} employs {name} as a~{job}."),
    ("invoice", "number,invoice_number,invoice=c;customer,client,billed_to=p;total,amount,sum=m;currency=e euros dollars pounds francs;issued,invoice_date,date_of_issue=da;due,due_date,pay_by=da;supplier,seller,issued_by=co;paid=b has been paid/is still unpaid",
     "Invoice {number} from {supplier} comes to {total} {currency}.|{customer} has to pay {total} {currency} by {due}.|The bill was issued on {issued} and is due on {due}.|{supplier} billed {customer} on {issued}.|Invoice {number} {paid}.|Please transfer {total} {currency} to {supplier} no later than {due}, quoting {number}."),
    ("event", "title,event,name=ti;place,venue,location=l;day,date,on=da;start,time,begins_at=t;host,organiser,invited_by=p;guests,number_of_guests,capacity=i 8 400;fee,price,entry=i 2 90;free,free_entry=b entry is free/you have to buy a ticket",
     "{host} invites you to {title} in {place} on {day}.|{title} starts at {start}; the fee is {fee} euros.|We expect {guests} guests in {place}.|On {day} at {start}, {host} opens {title}.|For {title}, {free}.|There is room for {guests} people, and it begins at {start}."),
    ("job ad", "position,job_title,role=r;company,employer,firm=co;location,city,place=l;salary,pay,monthly_pay=i 900 9000;hours,weekly_hours,hours_per_week=i 10 42;start,start_date,from=da;contact,contact_person,apply_to=p;remote=b you may work from home/work is in the office only",
     "{company} in {location} is looking for a~{position}.|We pay {salary} euros a month for {hours} hours a week.|You would start on {start}; send your papers to {contact}.|Wanted: a~{position} in {location} from {start}.|Apply to {contact} at {company}.|As a~{position} you earn {salary} euros, and {remote}.|The job takes {hours} hours a week, and {remote}."),
    ("recipe", "dish,name,recipe=dish;servings,persons,serves=i 2 12;minutes,cooking_time,time_in_minutes=i 5 180;ingredients=list food;temperature,degrees,oven_temperature=i 120 240;author,cook,from=p;vegetarian=b there is no meat in it/it contains meat;tool,utensil=e pan pot wok casserole tray",
     "For the {dish} you need {ingredients}.|{dish} serves {servings} and takes {minutes} minutes.|Bake the {dish} at {temperature} degrees for {minutes} minutes.|{author} gave me this recipe for {dish}.|Put {ingredients} into the {tool}.|{author} makes {dish} for {servings} people in a {tool}.|It takes {minutes} minutes, and {vegetarian}."),
    ("flight", "flight,flight_number,number=flight;origin,from,departure_city=l;destination,to,arrival_city=l;departure,departs,departure_time=t;arrival,arrives,arrival_time=t;gate=gate;airline,carrier=co;passenger,traveller=p;delay,delay_minutes=i 5 240",
     "Flight {flight} goes from {origin} to {destination}.|{passenger} flies to {destination} with {airline}.|It leaves {origin} at {departure} and lands at {arrival}.|{flight} departs at {departure} from gate {gate}.|{airline} says that {flight} is {delay} minutes late.|{passenger} is booked on {flight} from {origin}, gate {gate}.|Arrival in {destination} is at {arrival}."),
    ("appointment", "patient,name,who=p;doctor,physician,with=doctor;day,date,on=da;time,hour,at=t;reason,complaint,symptom=e cough fever rash backache headache check-up toothache cold;place,town,practice_in=l;phone,number_to_call=phone;insured=b is insured/has no insurance;room=i 1 40",
     "{patient} sees {doctor} on {day} at {time}.|{patient} has an appointment with {doctor} because of a {reason}.|The practice in {place} expects {patient} at {time}.|Please come to room {room} on {day}.|{doctor} in {place} can be called on {phone}.|{patient} {insured} and comes for a {reason}.|To cancel the visit on {day}, dial {phone}."),
    ("real estate", "type,kind,property=e flat house bungalow studio villa cottage loft;town,city,location=l;rooms,number_of_rooms=i 1 12;area,size,square_metres=i 18 400;rent,price,monthly_rent=i 250 4000;floor,storey=i 1 30;free_from,available,move_in=da;owner,landlord,agent=p;balcony,has_balcony=b with a balcony/without a balcony",
     "{type} in {town} to let, {rooms} rooms, {area} square metres.|The {type} {balcony} costs {rent} euros a month.|{owner} lets a {type} in {town}.|It has {rooms} rooms on floor {floor} and is free from {free_from}.|Rent: {rent} euros; call {owner}.|The {type} is free from {free_from} and measures {area} square metres.|{owner} shows the {type} {balcony} in {town}."),
    ("bug report", "app,program,software=pr;version,release=version;error,error_code,code=c;platform,system,os=e Linux Windows Android macOS iOS;reporter,reported_by,user=p;page,screen,where=e login checkout settings search start profile help;severity,priority=e low medium high critical;reproducible=b it happens every time/it happened only once;count,crashes,times=i 2 60",
     "{app} {version} shows error {error} on the {page} page.|{reporter} reports that {app} crashes on {platform}.|On {platform}, version {version} crashed {count} times.|The severity is {severity}, says {reporter}.|Error {error} comes up on the {page} page, and {reproducible}.|{app} has a {severity} bug in version {version}.|{reporter} saw {error} {count} times."),
    ("product", "product,name,item=ti;maker,brand,manufacturer=co;price,cost,amount=m;colour,color=colour;weight,kilograms,weight_kg=f 1 60;material,made_of=material;stock,pieces,stock_count=i 2 900;code,sku,article_number=c;waterproof=b is waterproof/is not waterproof",
     "{product} by {maker} costs {price} euros.|The {colour} {product} is made of {material}.|{product} weighs {weight} kilograms and {waterproof}.|Article {code} is {colour} and costs {price} euros.|We have {stock} pieces of {product} left.|{maker} makes it of {material}; the article number is {code}.|It is {colour}, weighs {weight} kilograms, and {stock} are in stock."),
    ("sports result", "home,home_team,hosts=team;guest,away_team,visitors=team;home_goals,goals_home=i 0 9;guest_goals,goals_away=i 0 9;stadium,ground,played_at=l;day,date,played_on=da;scorer,goal_scorer,scored_by=p;spectators,attendance,crowd=i 120 80000;referee=p",
     "{home} beat the odds against {guest} in {stadium}.|{home} got {home_goals} goals and {guest} {guest_goals}.|On {day}, {spectators} people watched {home}.|{scorer} scored the last goal for {home}.|{referee} was the referee of the match in {stadium}.|{guest} travelled to {stadium} on {day}.|{spectators} fans saw {scorer} score."),
    ("lost and found", "item,object,thing=o;colour,color=colour;place,found_in,where=l;day,date,found_on=da;finder,found_by,handed_in_by=p;owner,belongs_to=p;shelf,number,storage=c;reward,reward_euros=i 5 500;damaged=b it is damaged/it is not damaged",
     "{finder} found a {colour} {item} in {place}.|The {item} belongs to {owner}.|It was handed in on {day} and lies on shelf {shelf}.|{owner} offers {reward} euros for the {item}.|{finder} brought a~{item} on {day}, and {damaged}.|A {colour} {item} from {place} is on shelf {shelf}."),
    ("weather report", "place,town,station=l;day,weekday,date=d;temperature,degrees,temp=i 1 39;condition,weather,sky=e sunny cloudy rainy foggy snowy stormy windy;wind,wind_speed,wind_kmh=i 3 120;humidity,humidity_percent=i 20 99;rain,rain_mm,millimetres=i 1 80;sunrise,sun_rises=t;warning=b there is a storm warning/there is no warning",
     "On {day} it will be {condition} in {place}.|{place} reports {temperature} degrees and {wind} kilometres of wind per hour.|{rain} millimetres of rain fell in {place} on {day}.|Humidity is {humidity} percent at {temperature} degrees.|The sun rises at {sunrise} on {day}.|It is {condition}, and {warning}.|Wind of {wind} kilometres per hour, humidity {humidity} percent."),
    ("log line", "time,timestamp,at=stamp;level,severity=e INFO WARN ERROR DEBUG FATAL;service,component,module=w;host,server,machine=host;status,code,status_code=e_int 200 201 301 400 401 403 404 409 500 502 503;duration,ms,took_ms=i 1 5000;user,login,account=w;ip,address,client_ip=ip;path,url,endpoint=path",
     "{time} {level} {service} on {host}: request to {path} took {duration} ms|{time} [{level}] {user}@{ip} GET {path} {status}|{level} {service}: user {user} from {ip} was refused|{host} {service}: {path} answered {status} after {duration} ms|{time} {host} {level} login of {user}"),
    ("parcel", "number,tracking_number,parcel_id=c;sender,from,sent_by=p;recipient,to,addressee=p;weight,kilograms,weight_kg=f 1 30;destination,town,city=l;sent,shipped,date_sent=da;carrier,courier=co;fragile=b is fragile/is not fragile;cost,postage,price=m",
     "{sender} sent parcel {number} to {recipient} in {destination}.|It weighs {weight} kilograms and went off on {sent}.|{carrier} takes the parcel to {destination} for {cost} euros.|The parcel for {recipient} {fragile}.|Parcel {number} weighs {weight} kilograms and {fragile}.|{sender} handed it to {carrier} on {sent}.|Postage was {cost} euros; {recipient} must sign."),
    ("pet", "name,pet_name,called=pr;animal,species,kind=animal;age,years=i 2 19;owner,belongs_to,keeper=p;colour,color=e brown black white grey golden spotted;food,eats,favourite_food=food;chip,chip_number,tag=c;town,lives_in,place=l;vaccinated=b is vaccinated/is not vaccinated",
     "{name} is a {colour} {animal} of {age} years.|The {animal} {name} belongs to {owner}.|{owner} from {town} feeds {name} with {food}.|{name} {vaccinated} and has chip {chip}.|{owner} has a~{animal} that likes {food}.|{name} is {age} and lives in {town}.|Chip {chip} is registered to {owner}."),
    ("course", "course,title,subject=course;teacher,instructor,given_by=p;day,weekday=d;time,starts_at,start_time=t;room,room_number=c;places,seats,participants=i 5 60;fee,price,costs=i 10 900;level=e beginner intermediate advanced;online=b it is held online/it is held in the house",
     "{teacher} teaches {course} on {day}s at {time}.|The {level} course in {course} costs {fee} euros.|{course} has {places} places and meets in room {room}.|On {day} {teacher} is in room {room}.|{course} begins at {time}, and {online}.|The fee is {fee} euros for {places} places.|{teacher} gives a~{level} class in {course}."),
    ("book", "title,book,name=ti;author,writer,by=p;year,published,year_of_publication=year;pages,page_count,length=i 40 1200;publisher,press=co;price,cost,costs=m;language=language;shelf,location,signature=c;lent,on_loan,borrowed=b is out on loan/stands on the shelf",
     "{author} wrote {title} in {year}.|{title} has {pages} pages and is in {language}.|{publisher} brought out {title} in {year} for {price} euros.|The {language} edition has {pages} pages.|{title} by {author} {lent}.|You find {author} under {shelf}.|{publisher} sells it for {price} euros."),
    ("car ad", "make,brand,model=pr;year,built,first_registered=year;mileage,kilometres,km=i 900 250000;price,asking_price,cost=i 500 40000;colour,color=colour;fuel,engine=e petrol diesel electricity gas hydrogen;seller,owner,contact=p;phone,telephone=phone;doors=i 2 5;accident_free,no_accidents=b never had an accident/has had an accident",
     "{make}, built in {year}, {mileage} kilometres, {price} euros.|{seller} sells a {colour} {make} for {price} euros.|The {make} has {doors} doors, runs on {fuel} and {accident_free}.|Call {seller} at {phone}.|The {colour} car from {year} has done {mileage} kilometres.|The car runs on {fuel} and has {doors} doors; phone {phone}."),
    ("hotel booking", "guest,name,booked_by=p;hotel,house=pr;city,town,place=l;nights,number_of_nights=i 1 21;persons,guests,people=i 1 6;arrival,check_in,from=da;room,room_number=i 1 900;price,total,cost=i 40 3000;breakfast,with_breakfast,breakfast_included=b with breakfast/without breakfast;code,booking_number,reference=c",
     "{guest} booked {nights} nights at the {hotel} in {city}.|Arrival is on {arrival}, {persons} persons, {breakfast}.|Booking {code}: room {room}, {price} euros.|The {hotel} gives {guest} room {room}.|{guest} comes on {arrival} and stays for {nights} nights {breakfast}.|In {city} we need beds for {persons}.|{nights} nights in {city} cost {price} euros; the number is {code}."),
    ("meeting minutes", "topic,subject,about=topic;chair,chaired_by,led_by=p;writer,minutes_by,secretary=p;day,date,held_on=da;start,began,started_at=t;end,ended,finished_at=t;room,place=l;present,attendees,participants=list person;next,next_meeting,next_date=da",
     "{chair} led the meeting about {topic}.|Present were {present}.|We met on {day} from {start} to {end}.|{writer} wrote the minutes; the next meeting is on {next}.|The talk about {topic} was held on {day} in {room}.|{chair} opened at {start}, and {writer} took notes.|{present} met in {room}."),
]
NOUNS = {"dish": "soup stew curry pie salad omelette lasagne risotto goulash casserole pancakes quiche", "food": "flour butter eggs milk rice onions carrots leeks apples honey cream salt sugar beans mushrooms garlic lentils cheese fish oats", "topic": "the budget|the new website|the summer party|safety|the move|parking|holidays|the canteen|the merger|training|sales in spring|the roof", "course": "pottery Spanish yoga chess cooking swimming photography algebra knitting drumming judo welding accounting gardening"}
COLOURS = "red blue green yellow black white grey brown purple pink silver golden".split()


def joined(items):
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def value(r, kind):
    """(the value in JSON, what stands in the text)."""
    kind, *rest = kind.split(" ", 1)
    rest = rest[0] if rest else ""
    if kind == "i":
        low, high = map(int, rest.split())
        made = r.randint(low, high)
    elif kind == "f":
        made = round(r.randint(1, int(rest.split()[1])) + r.randint(1, 9) / 10, 1)
    elif kind == "m":
        made = r.choice([r.randint(3, 2000), round(r.randint(1, 99) + r.choice([0.25, 0.49, 0.75, 0.95, 0.99, 0.5]), 2)])
    elif kind == "e":
        made = r.choice(rest.split())
    elif kind == "e_int":
        made = int(r.choice(rest.split()))
    elif kind == "b":
        made = r.random() < 0.5
        return made, rest.split("/")[0 if made else 1]
    elif kind == "list":
        made = [n.person(r) for _ in range(r.randint(2, 4))] if rest == "person" else r.sample(NOUNS["food"].split(), r.randint(2, 4))
        made = list(dict.fromkeys(made))
        return made, joined(made)
    elif kind == "year":
        made = r.randint(1950, 2026)
    else:
        made = MAKERS[kind](r)
    return made, str(made)


MAKERS = {
    "p": n.person, "l": n.place, "co": n.company, "ti": n.title, "c": n.code, "da": n.day, "t": n.clock, "d": lambda r: r.choice(lex.DAYS), "o": n.object_, "pr": n.proper, "w": n.word, "r": lambda r: r.choice(lex.ROLES), "colour": lambda r: r.choice(COLOURS),
    "phone": lambda r: r.choice(["-", " ", ""]).join(str(r.randint(100, 9999)) for _ in range(r.randint(2, 3))), "email": lambda r: f"{n.word(r)}{r.choice(['', '.', '_'])}{n.word(r, 1, 1)}@{n.word(r, 1, 2)}.{r.choice(['com', 'org', 'net', 'eu', 'de', 'io'])}", "flight": lambda r: f"{r.choice('ABEKLQSTUX')}{r.choice('ABFHLMRSVY')}{r.randint(10, 9999)}",
    "gate": lambda r: f"{r.choice('ABCDEF')}{r.randint(1, 60)}", "doctor": lambda r: f"Dr. {n.last(r)}", "version": lambda r: ".".join(str(r.randint(0, 19)) for _ in range(r.randint(2, 3))), "team": lambda r: r.choice(["{} United", "{}", "FC {}", "{} Rovers", "{} City", "SV {}"]).format(n.proper(r)), "stamp": lambda r: f"{r.randint(0, 23):02d}:{r.randint(0, 59):02d}:{r.randint(0, 59):02d}",
    "host": lambda r: f"{n.word(r, 1, 1)}{r.randint(1, 40):02d}", "ip": lambda r: ".".join(str(r.randint(1, 254)) for _ in range(4)), "path": lambda r: "/" + "/".join(n.word(r, 1, 1) for _ in range(r.randint(1, 2))), "dish": lambda r: r.choice(["", "", f"{r.choice(['leek', 'onion', 'fish', 'bean', 'pumpkin'])} "]) + r.choice(NOUNS["dish"].split()), "food": lambda r: r.choice(NOUNS["food"].split()),
    "topic": lambda r: r.choice(NOUNS["topic"].split("|")), "course": lambda r: r.choice(NOUNS["course"].split()), "material": lambda r: r.choice("oak steel leather wool cotton glass plastic copper bamboo".split()), "animal": lambda r: r.choice("dog cat horse parrot rabbit hamster pony turtle goat".split()), "language": lambda r: r.choice("English German French Spanish Polish Dutch Swedish Greek".split()),
}


def parsed(spec):
    return [(part.split("=")[0].split(","), part.split("=")[1]) for part in spec.split(";")]


RECORDS = [(domain, parsed(fields), f"{sentences}|{LINES[domain]}".split("|")) for domain, fields, sentences in TABLE]


def told(r, count, entry=None):
    """(domain, text, {first key: (names of the key, kind, value)} of what it states, the fields that it does not state)."""
    domain, fields, sentences = entry or r.choice(RECORDS)
    values = {keys[0]: (keys, kind, *value(r, kind)) for keys, kind in fields}
    words = [v[3] for v in values.values() if v[1] not in ("i", "b")]
    if len({w.lower() for w in words}) < len(words) - 1:
        return told(r, count, entry)
    picked = r.sample(sentences, 1 if domain == "log line" else count)
    text = " ".join(said(s, values) for s in picked)
    slots = {slot for s in picked for slot in re.findall(r"{(\w+)}", s)}
    return domain, text, {k: v[:3] for k, v in values.items() if k in slots}, [v[:2] for k, v in values.items() if k not in slots]


def said(sentence, values):
    text = re.sub(r"(a~)?{(\w+)}", lambda m: n.an(values[m[2]][3]) if m[1] else values[m[2]][3], sentence)
    return (text[:1].upper() + text[1:]).replace("the The ", "The ")
