"""Notices, manuals, rules, letters of the articles, in the form of `article_topics.py`; a wording with `=` is a whole sentence."""

NOTES = """

release # it # {title} {version}|{proper} {version} # a new version of the program from {company}|a release by {company} # company: Who publishes {x}?|Which firm made {x}?
came out on {date}|was released on {date} # date: When was {x} published?|Since what day has {x} been available?|What is the release date of {x}?
fixes {many} bugs|removes {many} errors # many: How many errors does {x} correct?|What number of faults is gone in {x}?
needs at least {few} gigabytes of memory|runs with {few} gigabytes of memory # few: How much memory does {x} want?|How many gigabytes must a computer have for {x}?
opens files {percent} faster than before|is {percent} faster than the last version # percent: How much speed was gained in {x}?|By how much is {x} faster?
drops support for {language}|no longer speaks {language} # language: Which language is missing in {x}?|Which language was dropped in {x}?
adds a {adj} {noun} view|brings a new {colour} theme # colour: What colour is the new look of {x}?|In which colour can {x} be shown? # adj: -
can be downloaded as {file}|is offered under the name {file} # file: What is the file of {x} called?|Which file do I have to load for {x}?
will get updates for {years}|is looked after for {years} # years: How long will {x} be supported?|For what time are there updates of {x}?
was tested by {crowd} users|was tried out by {crowd} people # crowd: How many testers did {x} have?|How many people tried {x} beforehand?
costs {price} per seat|is sold at {price} per user # price: What must be paid for {x}?|How much is a licence of {x}?
contains a known fault that comes from {cause}|still crashes after {cause} # cause: What makes {x} crash?|Which problem of {x} is not solved?

server # it # the {proper} server|{proper}d # a server program for {nouns}|a service that looks after {nouns} # nouns: What is {x} for?|What does {x} look after?
reads its settings from {file}|is configured in {file}|expects its settings in {file} # file: Where are the settings of {x} kept?|Which file configures {x}?|What file must I edit for {x}?
listens on port {port}|answers on port {port}|waits for requests on port {port} # port: Which port does {x} use?|On what port can I reach {x}?|Where does {x} accept connections?
is limited by {key}, which is {many} by default|has a setting {key} with the value {many} # key: Which setting limits {x}?|What is the name of the option of {x}? # many: What is the default value in {x}?
writes its log to {file}|keeps a log in {file} # file: Where can I read the messages of {x}?|What is the log file of {x}?
is restarted every {day} at {time}|starts afresh on {day} at {time} # day: On which day is {x} restarted?|When in the week does {x} restart? # time: At what hour does {x} restart?
gives up after {few} attempts|tries {few} times before giving up # few: How often does {x} try?|How many retries does {x} make?
closes idle connections after {minutes}|waits {minutes} before it drops a connection # minutes: What is the timeout of {x}?|How long may a client of {x} be silent?
was written by {person} in {language}|was written by {person} # person: Who developed {x}?|Who is the programmer of {x}? # language: -
stores its data in {place}|has its backup in {place} # place: Where are the data of {x} kept?|In which place does {x} save its data?
must be run as the user {word}|runs under the account {word} # word: Which account does {x} need?|Under what user does {x} work?
prints {code} when the disk is full|reports error {code} if the disk is full # code: What does {x} say when there is no space?|Which error of {x} stands for a full disk?

device # it # the {proper} {many}|the {title}|the {proper} heater # a device made by {company}|a machine for the kitchen made by {company} # company: Who makes {x}?|Which firm produces {x}?|Who is the maker of {x}?
is switched on with the {colour} button|starts when you press the {colour} button # colour: Which button starts {x}?|What button do I press to turn {x} on?
must be cleaned every {months} with {acid}|should be washed with {acid} # months: How often does {x} need cleaning?|After what time should I clean {x}? # acid: What do I use to clean {x}?|With what is {x} cleaned?
needs {minutes} to warm up|is ready after {minutes} # minutes: How long must I wait for {x}?|When can I use {x} after switching it on?
weighs {weight}|has a weight of {weight} # weight: How heavy is {x}?|What is the weight of {x}?
uses {many} watts|takes {many} watts from the socket # many: How much power does {x} draw?|What is the consumption of {x} in watts?
comes with a cable of {height}|has a cable of {height} # height: How long is the cable of {x}?|What length does the cable of {x} have?
={m} {symptom}? Then {cure}.|=If {m} {symptom}, {cure}. # cure: What can I do when something goes wrong with {x}?|What is the remedy for trouble with {x}?|How can I fix {x}? # symptom: -
may not be used near {acid}|should be kept away from {acid} # acid: What is dangerous for {x}?|What must not come near {x}?
shows {code} when it is too hot|reports {code} if it gets too hot # code: Which message of {x} means too much heat?|What does {x} show when it is overheated?
is sold for {price}|costs {price} in shops # price: What do I pay for {x}?|How much is {x}?
holds {few} litres|has a tank for {few} litres # few: How many litres go into {x}?|What is the capacity of {x}, in litres?
is repaired by {person} in {place}|is serviced in {place} # place: Where can {x} be repaired?|Where must I send {x} for service? # person: Who repairs {x}?

warranty # it # the {company} warranty|the {proper} warranty # a promise given by {company}|a guarantee for every {noun} sold by {company} # company: Who gives {x}?|Which firm stands behind {x}?
runs for {years}|is valid for {years}|ends after {years} # years: How long does {x} last?|For what time am I covered by {x}?|When does {x} run out?
does not cover damage by {cause}|is void after damage by {cause} # cause: What is not covered by {x}?|What kind of damage is left out of {x}?
covers the {noun} and the {noun2}|includes the {noun} # noun: Which part is covered by {x}?|What does {x} protect? # noun2: -
must be claimed within {months}|can only be used if you write within {months} # months: How soon must I make a claim under {x}?|What is the time limit for claims under {x}?
is handled by {person} in {place}|is dealt with by {person} # person: Who deals with {x}?|Whom do I ask about {x}? # place: Where is {x} handled?
can be extended for {price}|costs {price} for a longer term # price: What does it cost to make {x} longer?|How much is an extension of {x}?
requires the number {code} on the box|asks for the number {code} # code: Which number do I need for {x}?|What number must I give under {x}?
can be claimed by writing to {mail}|is claimed through {mail} # mail: To what address do I write about {x}?|Where do I send a claim under {x}?

shop # it # {proper}'s shop|the {proper} store|the {company} shop # a shop for {nouns} in {place}|a small shop in {place} # nouns: What does {x} sell?|Which goods can I get at {x}? # place: Where is {x}?|In which place can I find {x}?
opens at {time} on {day}|lets customers in from {time} # time: From what hour can I go to {x}?|When does {x} open? # day: -
takes goods back within {months}|accepts returns for {months}|gives customers {months} to bring things back # months: How long can I return something to {x}?|What is the return period of {x}?|Within what time must I change my mind at {x}?
refunds the money after {span}|pays returned goods back after {span} # span: How long do I wait for my money from {x}?|When does {x} pay me back?
does not take back {nouns}|refuses the return of {nouns} # nouns: What can I not return to {x}?|Which goods are excluded from returns at {x}?
asks {price} for delivery|delivers for {price} # price: What does delivery from {x} cost?|How much must I pay if {x} brings my order?
delivers within {span}|needs {span} for a delivery # span: How long does {x} need to bring my order?|When will an order from {x} arrive?
can be called on {phone}|answers the telephone under {phone} # phone: What is the number of {x}?|How can I call {x}?
gives {percent} off to students|offers students a discount of {percent} # percent: How much do students save at {x}?|What discount does {x} give?
is run by {person}, a former {role}|belongs to {person} # person: Who is the owner of {x}?|Who runs {x}? # role: -
will be closed in {month} because of {reason}|stays shut in {month} # month: In which month is {x} closed?|When can I not shop at {x}? # reason: Why will {x} be closed?

job # it # the job of {role} at {company}|the post of {role} at {company} # a position in {place}|a job for {few} years in {place} # place: Where would I work in {x}?|In which place is {x}? # few: -
pays {sum} a year|is paid with {sum} a year # sum: What is the salary in {x}?|How much would I earn in {x}?
starts on {date}|is to be filled from {date} # date: When does {x} begin?|From what day is {x} free?
requires {skill}|calls for {skill}|is open to people with {skill} # skill: What must I bring along for {x}?|What is expected of people who want {x}?|Which requirement does {x} have?
comes with {perk}|offers {perk} # perk: What extra comes with {x}?|Which benefit does {x} have?
takes {many} hours a week|means {many} hours of work a week # many: How many hours would I work in {x}?|What are the weekly hours of {x}?
can be applied for until {date}|is open for letters until {date} # date: What is the deadline for {x}?|Until when can I apply for {x}?
goes to somebody with {years} of experience|demands {years} of experience # years: How much experience is needed for {x}?|How long must I have worked before to get {x}?
is given out by {person}|is filled by {person} # person: Who decides about {x}?|Whom do I have to convince to get {x}?
is described at {mail}|is open for questions at {mail} # mail: Where do I write about {x}?|To which address can I send questions on {x}?

course # it # {subject} for beginners at {proper}|course {code}|the {proper} course # a course in {subject}|an evening course in {subject} # subject: What is taught in {x}?|What will I learn in {x}?|Which subject is {x} about?
is taught by {person}|is given by {person}|is in the hands of {person} # person: Who teaches {x}?|Who is the teacher of {x}?|Whose lessons are {x}?
meets on {day} at {time} in {room}|takes place in {room} # day: On which day is {x}?|When in the week does {x} meet? # time: At what hour does {x} begin? # room: Where do the lessons of {x} take place?|Where must I go for {x}?
costs {price}|has a fee of {price} # price: How much must I pay for {x}?|What is the fee for {x}?
lasts {months}|goes on for {months} # months: How long is {x}?|What is the length of {x}?
is limited to {few} people|takes {few} people at most # few: How many can join {x}?|How many places are there in {x}?
ends with a test on {date}|closes with an exam on {date} # date: When is the examination of {x}?|On what day is {x} tested?
is held in {language}|is taught in {language} # language: Which language is spoken in {x}?|What language do I need for {x}?
gives {few} credits|brings {few} credits # few: How many points do I get for {x}?|What are the credits for {x}?
requires you to bring {nouns}|expects everybody to bring {nouns} # nouns: What should I take along to {x}?|What do I need with me in {x}?
is open to everybody over {age}|is meant for people over {age} # age: What is the lowest age for {x}?|How old must I be for {x}?

medicine # it # {proper}|{proper}ol|{proper}in # a medicine against {ill}|a remedy for {ill} # ill: What is {x} good for?|What does {x} help with?|Against what is {x} taken?
is taken {few} times a day|should be swallowed {few} times a day # few: How often do I take {x}?|How many times daily must I use {x}?
may cause {side}|can lead to {side}|is known to bring on {side} # side: What are the side effects of {x}?|What unpleasant effect can {x} have?|What should I look out for when I take {x}?
should not be taken with {acid}|must not be mixed with {acid} # acid: What must I avoid together with {x}?|What does not go with {x}?
works after {minutes}|takes effect within {minutes} # minutes: How soon does {x} help?|When can I feel {x}?
must be kept below {cool}|is stored below {cool} # cool: How cool must {x} be kept?|At what temperature should {x} be stored?
is made by {company}|comes from {company} # company: Who produces {x}?|Which firm makes {x}?
is not suitable for children under {few}|may not be given to anybody under {few} # few: From what age can {x} be given?|How old must a child be for {x}?
can be kept for {months}|stays good for {months} # months: How long does {x} keep?|After what time must I throw {x} away?
contains {herb}|has {herb} in it # herb: What is in {x}?|Which plant does {x} contain?
is sold in packs of {many}|comes in packs of {many} tablets # many: How many tablets does one pack of {x} hold?|What is the pack size of {x}?

train # it # train {code}|the {proper} Express|the {proper} line # a train to {place}|a night train to {place} # place: Where does {x} go?|What is the destination of {x}?
leaves from platform {platform}|departs from platform {platform} # platform: At which platform do I get on {x}?|Where does {x} leave?
departs at {time}|leaves at {time}|sets off at {time} # time: When must I be at the station for {x}?|At what hour does {x} start?
is due at {time} in {place}|gets to {place} at {time} # time: When will {x} arrive?|What is the arrival time of {x}? # place: -
is {minutes} late because of {cause}|has a delay of {minutes} due to {cause} # minutes: How big is the delay of {x}?|How long will I wait for {x}? # cause: Why is {x} late?|What delays {x}?
stops {few} times on the way|makes {few} stops # few: How many stops does {x} make?|How often does {x} halt?
does not run on {day}|runs every day but {day} # day: On which day is there no {x}?|When does {x} not run?
has seats in {few} carriages|consists of {few} carriages # few: How many carriages does {x} have?|How long is {x}, counted in carriages?
costs {price} one way|can be used for {price} # price: What is the fare for {x}?|How much is a ticket for {x}?
carries bicycles for {price}|takes bicycles along for {price} # price: What do I pay for my bicycle on {x}?|How much is it to take a bike on {x}?

email # it # the mail from {full}|the message of {full} # -
=From: {mail}. # mail: Which address was {x} sent from?|What is the address of the sender of {x}?
=Hello {person}, I hope you are well.|=Dear {person}, thanks for your call. # person: Who is addressed in {x}?|To whom was {x} written?|Who should read {x}?
=The {noun} for {company} is ready at last.|=We have finally finished the {noun} for {company}. # company: Which customer is mentioned in {x}?|For whom was the work in {x} done? # noun: What has been finished, says {x}?
=Could you send me the {adj} {nouns} by {day}?|=I need the {adj} {nouns} before {day}. # day: By when does the writer of {x} want an answer?|What is the deadline in {x}? # nouns: What does the writer of {x} ask for?|What is wanted in {x}?
=I shall be in {place} until {date}.|=Until {date} I am away in {place}. # place: Where is the writer of {x} going to be?|In which place can the writer of {x} be found? # date: Until when is the writer of {x} away?
={person} will stand in for me.|=In urgent cases turn to {person}. # person: Who takes over for the writer of {x}?|Whom can one ask while the writer of {x} is away?
=The price has gone up to {price}.|=They now want {price} for it. # price: What is the new price in {x}?|How much must be paid, says {x}?
=Let us meet in {room} at {time}.|=Please come to {room} at {time}. # room: Where does the writer of {x} want to meet?|What is the meeting place in {x}? # time: What hour does {x} set for the meeting?|When do they meet, according to {x}?
=You can call me on {phone}.|=My number is {phone}. # phone: What is the telephone number in {x}?|How can one call the writer of {x}?

minutes # it # the minutes of {date}|the {proper} minutes # -
=Present: {full}, {full2} and {few} guests.|=There were {full}, {full2} and {few} others. # few: How many more people were there, say {x}?
=The meeting was opened at {time} in {room} by {person}.|=At {time} {person} opened the meeting in {room}. # time: When did the session in {x} begin?|At what hour did people start, according to {x}? # room: Where did people sit together, according to {x}? # person: Who chaired the session in {x}?|Who started off the session in {x}?
=It was agreed to buy {few} new {nouns}.|=All agreed that {few} new {nouns} are needed. # nouns: What will be bought, according to {x}?|What purchase was decided in {x}? # few: -
={person} will write to {company}.|=A letter to {company} is left to {person}. # person: Who has to write a letter, according to {x}?|Who got a task in {x}? # company: Who will get a letter, according to {x}?|To whom will somebody write, says {x}?
=The budget is set at {sum}.|=We have {sum} to spend this year. # sum: How much money is there, according to {x}?|What budget stands in {x}?
=The plan for the {building} was rejected with {few} votes.|=With {few} votes the new {building} was turned down. # building: What was refused, according to {x}?|Which project failed in {x}? # few: How many were against it in {x}?
=The next meeting is on {date}.|=We meet again on {date}. # date: When will people meet again, according to {x}?|What is the date of the following session in {x}?

diary # it # the diary of {full}|the travel notes of {full} # -
=On {day} we reached {place} in {weather}.|={day}: arrived in {place}, {weather}. # place: Which place does the writer of {x} reach?|Where do the travellers in {x} arrive? # weather: What was the weather on arrival, according to {x}? # day: On what day do the travellers in {x} arrive?
=We slept at the {proper} Inn for {price}.|=Our bed at the {proper} Inn cost {price}. # price: What was paid for the night in {x}?|How much did the room cost, according to {x}? # proper: -
=For dinner there were {food} with {herb}.|=A farmer gave us {food} and some {herb}. # food: What did the travellers in {x} eat?|What food is mentioned in {x}?
=Our guide, {person}, knew every stone.|=We walked with {person}, a {role} from the village. # person: Who showed the travellers in {x} around?|Who went along in {x}?
=I lost my {adj} {noun} on the way.|=Somewhere along the road my {adj} {noun} disappeared. # noun: What was lost in {x}?|What does the writer of {x} miss?
=Tomorrow at {time} we go on to {place} by {rare}.|=The next stop is {place}; we leave at {time} by {rare}. # time: When do the travellers in {x} leave again?|At what hour does the journey in {x} go on? # place: Where will the travellers in {x} go next?|What is the next destination in {x}? # rare: How do the travellers in {x} go on?|What will the travellers in {x} ride in?
=We saw {few} {animal}s by the road.|=In the evening {few} {animal}s stood before the tent. # few: How many animals are counted in {x}?|How many animals did the writer of {x} see?
"""
