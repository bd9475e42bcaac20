"""People and events of the articles, in the form of `article_topics.py`."""

PEOPLE = """

inventor # person/was # {full} # an inventor from {place}|a self-taught inventor from {place} # place: Where did {x} come from?|Which place was the home of {x}?
@life
thought of {invention} in {year}|is remembered for {invention}|built {invention} in {year} # invention: What did {x} invent?|Which device do we owe to {m}?|What is {x} famous for? # year: When did {x} make {its} great invention?|In which year did {x} have {its} idea?
sold {its} patent for {sum}|got {sum} for {its} patent # sum: How much did {x} receive for {its} patent?|What was {its} patent worth?
worked for {company} for {years}|spent {years} at {company} # company: Which firm employed {m}?|Who was the employer of {x}? # years: How long did {x} stay with {its} employer?
lost a lawsuit against {company}|took {company} to court # company: Whom did {x} sue?|Against whom did {x} fight in court?
was helped by {person}, a rich {role}|got money from {person} # person: Who supported {m}?|Who paid for {its} work?

painter # person/was # {full} # a painter who lived in {place}|a portrait painter from {place} # place: Where was {x} at home?|In which place did {x} live?
@life
painted {crowd} pictures|left {crowd} pictures behind # crowd: How many works did {x} make?|What is the number of {its} paintings?
became known for {title}, a picture of {its} mother|had {its} first success with {title} # title: Which picture made {m} famous?|What is {its} best-known painting called?
worked with {colour} more than with any other colour|loved {colour} above all # colour: What was {its} favourite colour?|Which colour did {x} prefer?
travelled to {place} in {year}|spent the year {year} in {place} # place: Where did {x} travel?|Which foreign place did {x} visit? # year: When did {x} go on a journey?|In what year was {x} abroad?
sold the first picture to {person} for {price}|found a first buyer in {person} # person: Who was {its} first customer?|Who bought something from {m} first? # price: What did {x} get for the first picture?

footballer # person # {full} # a footballer from {place}|a {post} born in {place} # place: Where does {x} come from? # post: In which position does {x} play?|What is {x} on the field?
signed with {proper} United in {year}|has played for {proper} United since {year} # proper: - # year: Since when has {x} been with {its} club?|In which year did {x} sign?
has scored {many} goals|can look back on {many} goals # many: How many times has {x} hit the net?|What is the number of {its} goals?
cost the club {sum}|changed clubs for {sum} # sum: What was paid for {m}?|How expensive was {x}?|What was {its} transfer fee?
wears the number {age}|plays with the number {age} # age: Which number is on {its} shirt?|What is the shirt number of {x}?
was trained by {person} as a child|learned the game from {person} # person: Who was {its} first coach?|Who taught {m} to play?
missed {few} matches because of a bad knee|could not play for {months} # few: How many games did {x} miss? # months: How long was {x} out?
speaks {language} at home|grew up with {language} # language: What is {its} mother tongue?|Which language did {x} learn first?
plays the {instrument} in {its} free time|relaxes by playing the {instrument} # instrument: What instrument does {x} play?|What does {x} do away from football?

teacher # person # {full} # a teacher of {subject} in {place}|a teacher at the {proper} School # subject: What does {x} teach?|Which subject does {x} give lessons in? # place: Where does {x} teach? # proper: At which school does {x} work?
began at the school in {year}|has been teaching since {year} # year: Since when has {x} been a teacher?|In what year did {x} start?
gives {many} lessons a week|stands before a class {many} times a week # many: How many lessons does {x} give weekly?|What is {its} workload in lessons?
can be reached at {mail}|answers letters sent to {mail} # mail: What is {its} e-mail address?|How can one write to {m}?
sees parents on {day} at {time}|has {its} office hour on {day} # day: On which day can parents talk to {m}?|When is {its} office hour? # time: At what hour can parents come to {m}?
comes to work by {rare}|goes to school by {rare} # rare: How does {x} get to work?|What does {x} travel by?
used to be a {role}|worked as a {role} before # role: What was {its} earlier job?|What did {x} do before becoming a teacher?
lives with {few} cats|keeps {few} cats # few: How many pets does {x} have?|How many animals live with {m}?
is going to retire in {year}|will stop working in {year} # year: When will {x} retire?|What is {its} last year at work?
collects {material} {nouns}|has a collection of {nouns} # nouns: What does {x} collect?|What is {its} hobby?

match # it/was # the match of {proper} against {proper2}|the {proper} cup final # a game played in {place}|a football match in {place} # place: In which town did {x} take place?|Where was {x} played?
ended {score}|finished {score} # score: What was the result of {x}?|How did {x} end?|What was the final score of {x}?
was seen by {crowd} people|drew {crowd} spectators # crowd: How many people watched {x}?|What was the attendance at {x}?
was decided by a goal of {person}|saw the winning goal by {person} # person: Who decided {x}?|Who shot the last goal of {x}?|Thanks to whom was {x} won?
was led by the referee {person}|had {person} as its referee # person: Who was the referee of {x}?|Who blew the whistle at {x}?
was interrupted by {weather}|had to be stopped for {minutes} because of {weather} # weather: Why did {x} stop for a while?|What weather disturbed {x}? # minutes: How long was {x} interrupted?
started at {time}|kicked off at {time} # time: When did {x} begin?|At what hour was the kick-off of {x}?
was shown on {company} television|was broadcast by {company} # company: Who put {x} on the air?|Which station showed {x}?
saw {few} yellow cards|had {few} bookings # few: How many players were booked in {x}?|How many warnings were there in {x}?
cost {price} to watch from the stand|had tickets for {price} # price: What did a seat at {x} cost?|How much were tickets for {x}?

election # it/was # the {proper} election of {year}|the {proper} vote # a vote held in {place}|a local election in {place} # place: Where was {x} held?|In which place did people vote in {x}?
was won by {person}|ended with a victory of {person} # person: Who won {x}?|Who came first in {x}?|Who was the winner of {x}?
saw the defeat of {person}|ended badly for {person}, who lost {its} seat # person: Who lost {x}?|Whose defeat came with {x}?
had a turnout of {percent}|brought {percent} of the voters to the polls # percent: How many of the voters took part in {x}?|What was the turnout of {x}?
took place on {date}|was held on {date} # date: On what day was {x}?|When did people vote in {x}?
was about the new {building}|turned on the question of the {building} # building: What was the main topic of {x}?|What building did {x} turn on?
was watched by {few} observers|was followed by {few} observers from abroad # few: How many people monitored {x}?|How many observers came to {x}?
was decided by {many} votes|had a margin of {many} votes # many: How close was {x}?|What was the margin of {x}?
was counted twice because of {cause}|needed a second count after {cause} # cause: Why did the count of {x} have to be repeated?|What went wrong in the count of {x}?

experiment # it/was # the {proper} experiment|test {code} # an experiment with {acid}|a test carried out at {company} # acid: Which liquid did they use in {x}?|What was {x} made with? # company: Where was {x} done?
was led by {person}|was planned by {person} # person: Who was in charge of {x}?|Who designed {x}?|Who headed {x}?
lasted {span}|took {span} # span: How long did {x} go on?|What was the duration of {x}?
was carried out at {temp}|needed a temperature of {temp} # temp: How warm was it during {x}?|At what temperature was {x} done?
produced {gas}|set free a cloud of {gas} # gas: What came out of {x}?|Which gas formed in {x}?
had to be repeated because of {cause}|failed the first time because of {cause} # cause: What spoiled {x} at first?|Why was {x} not successful at once?
used {many} samples|was made with {many} samples # many: How many samples were part of {x}?|What was the number of samples in {x}?
turned the liquid from {colour} to {colour2}|changed the colour from {colour} to {colour2} # colour: What colour did the liquid have before {x}?|Which colour was there at the start of {x}? # colour2: What colour did the liquid have after {x}?|Which colour came out at the end of {x}?
cost {price}|was paid for with {price} # price: What was spent on {x}?|How expensive was {x}?
was reported in {month} {year}|was published in {year} # year: In which year was {x} made public?|When did the results of {x} appear? # month: -

expedition # it/was # the {proper} expedition|the climb of Mount {proper} # an expedition to the mountains of {place}|a journey into the ice of {place} # place: Where did {x} go?|What was the destination of {x}?
was led by {person}|followed {person}, an experienced guide # person: Who was the leader of {x}?|Who headed {x}?
had {few} members|was made up of {few} climbers # few: How many people took part in {x}?|How large was the group of {x}?
set out in {month} {year}|started in {month} # month: In what month did {x} leave?|When in the year did {x} set off? # year: In which year did {x} begin?
had to fight with {obstacle}|was nearly ended by {obstacle} # obstacle: What was the main difficulty of {x}?|What did {x} struggle with?
reached the top on {date}|arrived at the goal on {date} # date: When did {x} get to its goal?|On which day was {x} successful?
turned back at {height} because of {weather}|waited for better weather at {height} # height: At what altitude did {x} stop?|How high did {x} get before the halt? # weather: What made {x} turn back?
carried {weight} of food|took along {weight} of supplies # weight: How much did the supplies of {x} weigh?|What amount of food did {x} take?
was paid for by {company}|got its money from {company} # company: Who financed {x}?|Who gave the money for {x}?
was described in a book by {person}|became a book by {person} # person: Who wrote about {x}?|Who is the author of the book on {x}?
lost {few} tents in a storm|came back without {few} tents # few: How many tents did {x} lose?|How many tents were gone at the end of {x}?

case # it/was # the case {proper} against {proper2}|case {code} # a court case about {crime}|a trial for {crime} in {place} # crime: What was {x} about?|What crime was dealt with in {x}? # place: In which town was {x} heard?
was heard by judge {last}|came before judge {last} # last: Who was the judge in {x}?|Who presided over {x}?
ended with a fine of {sum}|led to a fine of {sum} # sum: What had to be paid after {x}?|How high was the fine in {x}?
lasted {months}|went on for {months} # months: How long did {x} take?|What was the length of {x}?
began on {date}|opened on {date} # date: On what day did {x} start?|When was the beginning of {x}?
turned on the evidence of {person}, a {role}|was decided by what {person} had seen # person: Who was the key witness in {x}?|Whose evidence mattered in {x}? # role: What was the job of the key witness in {x}?
was appealed by {company}|was taken to a higher court by {company} # company: Who did not accept the outcome of {x}?|Who appealed in {x}?
ended with the verdict "{verdict}"|closed with the words "{verdict}" # verdict: What was the verdict in {x}?|What did the court decide in {x}?
filled {crowd} pages of files|produced {crowd} pages # crowd: How many pages did {x} produce?|How thick were the files of {x}?
was adjourned because of {reason}|was interrupted by {reason} # reason: Why was {x} put off?|What interrupted {x}?

concert # it/was # the {proper} concert|the concert "{title}" # an evening of music in {place}|a concert in the {building} of {place} # place: Where was {x} given?|In which place was {x}? # building: In what kind of building was {x} held?
was conducted by {person}|was given under {person} # person: Who was the conductor at {x}?|Who led the orchestra in {x}?
began with a solo for {instrument}|opened with a piece for {instrument} # instrument: Which instrument was heard first at {x}?|What did one hear at the start of {x}?
was sold out in {minutes}|had no seat left after {minutes} # minutes: How quickly were the tickets for {x} gone?|How long could one buy tickets for {x}?
took place on {date}|was given on {date} # date: On what day was {x}?|What was the date of {x}?
closed with a song by {person}|ended with the voice of {person} # person: Who sang at the end of {x}?|Who was heard last at {x}?
raised {sum} for the {building}|collected {sum} # sum: How much money came together at {x}?|What did {x} bring in?
had a break of {minutes}|was divided by a break of {minutes} # minutes: How long was the break in {x}?|How much time did the audience of {x} have for a drink?
was recorded by {company}|appeared on a record of {company} # company: Which firm recorded {x}?|Who made a record of {x}?

accident # it/was # the {proper} accident|incident {code} # an accident at the {building} of {place}|an incident in {place} # place: Where did {x} happen?|In which town was {x}? # building: At what building did {x} occur?
was caused by {cause}|had its origin in {cause}|can be traced back to {cause} # cause: What led to {x}?|What was the reason for {x}?|Why did {x} occur?
led to {damage}|resulted in {damage} # damage: What was the result of {x}?|What were the consequences of {x}?
was noticed at {time} by {person}|was reported by {person} # person: Who noticed {x}?|Who raised the alarm in {x}? # time: When was {x} noticed?|At what hour did somebody see {x}?
was over after {minutes}|took {minutes} to clear up # minutes: How long did {x} last?|How long did people have trouble with {x}?
cost {sum}|caused costs of {sum} # sum: What was the bill for {x}?|How much did {x} cost?
happened on {date}|took place on {date} # date: On what date was {x}?|What day did {x} happen?
left {few} people slightly hurt|injured {few} people # few: How many were hurt in {x}?|How many people had to see a doctor after {x}?
was looked into by {company}|was investigated by {company} # company: Who examined {x}?|Who carried out the investigation of {x}?
could have been avoided with a better {noun}|would not have happened with a new {noun} # noun: What could have prevented {x}?|What was lacking before {x}?
"""
