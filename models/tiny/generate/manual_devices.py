"""Facts of invented devices, and rows of tables (error codes, options, keys, plans), written as in `manual_programs.py`."""

DEVICES = """
use # d # intro #
v = cuts {os}|dries {os}|measures {os} at night|cleans {os} and {os2}|prints labels for {os}|keeps {os} warm|counts {os} on a belt|lifts heavy {os}|cools {os} in summer|lights up {os}|records the sound of {os}
> {x} {v}.|In short: {x} {v}.|{x} is a {noun} that {v}.
- Use|What it does|Purpose|In short
= use|purpose
? What does {x} do?|What is {x} good for?|What is {x} made for?|Why would I buy {x}?|What is {x} meant to do?|what does {x} do exactly|In a few words, what does {x} do?|What can I do with {x}?|What is the job of {x}?
battery # d # power # battery
v = {2..90} hours|{2..30} days|{1..9}.5 hours|{2..9} weeks|up to {5..60} hours
> The battery of {x} lasts {v}.|{x} runs for {v} on one charge.|Fully charged, {x} works for {v}.|One charge of {x} is enough for {v}.
- Battery life|Running time|Battery|Works for
= battery_life|runtime
@ battery life|running time
? How long does the battery{of} last?|How long does {x} run on one charge?|For how long can I use {x} without a socket?|How long until {x} is empty?|battery{of}?|How much time does a full battery give{for}?|how long can {x} run
charging # d # power # battery
v = {20..90} minutes|{1..9}.5 hours|{2..14} hours|about {2..12} hours
> {x} is full again after {v}.|Charging {x} takes {v}.|An empty battery of {x} needs {v} to fill.|Leave {x} on the cable for {v} to charge it.
- Charging time|Time to charge|Full after|Charging
= charging_time|charge
@ charging time
? How long does it take to charge {x}?|How long must {x} charge?|When is {x} full again?|How much time does charging take{for}?|charging time{of}?|After what time is the battery{of} full?|how long to charge {x}
socket # d # power #
v = USB-C|Micro-USB|a {5..48} V plug|the {W} plug|a {5..24} V adapter|USB-A|the magnetic {W} cable
> {x} is charged over {v}.|To charge {x}, use {v}.|{x} takes its power from {v}.|Power comes to {x} through {v}.
- Charging port|Power supply|Charged over|Connector
= connector|power_supply
@ charging port|power connector
? With what is {x} charged?|What plug does {x} have?|Which cable charges {x}?|How do I charge {x}?|which charger{for}?|Through what does power come{to}?|What do I use to charge {x}?
watts # d # power #
v = {2..3000} W|{2..3000} watts|{1..9}.{1..9} kW|{2..60} W
> {x} draws {v}.|The power of {x} is {v}.|At full load {x} uses {v}.|{x} is rated at {v}.
- Power|Power draw|Consumption|Rated power
= power|watts
@ power consumption|rated power
? How much power does {x} draw?|How many watts does {x} have?|How much electricity does {x} use?|What power does {x} need?|watts{of}?|How strong is the motor{of}, in watts?|What is {x} rated at?
weight # d # measures #
v = {50..990} g|{1..40}.{1..9} kg|{1..90} kg|{50..950} grams
> {x} weighs {v}.|The weight of {x} is {v}.|With all parts {x} weighs {v}.|{x} brings {v} to the scales.
- Weight|Weighs|Net weight|Mass
= weight|mass
@ weight
? How much does {x} weigh?|How heavy is {x}?|What does {x} weigh?|weight{of}?|How many grams or kilograms is {x}?|what is the mass{of}|Is {x} heavy, and how much is it on the scales?
dimensions # d # measures #
v = {5..90} x {5..90} x {1..60} cm|{20..900} x {20..900} mm|{10..90} by {10..90} cm|{2..30} x {2..30} x {1..9} inches
> {x} measures {v}.|The size of {x} is {v}.|{x} takes up {v} on the table.|Its case makes {x} {v} large.
- Dimensions|Size|Measures|Outer size
= dimensions|size
@ dimensions|outer size
? How big is {x}?|What size is {x}?|How large is the case{of}?|What are the measurements{of}?|size{of}?|How much space does {x} take up?|how wide and long is {x}?
warranty # d # service #
v = {2..10} years|{6..60} months|one year|{2..5} years
> {x} comes with a warranty of {v}.|The maker of {x} gives a warranty of {v}.|Faults of {x} are repaired free for {v}.|For {v} after the purchase, {x} is under warranty.
- Warranty|Guarantee|Free repair for|Under warranty for
= warranty|guarantee
@ warranty period|length of the warranty
? How long is the warranty{of}?|What warranty does {x} have?|For how long is {x} repaired free?|How long is {x} under guarantee?|warranty{of}?|When does the warranty{of} end, counted from the purchase?|how many years or months of warranty{for}
temperature # d # use # range
v = {0..9} to {20..60} °C|-{5..40} to {30..70} °C|{5..20} °C to {30..50} °C|{30..50} to {80..120} °F
> Use {x} at {v} only.|{x} works at {v}.|{x} may be used at temperatures of {v}.|The air around {x} should have {v}.
- Temperature|Working temperature|Use at|Temperature range
= temperature|working_temperature
@ working temperature|temperature range
? At which temperatures does {x} work?|How cold or warm may it be around {x}?|In what temperatures may I use {x}?|What temperature does {x} stand?|temperature{of}?|How much cold or heat does {x} take?|at what temperature should {x} be used
reach # d # use # range
v = {5..90} metres|{100..900} m|{1..30} km|{20..300} feet
> {x} works over a distance of {v}.|The range of {x} is {v}.|{x} can be reached from {v} away.|Up to {v} may lie between {x} and its remote control.
- Range|Distance|Works over|Reach
= range|distance
@ range|reach
? How far does {x} reach?|Over what distance does {x} work?|From how far away can {x} be used?|How far may I be from {x}?|range{of}?|What distance does {x} manage?|how far away does {x} work
noise # d # use #
v = {15..90} dB|{15..90} decibels|{15..30}.{1..9} dB
> {x} makes a noise of {v}.|The sound of {x} is {v}.|At full speed {x} is {v} loud.|{x} hums at {v}.
- Noise|Sound level|Loudness|Volume
= noise|sound_level
@ noise level|sound level
? How loud is {x}?|How much noise does {x} make?|How many decibels does {x} have?|Is {x} loud, and how much?|noise{of}?|How quiet is {x}?|what noise level does {x} have
material # d # measures #
v = {ma}|{ma} and {ma2}|{a} {ma}|recycled {ma}
> The case of {x} is made of {v}.|{x} has a case of {v}.|What the case of {x} is made of is {v}.|For the case of {x} we use {v}.
- Case|Material|Made of|Case material
= material|case
@ material of the case
? What is the case{of} made of?|Of what material is {x}?|What is {x} made from?|Which material has the case{of}?|material{of}?|What did they use for the case{of}?|what is the body{of} made of
colours # d # measures #
v = {colour} and {colour2}|{colour}, {colour2} and {colour3}|{colour}|dark {colour} or {colour2}
> {x} comes in {v}.|You can have {x} in {v}.|{x} is sold in {v}.|The shops have {x} in {v}.
- Colours|Colors|Available in|Sold in
= colours|colors
@ available colours|colors
? In which colours can I get {x}?|What colour is {x}?|What colors does {x} come in?|In which colors is {x} sold?|colours{of}?|Which colours are there{for}?|what color is {x}
included # d # box #
v = {ao}, {ao2} and {ao3}|{ao} and {k} {os}|{ao} and {ao2}|{k} {os} and {ao}|{ao}
> In the box of {x} you find {v}.|{x} comes with {v}.|The box of {x} holds {v}.|Together with {x} you get {v}.
- In the box|Included|Comes with|Delivered with
= included|box
@ contents of the box
? What is in the box{of}?|What comes with {x}?|What do I get together with {x}?|Which parts are delivered with {x}?|box contents{of}?|What is included{with}?|what else is in the package{of}
serial # d # service #
v = on the back|under the battery|inside the lid|on the bottom|below the {noun2}|on a label next to the {noun2}|inside the battery door
> The serial number of {x} is {v}.|You find the serial number of {x} {v}.|Look {v} for the serial number of {x}.|The plate with the serial number of {x} sits {v}.
- Serial number|Place of the serial number|Number plate|Serial number found
= serial_number|serial_plate
@ place of the serial number
? Where is the serial number{of}?|Where do I find the serial number{of}?|Where is the number plate{of}?|Where do I look for the serial number{of}?|where can I see the serial no{of}|On what part{of} is the serial number?|serial number place{of}?
reset # d # service #
v = hold the {noun2} button for {2..30} seconds|press {W} and {W2} together|pull the plug for {2..30} minutes|turn the {noun2} twice|press the {colour} button {k} times|open the lid and press the {colour} key
> To reset {x}, {v}.|If {x} no longer answers, {v}.|When you want to set {x} back to its first state, {v}.|If you wish to clear all settings of {x}, {v}.
- Reset|To reset|Factory reset|Back to the first state
= reset|factory_reset
? How do I reset {x}?|How can I set {x} back?|What do I do to clear all settings{of}?|How is {x} reset?|how to reset {x}|What must I do when {x} no longer answers?|factory reset{of}?|How do I bring {x} back to its first state?
madein # d # about #
v = {l}
> {x} is made in {v}.|The factory of {x} is in {v}.|{x} comes from a factory in {v}.|We build {x} in {v}.
- Made in|Country or town of make|Factory|Place of make
= made_in|factory
@ place of make|country of origin
? Where is {x} made?|In what place is {x} built?|Where does {x} come from?|Where is the factory{of}?|made where{for}?|From which place is {x}?|where do they build {x}
cleaning # d # service # care
v = a damp cloth|a soft brush|warm water and soap|alcohol|a dry {ma} cloth|cold water only|{W} cleaner|a little vinegar
> Clean {x} with {v}.|Use {v} to clean {x}.|{x} should be cleaned with {v}.|When {x} is dirty, take {v}.
- Cleaning|Clean with|To clean|Care
= cleaning|clean_with
? With what do I clean {x}?|How do I clean {x}?|What should I clean {x} with?|How is {x} cleaned?|how to clean {x}|What do I use when {x} is dirty?|cleaning{of}?|What takes the dirt off {x}?
price # psd # price # price
v = {m}|{10..990}.{10..99} EUR|{5..900} USD|${5..900}
> {x} costs {v}.|The price of {x} is {v}.|You pay {v} for {x}.|{x} is sold for {v}.
- Price|Costs|Sold for|Retail price
= price|cost
@ price
? How much is {x}?|What does {x} cost?|How much does {x} cost?|What do I pay{for}?|price{of}?|how expensive is {x}|For how much is {x} sold?
maker # d # about #
v = {co}|{W} Works
> {x} is built by {v}.|The company behind {x} is {v}.|{v} is the maker of {x}.|{x} is a product of {v}.
- Maker|Company|Manufacturer|Built by
= maker|manufacturer
@ manufacturer|maker|company
? Which company builds {x}?|Who builds {x}?|What firm is behind {x}?|By which company is {x} made?|brand{of}?|Whose product is {x}?|who manufactures {x}
spare # d # service #
v = {c}|{letter}{letter2}-{100..9999}
> The spare filter of {x} has the number {v}.|Order a new filter for {x} under {v}.|The part number of the filter of {x} is {v}.|Ask for {v} when {x} needs a new filter.
- Spare filter|Filter number|New filter|Part number of the filter
= filter|spare_filter
@ part number of the filter|order number of the filter
? Which filter fits {x}?|Under what number do I order a filter{for}?|What is the filter{of} called?|Which spare filter does {x} need?|filter{for}?|What do I ask for when I need a new filter{for}?|filter no{of}?
interval # d # service #
v = every {2..12} weeks|after {20..900} hours|once a year|every {2..24} months
> Change the filter of {x} {v}.|The filter of {x} should be changed {v}.|{x} wants a new filter {v}.|Put a new filter into {x} {v}.
- Change the filter|Filter change|New filter needed|Filter interval
= filter_change|filter_interval
? How often does the filter{of} need a change?|When do I change the filter{of}?|How often should I put in a new filter{for}?|When is a new filter due{for}?|how often new filter{for}|How long does a filter{of} stay in?|When must the filter{of} be replaced?|At what interval is the filter{of} changed?
"""

