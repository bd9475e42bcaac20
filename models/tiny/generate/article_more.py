"""More things and places of the articles, in the form of `article_topics.py`."""

MORE = """

hotel # it # the {proper} Hotel|the {adj} {animal} Hotel|Hotel {proper} # a hotel by the sea near {place}|a small hotel in {place} # place: Where would I stay in {x}?|Which place is {x} in or near?
@built
@owned
has {many} beds|offers {many} beds # many: How many guests can sleep in {x}?|What is the number of beds in {x}?
asks {price} for a night|charges {price} a night # price: How much is one night in {x}?|What do I pay to sleep in {x}?
serves breakfast until {time}|ends its breakfast at {time} # time: Until when can I eat in the morning at {x}?|At what hour is breakfast over in {x}?
is managed by {person}|is run by {person} # person: Who manages {x}?|Who runs {x}?
charges {few} euros more for a dog|lets dogs in for {few} euros # few: What is the extra charge for an animal in {x}?|How many euros must I pay for my dog in {x}?
lies {minutes} from the airport|can be reached in {minutes} from the airport # minutes: How long does the trip from the plane to {x} take?|How far is {x} from the airport?
is closed from {month} to {month2}|takes no guests from {month} to {month2} # month: When do the holidays of {x} begin?|From which month on is {x} closed? # month2: Until which month is {x} closed?|When does the break of {x} end?
can be cancelled up to {span} before arrival|accepts cancellations until {span} before arrival # span: How long before my trip can I still change my mind about {x}?|What is the notice for cancelling at {x}?

restaurant # it # the {adj} {noun}|{proper}'s kitchen|the {proper} restaurant # a restaurant in {place}|a family restaurant outside {place} # place: In or near which place is {x}?|What town do I go to for a meal at {x}?
is known for its {food} with {herb}|cooks the best {food} with {herb} # food: What should I order at {x}?|Which dish is {x} known for?|What is the speciality of {x}? # herb: What are the dishes of {x} flavoured with?
has {person} in the kitchen|lets {person} do the cooking # person: Who is the cook at {x}?|Who prepares the food at {x}?
has {many} seats|seats {many} guests # many: How many people can eat at {x} at once?|How large is {x}, in seats?
offers a lunch for {price}|serves a lunch that costs {price} # price: How much is lunch at {x}?|What do I pay at noon in {x}?
takes the last order at {time}|stops cooking at {time} # time: Until what hour can I order at {x}?|When does the kitchen of {x} close?
is closed on {day}|rests on {day} # day: On which day does {x} not serve?|When does {x} have its free day?
was opened in {year} by {person}|has existed since {year} # year: When did {x} start?|Since which year can one eat at {x}? # person: Who opened {x}?|Who is the founder of {x}?
takes bookings on {phone}|can be called on {phone} # phone: Which number do I call for a table at {x}?|How do I reserve at {x}?
has an average waiting time of {minutes}|makes its guests wait {minutes} # minutes: How long must I wait at {x}?|How much patience do I need at {x}?

island # it # {proper}|{proper} Island|the Isle of {proper} # an island off the coast of {place}|an island in the sea near {place} # place: Near which coast is {x}?|Which place is nearest to {x}?
covers {size}|measures {size} # size: How large is {x}?|What is the area of {x}?
is inhabited by {crowd} people|has {crowd} inhabitants # crowd: What is the population of {x}?|How many people live on {x}?
was discovered by {person} in {year}|was first reached by {person} # person: Who discovered {x}?|Who set foot on {x} first? # year: When was {x} discovered?|In what year did somebody first reach {x}?
can be reached by ferry from {place}|is linked by ferry to {place} # place: From which port does one get to {x}?|Where does the boat to {x} leave?
exports {cargo}|earns its money with {cargo} # cargo: What does {x} sell?|Which goods come from {x}?
speaks {language}|has {language} as its language # language: What language is used on {x}?|In which language do people talk on {x}?
rises to {height}|has a hill of {height} # height: What is the highest point of {x}?|How high is {x} at its top?
has a temperature of {cool} in {month}|is {cool} warm in {month} # cool: How warm does it get on {x}?|What is the temperature of {x}? # month: -
belonged to {person} before it became a park|was the private property of {person} until {year} # person: Who once owned {x}?|Whose property was {x}? # year: Until when was {x} private?

film # it # {title}|"{title}" # a film by {person}|a black and white film by {person} # person: Who directed {x}?|Whose film is {x}?|Who is the director of {x}?
was shot in {place}|was filmed in {place} # place: Where was {x} made?|In which place did the cameras stand for {x}?
runs for {minutes}|is {minutes} long # minutes: How long is {x}?|What is the running time of {x}?
cost {sum}|had a budget of {sum} # sum: What was spent on {x}?|How expensive was {x}?
stars {person} as a {role}|shows {person} in the part of a {role} # person: Who plays the main part in {x}?|Which actor can be seen in {x}? # role: What does the main character of {x} do?|Which part does the star of {x} play?
reached the cinemas in {month} {year}|came out in {year} # year: When was {x} first shown?|In what year was {x} released? # month: -
was seen by {crowd} people in its first week|sold {crowd} tickets in its first week # crowd: How many people went to see {x}?|How many viewers did {x} have at the start?
is based on a book by {person}|goes back to a story by {person} # person: Who wrote the story behind {x}?|Whose book was made into {x}?
was praised for its {noun}|got a prize for its {noun} # noun: What did people like about {x}?|What was praised in {x}?
may be seen from the age of {age}|is not for people under {age} # age: How old must I be for {x}?|What is the age limit of {x}?

volcano # it # Mount {proper}|the {proper} # a volcano in {place}|a volcano on the edge of {place} # place: In or near which place is {x}?|Which place has {x} as its neighbour?
is {height} high|reaches {height} # height: How tall is {x}?|What is the height of {x}?
broke out in {year}|erupted in {year}|last threw out ash in {year} # year: When was the eruption of {x}?|In what year was {x} active?
destroyed {few} farms|buried {few} farms # few: How many farms were lost to {x}?|How many farms did {x} ruin?
is watched by {person} and {few} helpers|is under the eye of {person} # person: Who observes {x}?|Who keeps watch over {x}? # few: -
gives off {gas}|breathes out {gas} # gas: What comes out of {x}?|Which gas does {x} set free?
was first climbed by {person} in {year}|was climbed by {person} # person: Who was the first at the top of {x}?|Who climbed {x}? # year: When was {x} climbed?
has a crater of {length}|is topped by a crater of {length} # length: How wide is the hole at the top of {x}?|What is the size of the crater of {x}?
may be climbed for {price}|asks climbers for {price} # price: What does a climb on {x} cost?|How much must climbers pay at {x}?

band # it # the {adj} {noun}|{proper}|{proper} {age} # a band from {place}|a rock group from {place} # place: Where does {x} come from?|What is the home of {x}?
was formed in {year} by {person}|was brought together by {person}|has played since {year} # person: Who founded {x}?|Who brought {x} together? # year: Since when has {x} existed?|In what year did {x} begin?
has {few} members|consists of {few} musicians # few: How many people play in {x}?|How large is {x}?
sold {crowd} records|found {crowd} buyers for its first record # crowd: How many records did {x} sell?|How many people bought music by {x}?
is led by {person} on the {instrument}|has {person} at the {instrument} # person: Who is the best-known member of {x}?|Which musician stands out in {x}? # instrument: Which instrument can be heard in {x}?|What instrument is played in {x}?
sings in {language}|writes its songs in {language} # language: What language does {x} use?|In which language are the songs of {x}?
was first called {proper}|started under the name {proper} # proper: What was the former name of {x}?|How was {x} called in the beginning?
split up because of {reason}|broke up after {reason} # reason: Why did {x} end?|What led to the end of {x}?
asks for {sum} a night|gets {sum} for a concert # sum: How much does {x} earn in an evening?|What must one pay to hear {x} on stage?

castle # it # {proper} Castle|Castle {proper}|the Castle of {proper} # a castle above {place}|a ruined castle near {place} # place: Which place is {x} close to?|What place lies at the foot of {x}?
@built
@visit
@owned
@harm
has {few} towers|is guarded by {few} towers # few: How many towers belong to {x}?|What is the number of towers of {x}?
was besieged for {months}|held out for {months} in a siege # months: How long was {x} under siege?|How much time did the enemy spend before {x}?
hides a well of {height}|has a well that is {height} deep # height: How deep is the well of {x}?|What depth does the well in {x} have?
served as a {building} for a while|was later used as a {building} # building: What was {x} used as?|What did people make of {x}?
is said to be haunted by {person}|has a ghost called {person} # person: Whose ghost is in {x}?|Who haunts {x}?

farm # it # {proper} Farm|the {proper} farm|the {adj} {animal} farm # a farm with {many} cows near {place}|a farm near {place} # place: Which place is {x} close to?|Near which town is {x}? # many: How many cows are kept on {x}?|What is the number of cows on {x}?
@owned
@harm
grows {food} and {food2}|produces {food} # food: What comes first among the crops of {x}?|What does {x} grow? # food2: -
is worked by {person} and {few} helpers|is run by {person} # person: Who is the farmer on {x}?|Who runs {x}? # few: -
covers {size}|has {size} of land # size: How big is {x}?|How much land belongs to {x}?
sells its milk to {company}|delivers milk to {company} # company: Who buys the milk of {x}?|Where does the milk of {x} go?
gets its water from the {proper}|is watered by the {proper} # proper: Which river supplies {x}?|Where does the water of {x} come from?
had trouble with {pest} last year|lost part of its harvest to {pest} # pest: What did harm on {x}?|What spoiled the crops of {x}?
lets rooms for {price}|takes guests for {price} a night # price: What does a night on {x} cost?|How much do guests pay on {x}?
earned {sum} last year|made {sum} last year # sum: What was the income of {x}?|How much money did {x} make?

policy # it # policy {code}|the {proper} insurance|the {company} insurance # an insurance against {cause}|an insurance sold by {company} # cause: What does {x} protect against?|Against what am I insured with {x}? # company: Who sells {x}?|Which firm offers {x}?
costs {price} a month|has a monthly price of {price} # price: What must I pay every month for {x}?|What is the premium of {x}?
pays up to {sum}|is limited to {sum} # sum: What is the most that {x} will pay?|How much can I get from {x}?
must be cancelled before {date}|can be ended until {date} # date: By what day must I give notice to end {x}?|What is the last day to leave {x}?
does not pay for {damage}|leaves out {damage} # damage: What is excluded from {x}?|Which loss will {x} not pay?
asks for a report within {span}|requires a report within {span} # span: How soon must I report something under {x}?|How much time do I have to inform {x}?
is looked after by {person}|has {person} as its agent # person: Who is my contact for {x}?|Whom do I talk to about {x}?
was changed in {month} {year}|got new terms in {year} # year: When were the terms of {x} changed?|In which year did {x} get new conditions? # month: -
gives {percent} back after a year without claims|returns {percent} if nothing happens # percent: What share does {x} return?|How much does {x} give back?

parcel # it # parcel {code}|order {code} # a parcel for {person}|a parcel on its way to {place} # person: Who will receive {x}?|For whom is {x}? # place: Where does {x} go?|What is the destination of {x}?
weighs {weight}|has a weight of {weight} # weight: How heavy is {x}?|What is the weight of {x}?
was sent by {company} on {date}|was handed in on {date} # company: Who is the sender of {x}?|From which firm does {x} come? # date: When was {x} sent?|On what day did {x} begin its journey?
contains {few} {nouns}|holds {few} {nouns} # nouns: What is in {x}?|What will I find when I open {x}? # few: How many things are in {x}?
is stuck in {place} because of {reason}|has been lying in {place} because of {reason} # reason: Why has {x} not moved on?|What is holding up {x}? # place: Where is {x} now?|In which place is {x} stuck?
will be delivered on {day} at {time}|should arrive on {day} # day: On which day may I expect {x}?|When will {x} come? # time: At what hour will {x} come?
was left with {person}, a neighbour|was given to {person} next door # person: Which neighbour has {x}?|Who took {x} in?
is insured for {price}|has an insurance value of {price} # price: How much is {x} worth?|For what sum is {x} insured?
is packed in {colour} paper|comes in a {colour} box # colour: What colour is the wrapping of {x}?|Which colour should I look for to find {x}?
"""
