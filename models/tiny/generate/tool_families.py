"""Families of tools by domain. Two lines each: `names : descriptions : parameters`, then the ways to ask, all parted by ` | `.

A parameter is `key names =maker` (`key?` may be left out); an enum's value may be said in other words: `enum high~hot,low~cold`.
"""

from .tool_families_work import WORK

DAILY = {
    "home": """
set_temperature heat_room climate.set : Sets the temperature of a room | Heats or cools one room : r room,zone,area =room ; n degrees,target,celsius =int 10 30
It is freezing in the {r}, make it {n} degrees | Set the {r} to {n} degrees | {n} degrees in the {r}, please | I would like the {r} at {n} degrees | Could the {r} be {n} degrees warm? | My guests arrive soon. Heat the {r} to {n} | Get the {r} to {n} degrees before we come home | The {r} should have {n} degrees | Thermostat {r}: {n}
turn_on_light light_on lights.enable : Switches the light on in a room | Lights up a room : r room,area,place =room
Turn on the light in the {r} | It is dark in the {r} | I cannot see anything in the {r} | Light in the {r}, please | Could you light up the {r}? | I need some light in the {r} | Switch the {r} lamp on | We are going into the {r} now, lights on please
turn_off_light light_off lights.disable : Switches the light off in a room | Makes a room dark : r room,area,place =room
Turn off the light in the {r} | The {r} can go dark now | Nobody is in the {r}, so no light there | Lights out in the {r} | I forgot the lamp in the {r}, please switch it off | Could you make the {r} dark? | It is too bright to sleep in the {r}, kill the light | {r} lamp off
dim_light set_brightness brightness : Changes how bright a lamp is | Sets the brightness of the light in a room : r room,where =room ; p percent,level,brightness =int 1 100
Dim the {r} to {p} percent | {p} percent brightness in the {r} | I want the {r} lamp at {p} percent | The {r} is too bright, go to {p} percent | Could the {r} light be at {p}%? | Film night: {r} down to {p} percent | Bring the light of the {r} to {p}%
lock_door secure_door doors.lock : Locks a door | Bolts one of the doors : d door,entrance,which =door
Lock the {d} | I am leaving, make sure nobody gets in through the {d} | Please secure the {d} | The {d} must not stay open, lock it | Can you bolt the {d}? | Did I forget the {d}? Lock it please | Close up the {d} for the night | Going to bed now, {d} locked please
unlock_door release_door doors.unlock : Unlocks a door | Opens the lock of a door : d door,entrance,which =door
Unlock the {d} | Let my brother in through the {d} | The courier stands at the {d}, let him in | I forgot my key, open the lock of the {d} | Can you release the {d} for me? | Take the bolt off the {d} | The {d} should no longer be locked | We have guests at the {d}, let them in
open_blinds raise_shutters blinds.up : Raises the blinds of a room | Lets daylight in : r room,area =room
Open the blinds in the {r} | Let the sun into the {r} | I want daylight in the {r} | Shutters up in the {r} | Raise the blinds of the {r} | Could we have some sunshine in the {r}? | Good morning, pull up the blinds in the {r}
close_blinds lower_shutters blinds.down : Lowers the blinds of a room | Keeps daylight out : r room,area =room
Close the blinds in the {r} | The sun blinds me in the {r}, lower the shutters | Shutters down in the {r} | Keep the sun out of the {r} | Can you lower the blinds of the {r}? | The neighbours can look into the {r}, close the shutters | No daylight in the {r}, please
start_vacuum clean_floor robot_clean : Sends the cleaning robot to a room | Vacuums a floor : r room,area =room ; m? mode,power =enum quiet~silent,strong~thorough
Vacuum the {r} | The floor of the {r} is dirty | Clean the {r} in {m} mode | Send the robot into the {r} | There are crumbs all over the {r} | I spilled flour in the {r}, please clean up | Could the robot do the {r}, {m} mode? | {r} floor needs cleaning
set_fan fan_speed ventilate : Sets the speed of a fan | Controls the ventilation of a room : r room,area =room ; s speed,level =enum low~slow~gentle,high~fast~strong
Fan in the {r} to {s} | I want a {s} fan in the {r} | Run the {r} fan at {s} speed | It is stuffy in the {r}, a {s} fan please | Could you set the {r} ventilator to {s}? | {s} ventilation for the {r} | The air in the {r} is bad, turn the fan to {s}
arm_alarm_system alarm.arm : Arms the burglar alarm | Switches the house alarm on : m mode,kind =enum away~vacation,night~sleep
Arm the alarm, {m} mode | Switch on the burglar alarm for {m} | Set the house alarm to {m} | We want the alarm system in {m} mode | Alarm on: {m} | Please protect the house, mode {m} | The burglar alarm should be set to {m}
""",
    "timers": """
set_timer start_countdown timer.start : Starts a timer | Counts down some minutes : n minutes,duration,length_min =int 1 180
Set a timer for {n} minutes | Tell me when {n} minutes have passed | My eggs need {n} minutes | Timer, {n} minutes | {n} minutes from now I must leave, beep then | Could you count down {n} minutes? | I am taking a nap of {n} minutes, ring afterwards | Start the clock: {n} minutes | In {n} minutes the tea is ready, let me know
cancel_timer stop_timer timer.stop : Cancels a running timer | Stops a timer before it rings : t timer,name,label =pick tea,eggs,pasta,laundry,cake,nap,oven,rice
Cancel the {t} timer | Stop the timer for the {t} | I no longer need the {t} timer | The {t} countdown can go | Forget the {t} timer | Kill the timer called {t} | Can you end the {t} timer early?
set_alarm wake_up alarms.add : Sets an alarm clock | Rings at a time of day : c time,at,alarm_time =clock ; d? day,weekday =weekday
Wake me at {c} | Set an alarm for {c} | I have to get up at {c} on {d} | Alarm at {c}, please | My train leaves early, so ring at {c} | On {d} I must be out of bed by {c} | Can you wake me on {d} at {c}? | {c} wake-up call | Do not let me sleep longer than {c}
remind_me add_reminder reminders.create : Creates a reminder | Reminds the user of something : t text,task,what =chore ; c time,when,at =clock
Remind me at {c} to {t} | At {c} I have to {t}, do not let me forget | I must not forget to {t} at {c} | Please remind me to {t} at {c} | Can you tell me at {c} that I should {t}? | Reminder for {c}: {t} | {t} - remind me of that at {c}
create_note save_note notes.add : Saves a note | Keeps a text for later : t text,note,content =text
Note: {t} | Write down "{t}" | Save a note that says "{t}" | Keep this for later: {t} | Jot this down: {t} | For my notes: "{t}" | Put "{t}" into my notes, please | I have a thought I want to keep: {t}
add_todo create_task tasks.new : Adds a task to the to-do list | Creates a to-do : t task,title,what =chore ; p? priority,importance =enum high~urgent,low~minor
Put "{t}" on my to-do list | I still have to {t}, add it to my tasks | New task: {t} | New task: {t}, priority {p} | Add a {p} task: {t} | My to-do list should contain "{t}" | Another thing to do: {t} | Task for me, {p}: {t}
complete_task finish_todo tasks.done : Marks a task as done | Ticks off a to-do : t task,title,which =chore
I managed to {t}, tick it off | Mark "{t}" as done | The task "{t}" is finished | Check off {t} | You can tick "{t}" | Done with "{t}", update my list | "{t}" is complete
""",
    "calendar": """
create_event add_appointment calendar.add : Puts an event into the calendar | Creates an appointment : t title,event,name =event ; d date,day,when =date
Put {t} into my calendar on {d} | Schedule {t} for {d} | New event: {t}, {d} | On {d} I have {t}, please enter it | {d}: {t}. Add that to the calendar | Could you block {d} for {t}? | I agreed to {t} on {d}, note it in my calendar | My calendar needs {t} on {d}
cancel_event delete_appointment calendar.remove : Removes an event from the calendar | Cancels an appointment : t title,event,name =event ; d? date,day =date
Cancel {t} | Take {t} out of my calendar | {t} on {d} is not happening, remove it | I cannot make {t}, please cancel | Drop {t} on {d} from the calendar | Call off {t} | We no longer need {t} on {d}, strike it
move_event reschedule calendar.move : Moves an event to another day | Changes the date of an appointment : t title,event,name =event ; d new_date,to,date =date
Move {t} to {d} | Can we have {t} on {d} instead? | {t} has to be shifted to {d} | Postpone {t} until {d} | {d} suits me better for {t}, please move it | Reschedule {t}: new date {d} | They put {t} off to {d}, change the calendar
list_events get_agenda calendar.day : Lists the events of a day | Shows the agenda : d date,day =date : list event
What do I have on {d}? | Show my agenda for {d} | Am I free on {d}? | {d}: anything planned? | Read me my appointments on {d} | How busy is {d}? | What does my calendar say for {d}?
find_free_slot free_time calendar.gap : Finds a free time for a meeting with somebody | Looks for a gap in two calendars : p person,with,attendee =person ; n minutes,duration =int 10 120 : slot clock
When could I meet {p} for {n} minutes? | Find {n} minutes with {p} | I need a gap of {n} minutes with {p} | {p} wants to talk for {n} minutes, when would that work? | Look for a free slot with {p}, {n} minutes long | A {n} minute meeting with {p}: when is it possible?
invite_guest add_attendee calendar.invite : Invites a person to an event | Adds an attendee : p person,guest,attendee =person ; t event,title,to =event
Invite {p} to {t} | {p} should come to {t} too | Add {p} to {t} | Could {p} join {t}? Please send the invitation | I would like to have {p} at {t} | We forgot {p} on the list for {t} | For {t}, invite {p}
""",
    "messages": """
send_email mail.send write_email : Sends an email to a person | Writes an electronic letter : p to,recipient,receiver =person ; t subject,title,topic =title
Send an email to {p} about {t} | Write to {p} by mail, subject {t} | {p} should get an email about {t} | Mail {p}: {t} | I have to write an email to {p}. The subject is {t} | An email with the subject {t} to {p}, please | Could you email {p} concerning {t}?
send_sms text_person sms.send : Sends a short text message to a phone | Texts somebody : p to,contact,name =person ; t text,message,body =text
Text {p}: {t} | Tell {p} "{t}" by text message | Send an SMS to {p} saying "{t}" | {p} has to know this, text it: {t} | Let {p} know by SMS: {t} | SMS, {p}, "{t}" | "{t}" - please text that to {p}
post_message chat.post send_to_channel : Posts a message into a chat channel | Writes into a team channel : c channel,room,where =channel ; t text,message,content =text
Post "{t}" in {c} | Write into {c}: {t} | Let the people in {c} know: {t} | Tell {c} "{t}" | {c} should read this: {t} | Could you announce "{t}" in the {c} channel? | Message for {c}: {t}
create_channel chat.open new_room : Creates a chat channel | Opens a new room for a team : c name,channel,title =channel ; b? private,closed =bool only for members/open to all
Create the channel {c} | We need a channel called {c} | Open a new room {c}, {b} | Start a chat room named {c} | Make {c}, {b} | A new channel {c} please, {b} | Could you set up {c} for us?
mute_channel silence_chat chat.mute : Stops the notifications of a chat channel | Silences a channel : c channel,room =channel
Mute {c} | {c} is too noisy, silence it | No more notifications from {c}, please | I do not want to hear from {c} | Could you quieten {c}? | Stop pinging me about {c} | Peace and quiet from {c}
call_person dial phone.call : Calls a person by telephone | Dials the number of a contact : p name,contact,person =person
Call {p} | I want to talk to {p} on the phone | Ring {p} please | Get me {p} on the line | Could you phone {p}? | Dial {p} | I promised to give {p} a ring | It is urgent, I have to speak with {p}
get_contact find_person contacts.lookup : Finds the phone number of a person | Looks into the phone book : p name,person,who =person : phone phone
What is the number of {p}? | How can I reach {p}? | Look up {p} in the phone book | Under which number do I find {p}? | I lost the number of {p} | {p}'s phone number, please | Do we have a contact for {p}?
block_sender block_contact spam.add : Blocks a sender | Puts an address on the spam list : e address,sender,email =email
Block {e} | I never want mail from {e} again | {e} is spam | Mails from {e} should go straight to the bin | Stop {e} from writing to me | {e} keeps bothering me, block it | Put {e} on the blacklist
forward_mail mail.forward : Forwards an email to another person | Passes a mail on : c id,mail,message_id =code ; p to,recipient =person
Forward mail {c} to {p} | {p} should read message {c} too | Pass {c} on to {p} | Could you send email {c} along to {p}? | Give {p} a copy of mail {c} | Message {c} is really for {p}, forward it
""",
    "flights": """
search_flights find_flight flights.search : Finds flights between two cities | Searches plane connections : a from,origin,departure =place ; b to,destination,arrival =place ; d? date,day =date : list flight
Find a flight from {a} to {b} | I want to fly from {a} to {b} | Flights to {b} from {a}, please | How can I fly from {a} to {b} on {d}? | We are in {a} and have to get to {b} by plane | {a} to {b} by air, {d} | On {d} I need a plane to {b}, starting in {a} | Is there a plane to {b}? I start in {a}
flight_status track_flight flights.status : Tells whether a flight is on time | State of a flight : f flight,number,flight_no =flight : delay duration
Is flight {f} on time? | How late is {f}? | My aunt arrives with {f}. Is it delayed? | Status of flight {f} | Has {f} landed yet? | What is going on with flight {f}? | I am waiting for {f}, when does it come?
check_in flights.checkin online_checkin : Checks a passenger in for a flight | Registers somebody for boarding : f flight,number =flight ; p passenger,name =person
Check {p} in for {f} | {p} flies with {f}, please check in | Flight {f}, check in {p} | I am {p} and want to check in for {f} | Do the check-in of {f} for {p} | Can you register {p} for boarding {f}?
add_baggage book_luggage flights.bags : Adds luggage to a booking | Books bags for a flight : c booking,reference,booking_id =code ; n bags,pieces,count =int 1 5
Add {n} bags to booking {c} | I have {n} suitcases, booking {c} | For booking {c} we need {n} pieces of luggage | {n} more bags for {c} please | Booking {c}: {n} suitcases | Can I take {n} bags with me? My booking is {c}
choose_seat seat.select flights.seat : Reserves a seat in a plane | Picks the place for a passenger : c booking,reference =code ; k kind,position,seat_type =enum window,aisle~corridor
A {k} seat for booking {c} | I would like to sit on a {k} place, reference {c} | Booking {c}, seat: {k} | Can I have a seat of the kind {k}? My booking is {c} | For {c} reserve a {k} seat | Seat wish for {c}: {k}
""",
    "travel": """
train_times find_train trains.search : Finds trains between two stations | Searches railway connections : a from,origin,start =place ; b to,destination,goal =place ; c? time,departure =clock : list train
When does a train go from {a} to {b}? | Trains from {a} to {b} after {c} | I have to be in {b}, by rail from {a} | Next train to {b} from {a} | From {a} to {b} by train, leaving at {c} | I am at the station of {a}. Which train takes me to {b}? | Rail connection {a} to {b}
book_hotel reserve_room hotel.book : Books a hotel room | Reserves nights in a hotel : l city,place,where =place ; n nights,duration =int 1 14 ; d? date,arrival,from =date
Book a hotel in {l} for {n} nights | We stay {n} nights in {l}, get us a room | I need a room in {l}, {n} nights from {d} | {n} nights in {l}, please | Find me a bed in {l} for {n} nights | From {d} on I am in {l} for {n} nights and need a hotel | Could you reserve a room for {n} nights in {l}?
cancel_booking hotel.cancel drop_reservation : Cancels a hotel booking | Gives a reserved room back : c booking,id,reference =code
Cancel the hotel booking {c} | We cannot come, please cancel reservation {c} | I do not need room {c} any longer | Give up the room of booking {c} | Reservation {c} has to be cancelled | Our trip is off. The hotel booking was {c}
rent_car hire_car cars.rent : Rents a car | Hires a vehicle in a city : l city,pickup,location =place ; n days,duration =int 1 21 ; k? kind,class =enum small~tiny,large~big~roomy
Rent a car in {l} for {n} days | I need a {k} car in {l} for {n} days | For {n} days I want to drive around {l}, hire a car | {n} days, {l}, a {k} car | Could I hire a car for {n} days? I land in {l} | We will be in {l} and need wheels for {n} days
order_taxi call_cab taxi.order : Orders a taxi | Sends a cab to an address : a from,pickup,address =address ; c? time,at =clock
Get me a taxi to {a} | I am at {a} and need a cab | Send a taxi to {a} at {c} | Pick me up at {a} at {c} by taxi | A cab for {a}, please | At {c} a taxi should stand at {a} | Can a taxi come to {a}?
visa_rules entry_requirements : Tells whether a visa is needed for a country | Entry rules of a country : l country,destination =country : answer yesno
Do I need a visa for {l}? | What are the entry rules of {l}? | May I travel to {l} without a visa? | Visa for {l}? | I plan a trip to {l}. Are papers needed? | Which documents does {l} ask for at the border?
packing_list suggest_packing : Suggests what to pack for a trip | Makes a packing list : l destination,place =place ; n days,length =int 2 20 : list object
What should I pack for {n} days in {l}? | Packing list: {l}, {n} days | I am off to {l} for {n} days, what goes into my bag? | Make me a list of things to take to {l} for {n} days | {n} days in {l}. What do I take along? | Which clothes and things belong into a suitcase for {n} days in {l}?
""",
    "maps": """
get_route directions maps.route : Finds the way between two places | Gives directions : a from,start,origin =place ; b to,goal,destination =place ; m? mode,by =enum walking!on foot,cycling!by bike,driving!by car : distance distance
How do I get from {a} to {b}? | Show me the way from {a} to {b} | Way to {b} from {a}, {m} | I am in {a} and want to go to {b}, {m} | Directions, {a} to {b} | Which road leads from {a} to {b}? | Guide me to {b}. I start at {a}
get_distance how_far maps.distance : Tells how far two places are apart | Distance between places : a from,place_a,first =place ; b to,place_b,second =place : distance distance
How far is it from {a} to {b}? | Distance between {a} and {b} | How many kilometres lie between {a} and {b}? | Is {b} far away from {a}? | What separates {a} from {b} in kilometres? | {a} - {b}: how far?
find_nearby places_near maps.nearby : Finds a kind of place near an address | Searches the surroundings : k kind,category,type =poi ; a near,address,location =address : list title
Where is the next {k} around {a}? | Find a {k} near {a} | I am at {a} and need a {k} | Is there a {k} close to {a}? | {k} near {a} | Around {a}, which {k} is nearest? | We are looking for a {k} not far from {a}
traffic_report traffic maps.traffic : Tells about traffic on a road | Reports jams : o road,street,highway =road : delay duration
Is there a jam on the {o}? | How is the traffic on {o}? | {o}: any delays? | I have to take the {o}, is it free? | Are cars moving on the {o}? | Traffic news for {o}, please
find_parking parking.search : Finds a place to park | Looks for free parking : a near,address,where =address ; n? hours,duration =int 1 12
Where can I park near {a}? | I need a parking space at {a} for {n} hours | Park the car around {a} | Parking near {a}, {n} hours | We will leave the car for {n} hours close to {a} | Is there any room for a car at {a}?
save_place add_bookmark maps.pin : Saves an address under a name | Pins a place : t name,label =pick home,work,gym,school,grandma,garage,office,cabin ; a address,location =address
Save {a} as {t} | {t} is at {a}, remember it | Pin {a} under the name {t} | My {t} address is {a}, store it | Call {a} "{t}" on my map | Bookmark {a} and label it {t}
""",
    "weather": """
get_weather current_weather weather.now : Gets the weather of a place | Tells how the weather is : l city,location,place,town =place ; d? day,date =relday : weather
What is the weather in {l}? | Will it rain in {l}? | Do I need an umbrella in {l}? | Is it cold in {l} {d}? | How is it outside in {l}? | Can we have a picnic in {l} {d}? | Sun or rain in {l}? | I travel to {l} {d}. What will the sky look like? | weather {l} | Should I take a coat to {l}?
air_quality get_pollution : Tells how clean the air is | Measures air pollution in a city : l city,place,station =place : index number
How clean is the air in {l}? | Is the air in {l} bad? | Pollution in {l}? | Can I breathe well in {l}? | I have asthma and live in {l}. How is the air? | Smog level of {l}
sunrise_time get_sunrise sun.rise : Tells when the sun rises | Time of sunrise : l city,place =place ; d? date,day =date : sunrise clock
When does the sun come up in {l}? | Sunrise in {l} on {d} | At what time will it get light in {l}? | First light in {l}? | I want to see the sun rise in {l} on {d}. When? | How early is dawn in {l}?
sunset_time get_sunset sun.set : Tells when the sun sets | Time of sunset : l city,place =place ; d? date,day =date : sunset clock
When does it get dark in {l}? | Sunset in {l} on {d} | When does the sun go down in {l}? | How long do we have daylight in {l}? | Dusk in {l}, when is it? | On {d} we watch the sun set in {l}. At what time?
tide_table get_tides : Tells the time of high or low water | Tides at a port : l port,place,harbour =place ; k tide,kind =enum high~flood,low~ebb : time clock
When is {k} tide in {l}? | {l}, {k} tide | At what time is the {k} tide at {l}? | Our boat lies in {l}, when is the next {k} tide? | I need the {k} tide of {l} | Tell me the {k} tide for the port of {l}
snow_report ski_conditions : Tells how much snow lies in a ski area | Snow depth for skiers : l resort,area,place =place : depth distance
How much snow is there in {l}? | Can we ski in {l}? | Snow in {l}? | Is the piste of {l} open? | We want to go sledging in {l}. Is there enough snow? | Conditions on the slopes of {l}
""",
    "astronomy": """
planet_position find_planet sky.planet : Tells where a planet stands in the sky | Position of a planet : p planet,body,object =planet ; l? from,observer,city =place : height number
Where is {p} tonight? | In which direction do I find {p}? | I want to see {p} from {l} | Can one see {p} over {l}? | Point me to {p} | Position of {p} for {l} | I have a telescope in {l}. Where does {p} stand?
moon_phase get_moon sky.moon : Tells the phase of the moon on a day | How full the moon is : d date,day =date : phase moon
Is it full moon on {d}? | What does the moon look like on {d}? | Moon on {d} | How bright will the moon be on {d}? | On {d} we camp outside. What phase does the moon have? | Phase of the moon, {d}
next_eclipse find_eclipse : Finds the next eclipse | When sun or moon are darkened : k kind,body =enum solar~sun,lunar~moon ; l place,country =place : date date
When is the next {k} eclipse in {l}? | Eclipse, {k}, as seen from {l} | I live in {l} and wait for an eclipse, {k} | Will there be an eclipse, {k}, over {l}? | {l}: next {k} eclipse | Find an eclipse in {l}, {k}
iss_pass satellite_pass : Tells when the space station flies over a place | Next pass of the station : l city,place =place : time clock
When does the space station fly over {l}? | Next time the station passes {l} | Can I see the space station from {l}? | We are in {l}. When will the station be overhead? | Space station above {l}? | I am in {l} and want to wave at the astronauts, when do they come by?
""",
    "cooking": """
find_recipe search_recipe recipes.find : Finds a recipe for a dish | Looks up how to cook something : o dish,food,name =dish ; n? servings,people =int 2 12 : time duration
How do I cook {o}? | Recipe for {o} | I want to make {o} for {n} people | {n} guests are coming and I promised them {o}. How is it made? | Show me how {o} is prepared | We feel like {o} tonight, give me a recipe | What goes into {o}?
what_to_cook recipes.by_ingredients : Suggests a dish from ingredients | Finds meals for what is in the fridge : i ingredients,items,have =list ingredient : list dish
What can I cook with {i}? | I only have {i} at home. What could I eat? | {i}: make something of it | My fridge has {i}, suggest a meal | Suggest a dish with {i} | There are {i} left. Ideas for dinner?
preheat_oven oven.heat : Heats the oven | Sets the oven to a temperature : n degrees,temperature,celsius =int 80 250 ; m? mode,heat =enum fan~circulating air,grill~heat from above
Preheat the oven to {n} degrees | Oven, {n} degrees | Oven to {n}, mode {m} | My cake needs {n} degrees in the oven | I am baking soon, get the oven to {n} | Could the oven heat up to {n} degrees? | Make the oven {n} degrees hot, {m}
count_calories nutrition.energy : Tells the calories of a food | Energy in a portion : o food,dish,item =dish ; n grams,weight =int 20 800 : energy number
How many calories do {n} grams of {o} have? | I ate {n} g of {o}, how much energy is that? | {n} grams {o}: calories? | Calories in {n} g of {o} | Will {n} grams of {o} make me fat? Tell me the calories | What is the energy of {o}, {n} grams of it?
scale_recipe recipes.scale : Changes the amounts of a recipe for more or fewer people | Adapts a recipe to a number of people : o recipe,dish =dish ; n servings,people,portions =int 2 30
Change the {o} recipe to {n} portions | We are {n} for {o}, adapt the amounts | The recipe for {o} should serve {n} | Scale {o} for {n} people | I need {o} in an amount for {n} guests, recalculate it | {n} portions of {o} instead, please adapt
substitute replace_ingredient : Finds a substitute for an ingredient | What to use when something is missing : o ingredient,item,missing =ingredient : substitute ingredient
What can I use instead of {o}? | I have no {o}. Any replacement? | {o} ran out, what else works? | A substitute for {o}, please | I am allergic to {o}, what do I take in its place? | Can one replace {o}?
wine_pairing match_wine : Suggests a wine for a dish | Which wine goes with a meal : o dish,meal,food =dish : wine proper
Which wine goes with {o}? | We eat {o}, what should we drink? | A wine for {o} | I serve {o} tonight. Red or white? | What do I pour with {o}? | Match a bottle to {o}
""",
    "restaurant": """
book_table reserve_table tables.book : Reserves a table in a restaurant | Books a restaurant table : c restaurant,name,place =title ; n people,guests,persons =int 2 12 ; t time,at =clock
Book a table at {c} for {n} people at {t} | We are {n} and want to eat at {c} at {t} | Table for {n} at {t}, {c} | At {t} we come to {c}, {n} of us, please reserve | {c}, {t}, {n} persons | I would love to dine at {c} at {t}, a party of {n} | Are there {n} free seats at {c} at {t}? Reserve them
find_restaurant restaurants.search : Finds restaurants by kind of food | Where to eat : k cuisine,food,kind =cuisine ; l city,near,location =place : list title
Find a {k} restaurant in {l} | Where can I eat {k} food in {l}? | {k} food near {l} | I am hungry and in {l}. Something {k} would be nice | Does {l} have a good {k} place? | In {l}, who cooks {k}? | We fancy {k} tonight, we are in {l}
order_food delivery.order get_takeaway : Orders food to the home | Has a meal delivered : o dish,item,food =dish ; n quantity,count,portions =int 2 9 ; a? address,to =address
Order {n} portions of {o} | {n} times {o} to {a} | We want {o} delivered, {n} portions | Bring {n} portions of {o} to {a} | I am too tired to cook, get {n} portions of {o} | Takeaway: {o}, {n} of them | Please have {n} servings of {o} delivered to {a}
get_menu show_menu restaurants.menu : Shows the menu of a restaurant | What a restaurant serves : c restaurant,name =title : list dish
What does {c} serve? | Show the menu of {c} | What is on the card at {c}? | I wonder what one can eat at {c} | Menu, {c} | Does {c} have anything for me? Let me see its dishes
""",
    "shopping": """
add_to_list shopping.add add_item : Adds something to the shopping list | Notes what to buy : o item,product,name =goods ; n quantity,count,amount =int 2 30
Add {n} {o} to the shopping list | I need {n} {o} from the shop | Put {n} {o} on the list | We are out of {o}, buy {n} | {n} {o} are missing, note it | Next time in the shop we get {n} {o} | Shopping: {o}, {n} of them | The list should have {n} {o}
remove_from_list shopping.drop remove_item : Takes something off the shopping list | Strikes an item from the list : o item,product,name =goods
Take {o} off the shopping list | We already have {o}, strike them | No {o} after all | I found {o} in the cellar, so do not buy any | {o} can go from the list | Forget the {o}, we do not need to buy them
search_products find_product shop.search : Searches a shop for products | Finds goods for sale : o query,product,name =object ; n? max_price,limit,budget =int 5 500 : list title
I want to buy a {o} | Show me a {o} below {n} euros | Is there a {o} for sale? | Find a {o} in the shop | Looking for a {o}, {n} euros at most | My budget is {n} euros, and I need a {o} | Which {o} do you sell?
order_status track_order orders.track : Finds the state of an order | Tells where a parcel is : c order_id,order,number =code : status status
Where is my order {c}? | What is the status of order {c}? | Track {c} | Has {c} been sent? | I am still waiting for {c} | When will parcel {c} be here? | {c} has not arrived, what happened? | Any news about my order? The number is {c}
return_item start_return orders.return : Sends an ordered product back | Starts a return : c order_id,order,number =code ; w reason,why =reason
I want to return order {c}, it is {w} | Send {c} back, reason: {w} | Order {c} is {w}, take it back please | My parcel {c} was {w}. I would like to return it | Return, {c}, {w} | Because it is {w} I do not keep order {c}
apply_coupon redeem_code cart.coupon : Uses a voucher for the cart | Redeems a discount code : c code,coupon,voucher =code
Use the voucher {c} | I have a discount code: {c} | Redeem {c} | Apply coupon {c} to my cart | My friend gave me the voucher {c}, take it off the price | {c} should make it cheaper
compare_prices price_check : Compares what a product costs in several shops | Finds the cheapest shop : o product,item =object : price price
Where is a {o} cheapest? | Compare prices for a {o} | Which shop has the best price for a {o}? | I do not want to pay too much for a {o} | {o}: price comparison | How much do shops ask for a {o}?
size_guide find_size : Tells the clothing size for a body height | Finds the right size : n height_cm,height =int 140 205 ; k garment,item =pick shirt,jacket,coat,dress,pullover,suit : size size
I am {n} cm tall, which size of {k} do I need? | Size of a {k} for {n} cm | What {k} fits somebody of {n} cm? | {k}, {n} cm: size? | At {n} centimetres, what size should my {k} have? | Which number is sewn into a {k} for people of {n} cm?
""",
    "health": """
book_doctor make_doctor_appointment clinic.book : Makes an appointment with a doctor | Reserves a time in a practice : k doctor,specialist,kind =doctor ; d date,day =date
I need a {k} on {d} | Appointment with a {k} on {d} | Can I see a {k} on {d}? | My back hurts. Get me to a {k} on {d} | Book me a {k} for {d} | {d} would suit me for a visit to the {k}
log_medicine take_pill meds.log : Records that a medicine was taken | Notes a dose : m medicine,drug,name =proper ; n dose_mg,dose,mg =int 5 800
I took {n} mg of {m} | {m}, {n} mg, just swallowed | Note {n} mg {m} for today | Log my dose: {n} milligrams of {m} | Just had {m}, {n} mg | Write down that I had {n} mg of {m}
check_interaction meds.compare : Checks whether two medicines go together | Interaction of drugs : a first,drug_a,a =proper ; b second,drug_b,b =proper : risk risk
Can I take {a} with {b}? | Do {a} and {b} go together? | Is it safe to mix {a} and {b}? | The doctor gave me {a}, but I already take {b}. Any danger? | Interaction between {a} and {b} | {a} plus {b}: risky?
log_weight record_weight body.weight : Records the body weight | Notes how heavy somebody is : n kilograms,weight,kg =num 40 120
I weigh {n} kg | My weight today is {n} kilograms | The scales show {n} | Enter {n} kg | {n} kilos this morning | Note my weight, {n} kg | I am down to {n} kg
log_blood_pressure pressure.add : Records a blood pressure | Notes upper and lower pressure : a systolic,upper,high =int 90 190 ; b diastolic,lower,low =int 50 110
My blood pressure is {a} over {b} | {a} to {b}, blood pressure | Note {a}/{b} | I measured {a} over {b} | Record a blood pressure of {a} over {b} | Upper value {a}, lower value {b}
find_pharmacy open_pharmacies : Finds a pharmacy that is open | Where to get medicine : l city,near,place =place : name title
Where can I get medicine in {l}? | Open pharmacy in {l} | I need pills and I am in {l} | Is there a chemist open in {l}? | {l}: which pharmacy is on duty? | My child has fever, we are in {l}. Where do we get drugs?
""",
    "fitness": """
log_run record_run sport.run : Records a run | Notes how far somebody ran : n kilometres,distance,km =num 2 42 ; m minutes,time,duration =int 12 240
I ran {n} km in {m} minutes | Ran {n} kilometres today, it took {m} minutes | {n} km, {m} minutes, running | Note my run: {m} minutes for {n} kilometres | After {m} minutes of running I had {n} km behind me | My jog was {n} km long and took {m} minutes
log_swim record_swim sport.swim : Records how far somebody swam | Notes a swim : n metres,distance,length =int 100 4000
I swam {n} metres | {n} m in the pool today | Note a swim of {n} metres | Today in the water: {n} metres | Swimming, {n} m | I did {n} metres at the lake
start_workout begin_training workout.start : Starts a training programme | Begins exercises : k program,kind,type =enum strength~muscles,yoga~stretching,cardio~endurance ; n minutes,duration,length =int 5 90
{n} minutes of {k} | I want to train {k} for {n} minutes | Start a {k} workout of {n} minutes | Let us do {k}, {n} minutes | Give me {n} minutes of training in {k} | I have only {n} minutes, do {k} with me
set_step_goal daily_steps goals.steps : Sets how many steps to walk a day | Daily aim of steps : n steps,goal,target =int 2000 25000
My goal is {n} steps a day | I want to walk {n} steps daily | {n} steps from now on | Set my daily aim to {n} steps | Make me walk {n} steps every day | The doctor says {n} steps a day
log_water drink_water water.add : Records how much somebody drank | Notes water : n millilitres,amount,ml =int 100 900
I drank {n} ml of water | {n} millilitres of water, note it | A glass of {n} ml went down | Add {n} ml to my water | Just had {n} ml | {n} ml more water for today
book_class gym.book reserve_class : Reserves a place in a sports class | Signs up for a class at the gym : k class,course,sport =sport ; d day,date =weekday
Book me into {k} on {d} | I want to do {k} on {d} | A place in the {k} class on {d} | {d}: {k} class for me | Is there room in {k} on {d}? Take a place | Sign me up, {k}, {d}
""",
    "games": """
start_game new_game games.start : Starts a game against the computer | Begins a match : g game,name,which =game ; l? level,difficulty =enum easy~beginner,hard~expert
Let us play {g} | Start {g} | I feel like a round of {g} | {g}, level {l} | Fancy a game of {g}? | A match of {g}, I play at {l} level | Open {g} for me
make_move play_move games.move : Makes a move on the board | Moves a piece : a from,source,start =square ; b to,target,end =square
From {a} to {b} | I move {a} to {b} | My piece on {a} goes to {b} | {a}-{b} | Push what stands on {a} over to {b} | I play {a} to {b}
get_score high_score games.score : Tells the score of a player | How many points somebody has : p player,name,user =person ; g game,title =game : score number
How many points does {p} have in {g}? | Score of {p} in {g} | Is {p} any good at {g}? | {g}: how is {p} doing? | What did {p} reach in {g}? | Tell me the record of {p} at {g}
invite_player challenge games.invite : Invites somebody to a game | Challenges a player : p player,friend,opponent =person ; g game,name =game
Invite {p} to {g} | I want to beat {p} at {g} | Ask {p} for a round of {g} | {g} against {p} | Challenge {p}: {g} | Would {p} play {g} with me? Send the invitation
buy_game_item game_shop.buy : Buys an item in a game | Spends coins on equipment : o item,object,name =object ; n coins,price,cost =int 5 900
Buy the {o} for {n} coins | I take the {o}, here are {n} coins | {n} coins for the {o} | My hero needs the {o}, it costs {n} coins | Spend {n} coins on the {o} | Trade {n} of my coins for the {o}
""",
    "media": """
play_music play_song music.play : Plays a piece of music | Starts a song : t song,title,track =title ; p? artist,by,band =person
Play {t} | I want to hear {t} | Put on {t} by {p} | {t}, please, the one by {p} | Some music: {t} | Could we listen to {t} by {p}? | My favourite song is {t}, let it run | Music! {t}!
add_to_playlist playlist.add queue_song : Adds a song to a playlist | Puts a track on a list : t song,track,title =title ; l playlist,list,name =proper
Add {t} to {l} | {t} belongs on my playlist {l} | Put {t} on {l} | {l} should also contain {t} | For the list {l}: {t} | I like {t}, keep it in {l}
set_volume volume audio.level : Sets how loud the speakers are | Changes the volume : n percent,level,volume =int 1 100
Volume {n} | Make it {n} percent loud | I can hardly hear it, go to {n} percent | That is too loud, {n} percent please | Turn the speakers to {n} | The loudness should be {n} percent
find_movie cinema.search showtimes : Tells when a film is shown in a cinema | Finds showings : t film,movie,title =title ; l city,place,near =place : time clock
When is {t} on in {l}? | Where in {l} can I see {t}? | Showings of {t} in {l} | I want to watch {t}, I am in {l} | {l} cinemas: {t}? | At what time does {t} start in {l}?
buy_tickets cinema.tickets : Buys cinema tickets | Reserves seats for a film : t film,movie,show =title ; n tickets,seats,count =int 2 9
{n} tickets for {t} | Buy {n} seats for {t} | We are {n} and want to see {t} | Get us into {t}, {n} persons | {t}, {n} tickets please | Reserve {n} places for {t}
rate_movie add_rating films.rate : Saves a rating for a film | Gives stars to a film : t film,title,movie =title ; n stars,rating,points =int 1 5
I give {t} {n} stars | {t} deserves {n} stars | Rate {t} with {n} | {n} stars for {t} | I saw {t} yesterday: {n} of 5 stars | My verdict on {t}? {n} stars
resize_image image.resize scale_picture : Changes the size of a picture | Scales an image : f file,image,path =image ; w width,w,px_width =int 50 2000 ; h height,h,px_height =int 50 2000
Resize {f} to {w} by {h} | {f} should be {w} x {h} pixels | Make {f} {w} pixels wide and {h} high | I need {f} with a width of {w} and a height of {h} | {w} times {h} for {f} | {f} is too large, bring it to {w} by {h} pixels
rotate_image image.rotate turn_picture : Turns a picture | Rotates an image by degrees : f file,image,picture =image ; n degrees,angle,by =pickint 45,90,180,270
Rotate {f} by {n} degrees | {f} lies on its side, turn it {n} degrees | Turn {f} {n} degrees | {n} degrees rotation for {f} | Could {f} be rotated by {n} degrees? | My head hurts when I look at {f}, turn it by {n} degrees
apply_filter image.filter : Applies a filter to a picture | Changes the look of a photo : f file,image,photo =image ; k filter,effect,style =enum grayscale!black and white~grey,blur!blurred~out of focus,sharpen!sharper~crisper
Make {f} {k} | I want {f} {k} | {f} should look {k} | Could you make the photo {f} {k}? | {f}, but {k} | The picture {f} would be nicer {k}
get_news headlines news.search : Finds news about a topic | Reads headlines : t topic,about,query =topic ; n? count,limit,articles =int 2 12
What is new about {t}? | News on {t} | {n} headlines about {t} | Did anything happen with {t}? | I want to read {n} articles on {t} | Keep me informed: {t} | What do the papers say about {t}?
match_result game_result sports.score : Tells how a match ended | Result of a team : t team,club,name =proper ; d? date,day =date : score score
How did {t} play? | Result of {t} on {d} | Did {t} win? | I missed the match of {t}. How did it end? | Score of {t} on {d} | Was it a good day for {t}?
league_table standings sports.table : Shows the table of a league | Ranking of the teams : k league,sport,competition =sport : leader proper
Who leads in {k}? | Table of the {k} league | {k} standings | Which team is first in {k}? | How does the {k} ranking look? | Show me the order of the teams in {k}
""",
    "vehicle": """
start_charging charge_car car.charge : Charges the electric car up to a percentage | Fills the battery of a car : n percent,target,limit =int 20 100
Charge the car to {n} percent | I need a long ride tomorrow, battery to {n}% | Fill the car battery up to {n} percent | {n} percent charge, please | Plug in and stop at {n} percent | The car should have {n} percent
lock_car car.lock : Locks a car | Closes a vehicle with the key : c plate,car,vehicle =plate
Lock the car {c} | I left {c} open, close it | {c} should be shut against thieves | Please lock up {c} | Nobody must get into {c} | Did I leave {c} unlocked? Lock it
open_car unlock_car car.open : Unlocks a car | Opens the locks of a vehicle : c plate,car,vehicle =plate
Unlock {c} | I stand before {c} and lost the key | Open {c} for me | My wife has to get into {c} | Let me into the car {c} | {c}: doors open please
find_fuel gas_prices fuel.search : Finds cheap fuel | Prices at petrol stations : l city,place,near =place ; k fuel,kind,type =enum diesel,petrol~gasoline : price price
Where is {k} cheap in {l}? | Price of {k} in {l} | I need {k} and I am near {l} | {l}: {k}, how much? | The tank is empty, {k}, somewhere around {l} | Cheapest {k} in {l}
book_service garage.book car_inspection : Makes an appointment at the garage | Has a car serviced : c plate,car,vehicle =plate ; d date,day,when =date
Bring {c} to the garage on {d} | {c} needs new oil, book {d} | An appointment for {c} on {d} at the workshop | On {d} somebody should look at the brakes of {c} | Service for {c}, {d} | {c} makes strange noises, can the mechanic see it on {d}?
tire_pressure check_tires car.tires : Tells the pressure of the tyres | Checks the tyres of a car : c plate,car,vehicle =plate : pressure number
Do the tyres of {c} need air? | Tyre pressure of {c} | Check the wheels of {c} | {c} feels soft on the road, how are the tyres? | How many bar do the tyres of {c} have? | Before the trip, have a look at the tyres of {c}
report_accident claim.new : Reports an accident to the insurance | Opens a claim for a damaged vehicle : c plate,car,vehicle =plate ; l place,where,city =place
I had an accident with {c} in {l} | Someone hit {c} in {l} | {c} was damaged in {l}, tell the insurance | In {l} I drove {c} into a wall | Report a crash: {c}, {l} | My insurance should hear about {c}, it happened in {l}
""",
    "knowledge": """
define_word dictionary.lookup get_meaning : Explains what a word means | Looks a word up in a dictionary : w word,term,entry =anyword : meaning text
What does {w} mean? | Define {w} | Meaning of {w} | I do not understand the word {w} | Look {w} up in the dictionary | Explain the word {w} | Somebody called me a {w}, what is that?
find_synonyms thesaurus synonyms.get : Finds words with the same meaning | Lists similar words : w word,term,of =anyword : list word
Another word for {w} | Synonyms of {w} | What could I write instead of {w}? | I used {w} too often, give me alternatives | Words like {w} | Is there a nicer word for {w}?
find_rhyme rhymes words.rhyme : Finds words that rhyme | Looks for a rhyme : w word,with,term =anyword : list word
What rhymes with {w}? | A rhyme for {w} | My poem needs something that ends like {w} | Find words that sound like {w} at the end | I write a song and want to rhyme {w} | {w} rhymes with what?
search_books library.search find_book : Finds books in the library | Looks into the catalogue : a author,writer,by =person ; t? title,book,name =title : list title
Which books by {a} do you have? | Is {t} by {a} in the library? | Books of {a} | I love {a}, show me what you have | Find {t}, written by {a} | Catalogue: {a} | Do you have anything {a} wrote?
borrow_book library.borrow reserve_book : Reserves a book for a reader | Lends a book : t title,book,name =title ; c card,reader,card_id =code
I want to borrow {t}, my card is {c} | Lend me {t}, reader {c} | Reserve {t} for card {c} | Card {c}: put {t} aside | Keep {t} for me, my number is {c} | {t} for reader {c}, please
extend_loan library.renew : Prolongs the loan of a book | Gives a reader more time : t title,book,name =title ; n weeks,duration,time =int 2 8
Prolong {t} by {n} weeks | I need {n} more weeks for {t} | I have not finished {t}, {n} weeks more please | Can I keep {t} for another {n} weeks? | {t}: {n} weeks longer | {n} weeks more for {t}, if nobody waits for it
get_population inhabitants places.population : Tells how many people live in a place | Population of a town : l city,place,town =place : population number
How many people live in {l}? | Population of {l} | How big is {l}? | Is {l} a large town? Count its people | {l} has how many inhabitants? | Number of souls in {l}
get_time local_time clock.now : Tells the time in a city | What the clocks show somewhere : l city,location,timezone =place : time clock
What time is it in {l}? | How late is it in {l}? | Are people in {l} already asleep? What is the time there? | Local time of {l} | My sister lives in {l}, which hour is it there? | Clock in {l}?
public_holidays get_holidays : Lists the public holidays of a country in a year | Days off in a country : l country,place =place ; y year,in =intyear : list day
Which days are free in {l} in {y}? | Public holidays {l} {y} | When do people in {l} not work in {y}? | In {y}, which holidays does {l} have? | Holidays of {l} for the year {y} | I plan my leave for {y} in {l}, when is everything closed?
""",
}
DOMAINS = {**DAILY, **WORK}