ROWS = """
error # psd # errors # Code/Meaning/What to do
a = E{1..99}|E{100..999}|ERR-{10..99}|{letter}{10..99}|{1000..9999}|0x{10..99}
v = the {noun2} is open|the {noun2} is missing|too hot|no connection to the {noun2}|the disk is full|the {noun2} is blocked|the password is wrong|no {os} found|the clock is wrong|the cable is loose|out of {os}
u = close the {noun2}|restart the {noun2}|wait {2..60} minutes|call {co}|free some space|replace the {noun2}|check the cable|type {slug2} repair|turn it off and on|add {os}|sign in again
> {a} means: {v}. In this case, {u}.|On {a} ({v}), {u}.|If you see {a}, the cause is "{v}" and the cure is: {u}.
? What does {a} mean{on}?|What is the cause of {a}{on}?|What does the error {a} stand for{on}?|Why do I see {a}{on}?|meaning of {a}{on}?|{a}{on} - what is that?|I get {a}{on}. What is wrong?|What is the matter when {a} appears{on}?
?u What should I do about {a}{on}?|How do I fix {a}{on}?|What helps against {a}{on}?|How do I get rid of {a}{on}?|fix for {a}{on}?|I see {a}{on}. What now?|What is the cure for {a}{on}?|What do I do when {a} comes up{on}?
?a Which code means "{v}"{on}?|What code is shown when it says {v}{on}?
option # ps # options # Option/What it does/Default
a = --{w}|--{w}-{w2}|--max-{w}|--no-{w}|-{letter}|--{w}-size
v = sets the number of {os}|hides the {os}|chooses the {noun2}|limits the {os} per page|prints more about {os}|names the folder for {os}|sorts by {noun2}|skips {os}
u = {1..900}|{2..90} MB|{w}|true|false|{1..90}s|none|auto
> {a} {v}; the default is {u}.|With {a}, {x} {v} (default: {u}).|{a} {v}. Without it, {u} is used.
? What does {a} do{in}?|What is {a} for{in}?|What happens if I pass {a}{to}?|Why would I use {a}{with}?|explain {a}{of}|{a}{of} does what?|What does the option {a} change{in}?|What is the effect of {a}{in}?
?u What is the default of {a}{in}?|What is {a} if I say nothing{to}?|Which value does {a} have at first{in}?|default for {a}{in}?|What is used without {a}{in}?|What value does {a} take by default{in}?|{a} default{in}?|How is {a} preset{in}?
?a Which option {v}{in}?|Which flag {v}{in}?|What do I pass{to} for this: {v}?
key # ps # keys # Key/What it does
a = Ctrl+{letter}|Alt+{letter}|F{1..12}|Ctrl+Shift+{letter}|Shift+F{1..12}|{letter}|Cmd+{letter}
v = opens the {noun2}|closes the {noun2}|saves the {noun2}|shows all {os}|hides the {os}|deletes the {noun2}|copies the {noun2}|jumps to the next {noun2}|undoes the last step
> {a} {v}.|Press {a} and {x} {v}.|In {x}, {a} {v}.
? What does {a} do{in}?|What happens when I press {a}{in}?|What is {a} for{in}?|Which action has the key {a}{in}?|{a}{in}?|explain {a}{in}|What do I get with {a}{in}?|What is the effect of {a}{in}?
?a Which key {v}{in}?|What do I press{in} for this: {v}?|shortcut that {v}{in}?|Which shortcut {v}{in}?
plan # s # price # Plan/Price/Limit
a = Free|Team|Pro|Basic|{W}|Starter|Business|{W} Plus|Solo|School
v = {m}|${1..90} a month|{1..900} euros a year|nothing|{2..90} EUR per user
u = {2..900} {os}|{1..90} GB|unlimited {os}|{2..90} users|{2..9}0,000 requests
> The plan {a} costs {v} and gives you {u}.|With {a} you get {u} for {v}.|{a}: {u}, {v}.
? How much is the {a} plan{of}?|What does {a} cost{at}?|What do I pay for {a}{at}?|price of {a}{at}?|How expensive is the plan {a}{of}?|What is the price of {a}{at}?|How much does {a}{at} cost me?|what would {a} cost{at}
?u What do I get with {a}{at}?|How much is included in {a}{at}?|What is the limit of {a}{at}?|What does the {a} plan{of} include?|limit of {a}{at}?|Up to what can I use {a}{at}?|How far does {a} go{at}?|What does {a} allow{at}?
?a Which plan costs {v}{at}?|Which plan gives me {u}{at}?|Which plan{of} is the one with {u}?
light # d # lights # Light/Meaning
a = blinking {colour}|steady {colour}|flashing {colour}|pale {colour}
v = the battery is low|charging|ready|no {noun2} found|an update is running|the {noun2} is full|waiting for {os}|the {noun2} is too hot|recording
> A {a} light means: {v}.|If the lamp of {x} is {a}: {v}.|When {x} shows a {a} light, it tells you this: {v}.
? What does the {a} light{of} mean?|What does a {a} lamp{on} tell me?|Why is the lamp{of} {a}?|What is meant by {a}{on}?|{a} light{on}?|The lamp{of} is {a}. What does it say?|what does {a} mean{on}|What is going on when the light{of} is {a}?
?a Which light{of} means "{v}"?|What does the lamp{of} look like for "{v}"?
change # psd # changes # Version/Change/Date
a = {0..9}.{0..30}.{0..9}|v{1..9}.{0..30}|20{10..29}.{1..12}
v = can export {os}|starts faster|no longer loses {os}|has a new {noun2}|reads {EXT} files|knows {lang3}|the {noun2} was removed|a mistake with {os} was repaired
u = {da}|20{10..29}-0{1..9}-{10..28}|{mo} {2005..2029}
> Version {a} ({u}): {v}.|In {a}, out on {u}: {v}.|{u} was the day of {a}: {v}.
? What is new in {a}{of}?|What changed with {a}{of}?|What did version {a}{of} bring?|changes in {a}{of}?|What is different in {a}{of}?|What does the release {a}{of} say?|what's in {a}{of}|Tell me what came with {a}{of}.
?u When was {a}{of} released?|When did {a}{of} come out?|Of what date is {a}{of}?|date of {a}{of}?|On what day was version {a}{of} published?|What is the date of {a}{of}?|when was {a}{of}?|Since when is there a version {a}{of}?
?a In which version{of} is this new: {v}?|Which release{of} is dated {u}?|Which version{of} came out on {u}?
subcommand # ps # commands # Command/What it does
a = {slug} {w}|{slug} {w} --{w2}|{t} {w}|{slug} {verb}
v = lists all {os}|removes old {os}|adds {ao}|prints the {noun2}|repairs the {noun2}|sends {os} to the server|counts the {os}|makes a new {noun2}|shows the {noun2}
> {c} {v}.|The command {c} {v}.|Type {c} and {x} {v}.
? What does {a} do{in}?|What is {a} for{in}?|What happens when I type {a}?|explain {a}{in}|Why would I run {a}?|what is the effect of {a}|{a}?|What do I get from {a}{in}?
?a Which command {v}{in}?|What do I type{in} for this: {v}?|command that {v}{in}?|With which command do I get this{in}: {v}?
folder # p # layout # Folder/What is in it
a = {w}/|src/{w}|{w}/{w2}|docs/{w}|lib/{w}/|tests/{w}
v = the {os}|the code of the {noun2}|pictures of {os}|tests of the {noun2}|the translations|scripts for {os}|old {os}|tools for the {noun2}
> The folder {c} has {v}.|In {c} there are {v}.|{c} is for {v}.
? What is in {a}{of}?|What do I find under {a}{in}?|What is the folder {a}{of} for?|What does {a} hold{in}?|contents of {a}{in}?|Which files are in {a}{in}?|{a}{in}?|what is kept in {a}{of}
?a Where do I find {v}{in}?|Which folder{of} has {v}?|Where are {v}{in}?|In which folder{of} are {v}?
button # d # buttons # Button/What it does
a = {W}|{colour}|MODE|{W2}|SET|the left button|the right button|the round button|PLAY
v = starts the {noun2}|turns the light on|locks the {noun2}|makes it louder|sets the clock|chooses the next {noun2}|opens the lid|stops everything
> Press {a}, and this is what happens: it {v}.|The key marked "{a}" {v}.|On {x}, {a} {v}.
? What does {a} do{on}?|What happens if I press {a}{on}?|What is {a}{on} for?|{a}{on}?|Why would I press {a}{on}?|what does {a}{on} do when pressed|What can I do with {a}{on}?|What is the effect of {a}{on}?
?a Which button {v}{on}?|What do I press{on} for this: {v}?|button that {v}{on}?|With which button is this done{on}: {v}?
speed # ps # speed # Size/Time/Memory
a = {1..900} MB|{10..90},000 {os}|{1..9} million {os}|{2..90} GB|{100..900} {os}
v = {2..90} seconds|{2..60} minutes|{100..990} ms|{1..9}.{1..9} s
u = {10..990} MB|{1..60} GB|{1..9}.{1..9} GB
> For {a}, {x} needs {v} and {u} of memory.|{a} take {v} with {u} of memory.|We measured {v} and {u} of memory for {a}.
? How long does {x} need for {a}?|How fast is {x} with {a}?|What time was measured for {a}{with}?|How quickly are {a} done{by}?|time for {a}{with}?|how long do {a} take{with}|How much time goes by for {a}{with}?|In what time does {x} manage {a}?
?u How much memory does {x} take for {a}?|What memory is used for {a}{by}?|memory for {a}{with}?|How much RAM goes into {a}{with}?|How much memory was measured for {a}{with}?|With how much memory did {a} run{in}?|RAM for {a}{in}?|What does {x} take in memory for {a}?
"""
