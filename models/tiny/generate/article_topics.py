"""Things and places of the articles: head (noun # pronoun # names # what it is # questions), then an attribute a line: wordings # slot: questions."""

TOPICS = """
lighthouse # it # {proper} Light|the {proper} lighthouse|{proper} Point # a lighthouse near {place}|a lighthouse on the coast of {place} # place: Near which place is {x}?|What is the nearest place to {x}?
@built
@owned
@harm
is {height} tall|reaches a height of {height}|rises {height} above the rocks # height: How high is {x}?|What height does {x} have?|How far does {x} rise into the air?
shines over a distance of {length}|has a light that can be seen from {length} away|sends its beam {length} out to sea # length: How far does the light of {x} reach?|From what distance can {x} be seen?|What is the range of {x}?
was run by {few} keepers until {year}|lost its last keeper in {year}|has worked without a keeper since {year} # year: Until when did people work at {x}?|Since when has {x} been automatic?|When did the last keeper leave {x}?
is painted {colour} and {colour2}|wears {colour} and {colour2} stripes # colour: -
has {many} steps|can be climbed by {many} steps # many: How many stairs lead up {x}?|How many steps must you climb at {x}?

bridge # it # the {proper} Bridge|{proper} Bridge|the Bridge of {proper} # a bridge across the {proper}|a bridge over the river {proper} # proper: Which river does {x} cross?|What water runs under {x}?
@built
@owned
measures {length} from end to end|is {length} long|has a length of {length} # length: How long is {x}?|What is the distance from one end of {x} to the other?|What length does {x} have?
carries {crowd} cars a day|is used by {crowd} cars every day # crowd: How much traffic passes over {x} daily?|How many vehicles cross {x} in a day?
was opened by {person} on {date}|was inaugurated on {date} # person: Who opened {x}?|Who performed the opening of {x}? # date: On what day was {x} opened?|When could people cross {x} for the first time?
connects {place} with {place2}|links {place} to {place2} # place: -
has been closed to lorries since {year}|may not be used by lorries since {year} # year: Since when are lorries banned from {x}?|When were heavy vehicles forbidden on {x}?
is supported by {few} pillars|stands on {few} pillars|rests on {few} piers # few: How many columns carry {x}?|How many supports does {x} have?

ship # it # the {title}|the {proper}|the MS {proper} # a ship that carries {cargo}|a ship from {place} # place: What is the home port of {x}?|Where does {x} come from? # cargo: What does {x} carry?|What kind of freight is {x} meant for?
was launched in {year} at {place}|left the shipyard of {company} in {year}|was built by {company} # year: When was {x} built?|In which year did {x} first float? # place: Where was {x} built?|In which place was {x} launched? # company: Which shipyard made {x}?|Who built {x}?
is driven by {engine}|moves with the help of {engine} # engine: What powers {x}?|What sort of drive does {x} have?|What makes {x} move?
makes {speed}|can do {speed}|reaches {speed} at best # speed: How fast is {x}?|What is the top speed of {x}?|How quickly can {x} go?
was commanded by {person}|sailed under {person}|had {person} as its captain # person: Who was the captain of {x}?|Who was in command of {x}?|Who led the crew of {x}?
carried a crew of {many}|needed {many} sailors # many: How many people worked on board {x}?|How large was the crew of {x}?
sank off {place} in {year}|went down near {place} in {year}|was lost near {place} in {year} # place: Where did {x} sink?|Near what place does the wreck of {x} lie? # year: When did {x} go down?|In what year was {x} lost?
was first called the {proper} and later renamed|bore the name {proper} at first # proper: What was the original name of {x}?|How was {x} called before?
@owned

museum # it # the {proper} Museum|the Museum of {proper}|the {proper} Collection # a museum of {show} in {place}|a small museum of {show} in {place} # show: What can be seen in {x}?|What does {x} collect?|What is {x} about? # place: In which place is {x}?|Where can I find {x}?
@built
@visit
@owned
shows {crowd} objects|owns {crowd} pieces|has {crowd} items in its rooms # crowd: How big is the collection of {x}?|How many things does {x} display?
is run by {person}|is headed by {person}|has {person} as its director # person: Who is the head of {x}?|Who leads {x}?|Who manages {x}?
had to close in {year} because of {reason}|was closed in {year} after {reason} # year: In what year did {x} close?|When did {x} have to shut? # reason: Why did {x} close?|What led to the closing of {x}?
is proudest of {material} {nouns}|shows {material} {nouns} in its first room # material: -

library # it # the {proper} Library|the {place} reading room # a public library in {place}|a library in {place} # place: In which town is {x}?|Where is {x}?
@built
holds {crowd} books|has {crowd} volumes on its shelves # crowd: How many books are there in {x}?|How large is the stock of {x}?
lends books for {months}|lets you keep a book for {months} # months: How long may I keep a book from {x}?|What is the loan period of {x}?|After what time must books go back to {x}?
charges {price} a week for late books|asks for {price} per week if a book is late # price: What is the fine of {x} for late books?|How much do I pay if I return a book late to {x}?
lends up to {few} books at a time|allows {few} books per reader # few: How many books may I borrow at once from {x}?|What is the limit on loans at {x}?
is open until {time} on {day}|closes at {time} on {day} # time: Until what hour can I stay in {x}?|At what time does {x} shut?
was left to the town by {person}|was a gift of {person} # person: Who gave {x} to the public?|To whom do the readers owe {x}?|Who donated {x}?

village # it # {proper}|{place} # a village in the {adj} hills near {place}|a village of {crowd} people near {place} # place: Near which place is {x}?|What lies close to {x}? # crowd: How many people live in {x}?|What is the population of {x}?
is known for its {craft}|lives from {craft}|has always been famous for {craft} # craft: What is {x} known for?|What do the people of {x} live from?|What made {x} famous?
was first mentioned in {year}|appears in a document of {year} # year: When is {x} first mentioned?|How far back does the first record of {x} go?|What is the oldest date we know for {x}?
has a mayor called {person}|is governed by {person}|elected {person} mayor # person: Who is the mayor of {x}?|Who is at the head of {x}?
lies {height} above the sea|is {height} above sea level # height: At what altitude is {x}?|How high up is {x}?
lost {few} houses in the flood of {year}|was flooded in {year} # year: When did water come into {x}?|In what year was the flood in {x}? # few: How many houses did the flood destroy in {x}?
holds its market on {day}|has a market every {day} # day: When is market day in {x}?|On which day of the week are there stalls in {x}?
got its railway station in {year}|has had a railway station since {year} # year: Since when do trains stop in {x}?|When was {x} connected to the railway?
has a church of {stone}|is built around a {stone} church # stone: What is the church of {x} made of?|Which material was used for the church in {x}?

lake # it # Lake {proper}|the {proper} Lake # a lake in the north of {place}|a lake near {place} # place: In or near which region is {x}?|Which place is nearest to {x}?
covers {size}|has an area of {size}|is spread over {size} # size: How big is {x}?|What is the surface of {x}?|How much land does {x} cover?
is {height} deep|goes down to {height}|reaches a depth of {height} # height: How deep is {x}?|How far is it to the bottom of {x}?|What is the greatest depth of {x}?
is fed by the {proper}|gets its water from the {proper} # proper: Which river flows into {x}?|Where does the water of {x} come from?
is home to {fish}|is full of {fish}|is the home of many {fish} # fish: Which animals live in {x}?|What can you find in the water of {x}?
freezes in {month}|is covered with ice from {month} # month: When does {x} freeze?|In which month does ice form on {x}?
can be crossed by ferry for {price}|has a ferry that costs {price} # price: What is the fare for the ferry on {x}?|How much does a trip across {x} cost?
was created by a dam in {year}|came into being in {year}, when a dam was built # year: When did {x} come into being?|Since what year is there water in {x}?
was explored by {person}|was first mapped by {person} # person: Who drew the first map of {x}?|Who explored {x}?

festival # it # the {proper} Festival|the {adj} {noun} festival|the Feast of {proper} # a festival held in {place}|a yearly festival in {place} # place: Where is {x} held?|In which town can you visit {x}?
takes place in {month}|is celebrated in {month}|is held each {month} # month: In which month is {x}?|What is the time of year for {x}?|When do people celebrate {x}?
goes on for {few} days|lasts {few} days # few: How many days does {x} last?|How many days do people celebrate {x}?
was started by {person} in {year}|goes back to {person}|began in {year} # person: Who had the idea of {x}?|Who is the founder of {x}? # year: When was {x} held for the first time?|In what year did {x} begin?
ends with {dance}|closes with {dance} # dance: How does {x} end?|What comes at the end of {x}?|What is the last event of {x}?
draws {crowd} guests|brings {crowd} people into the streets # crowd: How many people visit {x}?|What is the attendance of {x}?
was cancelled in {year} because of {reason}|could not be held in {year} after {reason} # year: In which year did {x} not happen?|When was {x} called off? # reason: Why was {x} called off?|What stopped {x} that year?
was opened this year by {person}|had {person} as its guest of honour this year # person: Who was invited to {x} this year?|Who appeared at {x} this year?
is paid for by {company}|gets its money from {company} # company: Who sponsors {x}?|Which firm supports {x}?

dish # it # {proper} stew|{proper} soup|{proper} pie # a dish from {place}|a traditional dish from {place} # place: Where does {x} come from?|In what place do people eat {x}?
is made from {food} and {food2}|consists mainly of {food} with some {food2} # food: What is the main ingredient of {x}?|What goes into {x} first of all?
is seasoned with {herb}|gets its taste from {herb}|owes its flavour to {herb} # herb: Which spice is used for {x}?|What gives {x} its flavour?|What do cooks put into {x} for the taste?
takes {minutes} to cook|must cook for {minutes}|is left on the fire for {minutes} # minutes: How long does {x} need?|What is the cooking time of {x}?|After what time is {x} done?
is baked at {temp}|needs an oven of {temp} # temp: How hot must the oven be for {x}?|At what temperature is {x} prepared?
is enough for {few} people|serves {few} # few: How many people can eat from {x}?|For how many guests is {x} meant?
is eaten on {day}|is traditionally served every {day} # day: On what day do people have {x}?|Which is the day for {x}?
was invented by {person} in {year}|was first cooked by {person} # person: Who cooked the first {x}?|Whose idea was {x}?|To whom do we owe {x}? # year: Since what year has {x} existed?|When was {x} cooked for the first time?
costs {price} at the market|is sold for {price} a plate # price: What do I pay for {x}?|How expensive is {x}?

garden # it # {proper} Garden|the {proper} Park|the Garden of {proper} # a public garden in {place}|a botanical garden outside {place} # place: Where can you walk in {x}?|Which town is {x} in or near?
@visit
was laid out by {person} in {year}|is the work of {person}|was planted in {year} # person: Who created {x}?|Which gardener planned {x}?|Whose work is {x}? # year: When was {x} made?|In which year was {x} planted?
is best known for its {plant}|is full of {plant} # plant: Which plants is {x} known for?|What grows in {x}?|What should I look for in {x}?
measures {size}|is spread over {size} # size: How large is {x}?|What is the area of {x}?
suffers from {pest}|has had trouble with {pest} # pest: What is a problem for {x}?|What does harm to {x}?|What do the gardeners of {x} fight?
is in full bloom in {month}|looks best in {month} # month: When is the best time to see {x}?|In what month is {x} most beautiful?
is watered from a well of {stone}|has a fountain of {stone} # stone: -
employs {few} gardeners|is kept by {few} gardeners # few: How many people work in {x}?|What is the staff of {x}?

species # it # the {proper} {animal}|the {adj} {animal} of {proper}|the {proper} newt # an animal that lives in {habitat}|a rare animal from {place} # habitat: In what surroundings does {x} live?|What sort of country does {x} like?|What is the habitat of {x}? # place: Where does {x} come from?|In which part of the world does {x} live?
feeds on {prey}|eats {prey}|lives on {prey} # prey: What is the diet of {x}?|What does {x} eat?|What is the food of {x}?
grows up to {weight}|weighs {weight} # weight: How heavy is {x}?|What is the weight of {x}?|How much can {x} weigh?
lays {few} eggs|has {few} young a year # few: How many young does {x} have?|How many offspring can be expected from {x}?
reaches an age of {years}|lives for {years} # years: How old can {x} get?|What is the lifespan of {x}?|How long does {x} live?
was discovered by {person} in {year}|was first described by {person}|has been known since {year} # person: Who found {x}?|Who was the first to describe {x}?|By which naturalist was {x} discovered? # year: When did science learn of {x}?|In what year was {x} found?
is threatened by {reason}|has become rare because of {pest} # reason: What puts {x} in danger? # pest: Why has {x} become rare?
has a {colour} belly and a {colour2} back|is {colour2} above and {colour} below # colour: What colour is the underside of {x}?|Which colour does {x} have below? # colour2: Which colour does {x} have above?|What colour is the upper side of {x}?
sleeps from {month} to {month2}|hides in the ground from {month} until {month2} # month: From what month on does {x} rest?|When does the winter sleep of {x} begin? # month2: When does {x} wake up?|Until which month does {x} rest?
is active at night and runs at {speed}|can run at {speed} # speed: How fast is {x}?|What speed does {x} reach?

planet # it # {proper}|{proper} {age}|{proper}-{age} # a planet that circles the star {proper}|a moon of {proper} # proper: What does {x} circle?|Around which body does {x} move?
takes {span} for one orbit|goes around once in {span} # span: How long is a year on {x}?|How long does one trip of {x} around its centre take?|What is the orbital period of {x}?
was found by {person} in {year}|was discovered in {year}|was first seen by {person} # person: Who discovered {x}?|Which astronomer found {x}?|Who saw {x} first? # year: When was {x} discovered?|Since what year do we know {x}?
has an atmosphere of {gas}|is wrapped in {gas}|is surrounded by {gas} # gas: What does the air of {x} consist of?|Which gas surrounds {x}?|What is there around {x}?
has {few} moons|is accompanied by {few} small moons # few: How many satellites does {x} have?|How many bodies go around {x}?
has a surface temperature of {temp}|is heated to {temp} by day # temp: How hot does it get on {x}?|What is the temperature of {x}?
was visited by the probe {title} in {year}|saw the landing of the probe {title} # title: Which spacecraft reached {x}?|What was sent to {x}? # year: When did a probe arrive at {x}?
has a diameter of {length}|measures {length} across # length: How large is {x}?|How wide is {x}?|What is the diameter of {x}?
looks {colour} through a telescope|appears {colour} from afar # colour: Which colour does {x} have for an observer?|What does {x} look like, by colour?

novel # it # {title}|"{title}"|The {noun} of {proper} # a {genre} by {person}|a book by {person} # person: Who wrote {x}?|Which author do we owe {x} to?|Who is the author of {x}? # genre: What sort of book is {x}?|To what genre does {x} belong?
came out in {year}|was printed for the first time in {year}|reached the bookshops in {year} # year: When was {x} published?|In what year did {x} appear?
is set in {place}|takes the reader to {place} # place: Where does {x} take place?|What is the setting of {x}?|In which place does the story of {x} happen?
tells the story of a {role} called {full}|follows {full}, a poor {role} # full: Who is the main character of {x}?|What is the name of the hero of {x}?|Whose story does {x} tell? # role: What is the job of the hero in {x}?|What does the main character of {x} do for a living?
has {many} pages|runs to {many} pages # many: How long is {x}, in pages?|What is the number of pages of {x}?
was written in {language} and translated by {person}|was brought into English by {person}|was first written in {language} # language: What is the original language of {x}?|In which language was {x} written? # person: Who translated {x}?|Who made the English version of {x}?
sold {crowd} copies|found {crowd} buyers # crowd: How many people bought {x}?|What was the sale of {x}?
was banned in {place} for {years}|was forbidden in {place} # place: Where was {x} not allowed?|Which place did not permit {x}?
won the {proper} Prize|was given the {proper} Prize # proper: -
was turned into a film by {person}|was filmed by {person} # person: Which director made a film of {x}?|Who brought {x} to the cinema?

company # it # {company} # a company in {place} that makes {nouns}|a maker of {nouns} in {place} # place: Where does {x} have its seat?|In which place does {x} work?|Where is {x} based? # nouns: What does {x} produce?|Which goods does {x} make?
was set up by {person} in {year}|goes back to {person}|has existed since {year} # person: Who founded {x}?|Who is the founder of {x}?|Who got {x} started? # year: When was {x} established?|In what year did {x} begin?
employs {crowd} people|has {crowd} people on its payroll|gives work to {crowd} people # crowd: How many workers does {x} have?|What is the size of the staff of {x}?|How many people work for {x}?
is led by {person}|has had {person} at its head since {year}|has been run by {person} since {year} # person: Who is the boss of {x}?|Who manages {x}?|Who is the head of {x} today? # year: Since when has {x} had its present boss?
earned {sum} last year|closed the year with a profit of {sum} # sum: What was the profit of {x}?|How much money did {x} make?
was bought by {company} in {year}|was taken over by {company} # company: Who took {x} over?|Which firm acquired {x}? # year: When did {x} change hands?
sold {nouns} at first, then moved on to {nouns2}|began with {nouns} and later turned to {nouns2} # nouns: What was the first product of {x}?|What did {x} sell in the beginning? # nouns2: What did {x} turn to later?|What came after the first product of {x}?
moved to {place} because of {reason}|left {place} because of {reason} # reason: Why did {x} move?|What made {x} leave?
opened a branch in {place}|has a second factory in {place} # place: Where is the other site of {x}?|In what place does {x} have a branch?

house # it # {proper} Cottage|{proper} House|the house at {many} {proper} Street # a house for rent in {place}|a small house to let near {place} # place: In or near which place is {x}?|Which town would be mine if I rented {x}?
can be rented for {price} a month|costs {price} per month # price: What is the rent of {x}?|How much must a tenant of {x} pay?|What would I pay monthly for {x}?
has {few} bedrooms|offers {few} bedrooms # few: How many people could have a room of their own in {x}?|How many bedrooms are there in {x}?
has {area} of living space|measures {area} # area: How big is {x}?|What is the floor area of {x}?
is free from {date}|becomes available on {date} # date: From when can I move into {x}?|When is {x} free?|What is the earliest moving date for {x}?
is heated with {material} pellets|is heated by a {adj} stove # adj: -
requires a deposit of {price}|comes with a deposit of {price} # price: What security must be paid for {x}?|How much is the deposit for {x}?
is let by {person}|belongs to {person} # person: Who is the landlord of {x}?|Who is the owner of {x}?|From whom can I rent {x}?
can be viewed on {day} at {time}|can be seen at {time} # day: On which day can I look at {x}?|When is the viewing of {x}? # time: At what hour can I view {x}?
is {minutes} from the station on foot|is a walk of {minutes} from the station # minutes: How long do I walk from the train to {x}?|How far is {x} from the station?
was renovated in {year}|got a new roof in {year} # year: When was work last done on {x}?|In what year was {x} improved?
"""
