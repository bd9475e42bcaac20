"""Families of tools for work and machines, in the form that tool_families.py describes."""

WORK = {
    "finance": """
transfer_money send_money bank.transfer : Sends money to a person | Makes a bank transfer : n amount,sum,value =money ; p to,recipient,receiver =person
Send {n} euros to {p} | Pay {p} {n} euros | I owe {p} {n} euros, please settle it | {p} gets {n} euros from me | Transfer {n} euros to {p} | {n} euros for {p} | Could you wire {p} {n} euros? | Let {p} have {n} euros
get_balance account_balance bank.balance : Tells how much money is in an account | Balance of an account : k account,which,name =pick savings,checking,holiday,business,family,credit : balance price
How much is on my {k} account? | What is left in the {k} account? | Balance of {k} | Can I still afford something from my {k} account? | Show the state of the {k} account | My {k} account, how full is it?
convert_currency exchange currency.convert : Converts money between currencies | Exchange of currencies : n amount,value,sum =money ; a from,source,from_currency =pick EUR,USD,GBP,CHF,JPY,SEK,francs,pounds,yen ; b to,target,to_currency =pick PLN,INR,CAD,AUD,NOK,CZK,rupees,krona,zloty : result price
How much is {n} {a} in {b}? | Convert {n} {a} to {b} | Change {n} {a} into {b}, please | What do I get in {b} for {n} {a}? | I have {n} {a} and need {b} | {n} {a} = ? {b} | In {b}, what are {n} {a} worth?
stock_price get_quote shares.price : Tells the price of a share | Quotes a stock : c company,symbol,name =company : price price
What is the share price of {c}? | How is the stock of {c} doing? | What does one share of {c} cost? | Is {c} up or down today? | Quote for {c} | At what price is {c} traded?
buy_shares shares.buy place_buy_order : Buys shares of a company | Orders stock : n count,shares,quantity =int 2 200 ; c company,symbol,name =company
Buy {n} shares of {c} | I want to own {n} shares of {c} | Get me {n} of {c} | Purchase {c}, {n} shares | {c} looks good, take {n} shares | Put {n} shares of {c} into my depot
sell_shares shares.sell place_sell_order : Sells shares of a company | Gives stock away for money : n count,shares,quantity =int 2 200 ; c company,symbol,name =company
Sell {n} shares of {c} | I want to get rid of {n} shares of {c} | {c}: sell {n} | {n} of my {c} shares should go | Turn {n} shares of {c} into cash | I no longer believe in {c}, sell {n}
loan_payment mortgage.rate : Calculates the monthly payment of a loan | Rate of a credit : n amount,principal,loan =int 1000 300000 ; y years,term =int 2 30 ; p interest,percent,rate =num 1 9 : payment price
What do I pay monthly for {n} euros over {y} years at {p} percent? | A loan of {n} euros, {p} percent, {y} years: the rate? | I borrow {n} euros for {y} years at {p}%. How much per month? | At {p} percent, {n} euros for {y} years, what is the monthly payment? | {y} years, {n} euros, {p} percent interest | Our house costs {n} euros. With {p} percent for {y} years, what goes to the bank each month?
add_expense expenses.log record_cost : Records money that was spent | Writes an expense down : n amount,cost,sum =money ; k category,kind =enum food~groceries,travel~tickets,housing~rent
I spent {n} euros on {k} | Note an expense of {n} euros for {k} | {n} euros went to {k} | {k} cost me {n} euros, log it | Record {n} euros, {k} | Another {n} euros for {k}
create_invoice invoices.new bill_customer : Writes an invoice for a customer | Bills somebody : c customer,client,to =company ; n amount,total,sum =money
Bill {c} {n} euros | Write an invoice of {n} euros to {c} | {c} owes us {n} euros, make an invoice | An invoice for {c}, {n} euros | Please charge {c} {n} euros | {n} euros are to be invoiced to {c}
split_bill share_costs : Splits a bill among people | How much each one pays : n total,amount,bill =money ; k people,persons,count =int 2 12 : share price
Split {n} euros among {k} people | We are {k} and the bill is {n} euros | {n} euros for {k} of us, what does each pay? | Dinner was {n} euros, {k} friends share | Divide the bill of {n} euros by {k} | How much per head: {n} euros, {k} persons?
freeze_card block_card cards.freeze : Blocks a bank card | Stops payments with a card : c card,card_id,number =code
I lost my card {c} | Block card {c} | Someone stole card {c}, stop all payments | Freeze {c} at once | Card {c} must not work any more | Please make card {c} unusable
""",
    "devops": """
restart_service service.restart reboot_app : Restarts a service | Stops and starts a program on a server : s service,name,app =service ; h? host,server,machine =host
Restart {s} | {s} hangs, give it a fresh start | Bounce {s} on {h} | Please reboot the {s} service | On {h}, restart {s} | {s} does not answer any more, start it anew | Could you cycle {s} on {h}?
deploy release_version deploy.run : Deploys a version to an environment | Rolls out software : v version,tag,release =version ; e environment,target,stage =enum production~live~prod,staging~test stage
Deploy {v} to {e} | Roll out {v} on {e} | {e} should run {v} | Ship {v} to {e} | We are ready: {v} goes to {e} | Bring version {v} to {e} | Put {v} on the {e} system
rollback deploy.undo revert_release : Goes back to an older version of a service | Undoes a deployment : s service,app,name =service ; v? version,to,tag =version
Roll {s} back | Go back to {v} with {s} | The new {s} is broken, return to {v} | Undo the last deployment of {s} | {s} should run the old version {v} again | Revert {s} to {v} | The update of {s} was a mistake, undo it
get_logs read_logs logs.tail : Shows the log of a service | Last lines of a log : s service,app,source =service ; n? lines,limit,count =int 10 500
Show me the logs of {s} | What does {s} log? | Last {n} lines of {s} | I need {n} lines from the {s} log | Why did {s} crash? Give me its log | Let me see what {s} wrote, {n} lines | Tail {s}
scale_service set_replicas scale : Sets how many instances of a service run | Number of replicas : s service,app,deployment =service ; n replicas,instances,count =int 2 20
Run {n} instances of {s} | Scale {s} to {n} | {s} needs {n} replicas | There is a lot of traffic, give {s} {n} instances | {n} copies of {s}, please | Increase {s} to {n} pods | Could {s} have {n} workers?
check_health ping_server health.check : Checks whether a server is up | Tests if a host answers : h host,server,machine =host : state state
Is {h} up? | Does {h} still answer? | Check on {h} | Ping {h} | I cannot reach {h}, is it alive? | How is {h} doing? | Health of {h}
disk_usage free_space disk.check : Tells how full a disk is | Space left on a server : h host,server,machine =host : free_space gigabytes
How much space is left on {h}? | Is the disk of {h} full? | Free disk space, {h} | {h} complains about its disk, how full is it? | Can {h} store more data? | Storage on {h}?
set_env env.set config_variable : Sets an environment variable of a service | Changes a configuration value : k key,name,variable =envkey ; v value,content =code ; s? service,app =service
Set {k} to {v} | {k} should be {v} for {s} | Change {k} to {v} | Give {s} the variable {k} with value {v} | The value of {k} has to be {v} | export {k}={v} | In the configuration of {s}, make {k} equal to {v}
run_pipeline ci.start trigger_build : Starts a build of a branch | Runs the CI pipeline : b branch,ref =branch
Build {b} | Kick off the pipeline for {b} | Run CI on {b} | I pushed to {b}, please build it | Does {b} compile? Start a build | The branch {b} should go through the pipeline
renew_certificate tls.renew : Renews the certificate of a domain | Prolongs a TLS certificate : d domain,host,name =domain
The certificate of {d} runs out, renew it | Renew TLS for {d} | {d} needs a fresh certificate | Browsers complain about {d}, get a new certificate | A new certificate for {d} please | Please see to it that {d} has a valid certificate again
block_ip firewall.deny ban_address : Blocks an address in the firewall | Denies access for an IP : i ip,address,source =ip
Block {i} | {i} attacks us, lock it out | No more traffic from {i} | Ban {i} | Deny {i} in the firewall | Keep {i} out of our network | Someone at {i} tries passwords. Shut the door
""",
    "database": """
count_rows db.count table_size : Counts the rows of a table | How many records a table has : t table,name,relation =dbtable : rows number
How many rows does {t} have? | Count {t} | Size of the table {t} | How many records are in {t}? | I wonder how big {t} has become | Number of entries in {t}
backup_database db.backup dump : Makes a backup of a database | Saves a copy of all data : d database,name,db =dbtable ; t? target,bucket,to =path
Back up {d} | Make a copy of the database {d} | Dump {d} to {t} | Save {d} before we change anything | I want {d} safe in {t} | A backup of {d} under {t}, please | Secure the data of {d}
restore_database db.restore : Restores a database from a backup | Brings old data back : d database,name =dbtable ; c backup,backup_id,from =code
Restore {d} from backup {c} | Bring {d} back as it was in {c} | {d} is broken, load backup {c} | Use {c} to get {d} back | Put the contents of backup {c} into {d} | We lost data in {d}, recover it from {c}
drop_table db.drop delete_table : Deletes a table with all its rows | Removes a table for good : t table,name =dbtable
Drop {t} | The table {t} can go | Delete the table {t} with everything in it | We do not use {t} any more, remove it | Get rid of {t} | Wipe {t} from the database
add_index db.index create_index : Creates an index on a column | Makes queries on a column faster : t table,relation =dbtable ; c column,field =column
Index {c} in {t} | Queries on {c} of {t} are slow, add an index | Create an index for the column {c} of {t} | {t} needs an index on {c} | Put an index on {t}, column {c} | Speed up searches by {c} in {t}
rename_column db.rename_column alter_column : Renames a column of a table | Gives a column another name : t table =dbtable ; a old,from,old_name =column ; b new,to,new_name =word
In {t}, rename {a} to {b} | The column {a} of {t} should be called {b} | {b} is a better name for {a} in {t} | Rename column {a} to {b}, table {t} | Call {a} {b} from now on, in the table {t} | {t} has a column {a}, it should be named {b}
find_records db.find query_table : Finds rows where a column has a value | Looks rows up : t table,relation =dbtable ; c column,field =column ; v value,equals =word
All rows of {t} where {c} is {v} | Find {v} in the {c} column of {t} | Which records of {t} have {v} as {c}? | Look into {t}: {c} = {v} | Show me {t} with {c} equal to {v} | {t}, {c} {v}
""",
    "git": """
create_branch git.branch new_branch : Creates a branch | Starts a new line of work in a repository : b name,branch =branch ; f? from,base =pick main,master,develop,trunk
Create the branch {b} | Start {b} from {f} | I need a new branch called {b} | Branch off {f}, name {b} | New branch {b} please | Let me work on {b}, based on {f} | Open a branch {b}
delete_branch git.branch_delete : Deletes a branch | Removes a branch from a repository : b name,branch =branch
Delete the branch {b} | {b} is merged, remove it | We do not need {b} any more | Get rid of {b} | Clean up: branch {b} | The branch {b} can be thrown away
merge_branch git.merge : Merges a branch into another | Brings changes of a branch over : a source,from,branch =branch ; b target,into,base =pick main,master,develop,trunk
Merge {a} into {b} | Bring {a} to {b} | {a} is ready, put it into {b} | {b} should get the changes of {a} | The work of {a} belongs in {b} now | Could you merge {a}? Target is {b}
commit_changes git.commit : Commits changes with a message | Saves work to the repository : t message,text,comment =text
Commit with the message "{t}" | Save my work: "{t}" | git commit, {t} | Make a commit that says "{t}" | I am done here, commit it as "{t}" | Check everything in, message: {t}
show_commit git.show : Shows what a commit changed | Displays a commit : c hash,commit,sha =hash : list file
What did {c} change? | Show commit {c} | Let me see {c} | Which files were touched by {c}? | I want to understand commit {c} | Diff of {c}
open_pull_request pr.create : Opens a pull request for a branch | Proposes a change : b branch,head,source =branch ; t title,name =title
Open a pull request for {b} called {t} | Propose {b} as "{t}" | PR from {b}, title {t} | {b} should be reviewed, name the request {t} | Make a pull request "{t}" out of {b} | {b} waits for a review, call the request {t}
revert_commit git.revert : Undoes a commit | Takes back a change in a repository : c hash,commit,sha =hash
Undo {c} | Commit {c} was wrong, take it back | Revert {c} | {c} broke the build, please undo it | I want the change {c} gone | Reverse what {c} did
clone_repository git.clone : Copies a repository to this computer | Clones from an address : u url,repo,address =url ; t? folder,into,directory =path
Clone {u} | Get me the code from {u} | Copy the repository {u} into {t} | I want to work with {u}, fetch it to {t} | Check out {u} to {t} | Download the sources at {u}
""",
    "files": """
delete_file remove_file files.erase : Deletes a file | Removes a file from the disk : f path,file,filename =file
Delete {f} | I do not need {f} any more | Throw {f} away | {f} can go | Get rid of {f} | Would you erase {f} for me? | The file {f} is garbage, remove it | Please wipe {f} from the disk
read_file open_file files.load : Reads a file | Shows the contents of a file : f path,file,filename =file : text text
Read {f} | What is in {f}? | Open {f} | Show me {f} | What does {f} say? | I would like to see the contents of {f} | Print {f} here | Let me look at {f}
copy_file files.copy duplicate : Copies a file to a folder | Makes a second copy of a file : f source,file,path =file ; t target,folder,to =path
Copy {f} to {t} | I need {f} in {t} as well | Put a copy of {f} into {t} | Duplicate {f} under {t} | {t} should contain a copy of {f} | Have {f} also in {t}
move_file files.move : Moves a file into another folder | Puts a file elsewhere : f source,file,path =file ; t target,folder,to =path
Move {f} to {t} | {f} belongs in {t} | Put {f} into {t}, not here | {f} is in the wrong folder, it should lie in {t} | Shift {f} over to {t} | Take {f} and store it in {t} instead
rename_file files.rename : Gives a file another name | Renames a file : f old_name,file,from =file ; t new_name,name,to =file
Rename {f} to {t} | {f} should be called {t} | Call {f} {t} from now on | Change the name of {f} to {t} | {t} is a better name for {f} | Give {f} the name {t}
create_folder make_directory files.mkdir : Creates a folder | Makes a new directory : t path,folder,name =path
Make a folder {t} | I need a directory {t} | Create {t} | mkdir {t} | There should be a folder {t} | Set up {t} for my documents
zip_files files.compress archive : Packs files into an archive | Compresses files : f files,paths,items =list file ; t archive,output,name =archive
Pack {f} into {t} | Zip {f} as {t} | I want {f} in one archive called {t} | Make {t} out of {f} | Compress {f}, call it {t} | Put {f} together in {t}
share_file files.share : Gives a person access to a file | Lets somebody see a file : f file,path,document =file ; p with,person,user =person ; m? access,rights =enum read~reading,write~writing~editing
Share {f} with {p} | {p} should have access to {f} | Let {p} see {f} | Give {p} {m} access to {f} | {f} for {p}, {m} rights | I want {p} to be able to open {f} | Make {f} visible to {p}
search_files files.find find_in_files : Finds files that contain a word | Searches the text of files : w text,query,term =word ; t? folder,directory,in =path : list file
Which files contain {w}? | Find files with {w} in {t} | Where did I write {w}? | Search {t} for {w} | grep {w} | Some document mentions {w}, which one? | Go through {t} and look for {w}
convert_file files.convert change_format : Converts a file to another format | Changes the format of a document : f file,path,source =file ; k format,to,target =pick PDF,HTML,CSV,DOCX,EPUB,PNG,JPEG,XML
Convert {f} to {k} | I need {f} as {k} | Make a {k} out of {f} | Could {f} be turned into {k}? | {f} in {k} format, please | They only accept {k}, so change {f}
""",
    "text": """
translate translate_text lang.translate : Translates a text | Says something in another language : t text,input,phrase =phrase ; l language,target,to =language
Translate "{t}" into {l} | What is "{t}" in {l}? | How do you say "{t}" in {l}? | {l} for "{t}", please | My friend only speaks {l}. Tell me how "{t}" goes there | "{t}" - how would they put that in {l}? | In {l}, what is "{t}"?
count_words text.words word_count : Counts the words of a text | Tells how long a text is : t text,input,content =phrase : count number
How many words are in "{t}"? | Count the words of "{t}" | "{t}" - how many words is that? | Number of words in "{t}" | How long is "{t}" in words? | Is "{t}" too long? Count its words
replace_text text.replace substitute_word : Replaces a word by another in a file | Changes every place where a word stands : a old,search,find =word ; b new,with,replacement =word ; f file,path,document =file
In {f}, replace {a} by {b} | Change every {a} to {b} in {f} | {f} says {a} where {b} should stand | Put {b} for {a} in {f} | Swap {a} for {b} everywhere in {f} | There should be no {a} in {f}, but {b}
check_spelling spellcheck : Looks for spelling mistakes in a text | Checks the spelling : t text,input,sentence =phrase
Is "{t}" spelled correctly? | Check the spelling of "{t}" | Any typos in "{t}"? | Proofread "{t}" | I am not sure about the letters in "{t}" | Find the mistakes in "{t}"
change_case text.case : Writes a text in capital or small letters | Changes upper and lower case : t text,input,string =phrase ; m mode,style,to =enum upper~capital~big,lower~small~little
Write "{t}" in {m} letters | "{t}", but in {m} letters | I need "{t}" with {m} letters only | {m} letters for "{t}" | Turn all letters of "{t}" into {m} ones | Make "{t}" {m}
read_aloud speak text_to_speech : Speaks a text | Reads a text out loud : t text,input,say =phrase ; s? speed,pace =enum slow!slowly,fast!quickly
Read "{t}" out loud | Say "{t}" | I want to hear "{t}" spoken {s} | Speak "{t}" {s} | How does "{t}" sound? Say it | Could you pronounce "{t}"?
""",
    "numbers": """
add sum_numbers math.add : Adds two numbers | Sum of two values : a a,x,first =int 1 900 ; b b,y,second =int 1 900 : result number
What is {a} plus {b}? | Add {a} and {b} | {a} + {b} | I have {a} and get another {b}, how many is that? | Together, what do {a} and {b} make? | The sum of {a} and {b} | Put {a} and {b} together
subtract minus math.sub : Subtracts one number from another | Difference of two values : a from,a,minuend =int 50 900 ; b take,b,subtrahend =int 1 49 : result number
What is {a} minus {b}? | Take {b} away from {a} | {a} - {b} | Of {a} I spend {b}, what remains? | How much is left of {a} after {b}? | Subtract {b} from {a}
multiply product math.mul : Multiplies two numbers | Product of two values : a a,x,first =int 2 300 ; b b,y,second =int 2 99 : result number
What is {a} times {b}? | Multiply {a} by {b} | {a} * {b} | {a} boxes with {b} pieces each, how many pieces? | The product of {a} and {b} | {b} rows of {a} seats: how many seats?
divide quotient math.div : Divides one number by another | Shares a number evenly : a dividend,number,a =int 20 900 ; b divisor,by,b =int 2 19 : result number
What is {a} divided by {b}? | Divide {a} by {b} | Share {a} among {b} | {a} over {b} | How often does {b} go into {a}? | {a} sweets for {b} children, how many each?
convert_length units.length : Converts between units of length | Changes one measure of length into another : n value,amount,quantity =num 1 500 ; a from,unit,source =pick miles,feet,inches,yards,furlongs ; b to,target,wanted =pick metres,kilometres,centimetres,millimetres : result number
How many {b} are {n} {a}? | Convert {n} {a} to {b} | {n} {a} in {b} | I measured {n} {a} but need {b} | What are {n} {a} when I want {b}? | Express {n} {a} in {b} | The sign says {n} {a}. And in {b}?
convert_weight units.weight weights : Converts between units of weight | Changes one weight into another : n value,amount,quantity =num 1 500 ; a from,unit,source =pick pounds,ounces,stone ; b to,target,wanted =pick grams,kilograms,tonnes : result number
How many {b} are {n} {a}? | Convert {n} {a} to {b} | {n} {a} in {b} | My parcel weighs {n} {a}, the form asks for {b} | Express {n} {a} in {b} | The scales show {n} {a}. And in {b}?
percent_of percentage math.percent : Calculates a share in percent of a number | Percentage of a value : p percent,rate,share =num 1 95 ; n value,of,whole =int 20 5000 : result number
What is {p} percent of {n}? | {p}% of {n} | How much do I save with {p} percent off {n}? | Of {n} people {p} percent came, how many? | Take {p} percent of {n} | {n}, and {p} percent of that?
random_number dice random.int : Draws a random number | Picks a number by chance : a min,low,from =int 1 9 ; b max,high,to =int 10 999 : result number
Pick a number between {a} and {b} | Random number from {a} to {b} | Give me any number, at least {a}, at most {b} | Let chance decide: {a} to {b} | Draw a number, {a} to {b} | Surprise me with a number not below {a} and not above {b}
area_of_rectangle rectangle geometry.area : Calculates the area of a rectangle | Size of a rectangular floor : a width,w,side_a =num 1 90 ; b length,l,side_b =num 1 90 : area number
A room is {a} by {b} metres, what is its area? | Area of {a} times {b} metres | My garden measures {a} metres by {b} metres, how big is it? | How large is a rectangle with sides {a} and {b}? | {a} wide and {b} long, which area? | What floor has a hall of {a} x {b} m?
days_between date_difference : Counts the days between two dates | How long it is from one date to another : a start,from,first =day ; b end,to,second =day : difference number
How many days from {a} to {b}? | Days between {a} and {b} | We leave on {a} and return on {b}, how many days is that? | How long is it from {a} until {b}? | Count the days, {a} to {b} | {b} minus {a} in days?
""",
    "school": """
get_grade student_mark grades.get : Tells the grade of a pupil in a subject | Looks up a mark : p student,pupil,name =person ; k subject,course =subject : grade number
What grade does {p} have in {k}? | How is {p} doing in {k}? | {p}'s mark in {k} | I am the father of {p}. Tell me the grade in {k} | {k}, {p}: which mark? | Did {p} pass {k}?
enroll_student sign_up courses.join : Enters a student into a course | Puts somebody on a course list : p student,name,person =person ; k course,subject,class =subject
Enroll {p} in {k} | {p} wants to take {k} | Put {p} on the list for {k} | Sign {p} up for {k} | {k} has one more student: {p} | Add {p} to the {k} class | I would like {p} to learn {k}
withdraw_student leave_course courses.leave : Takes a student out of a course | Strikes somebody from a course list : p student,name,person =person ; k course,subject,class =subject
Take {p} out of {k} | {p} gives up {k} | {p} no longer attends {k} | Strike {p} from the {k} list | {k} without {p} from now on | {p} stops taking {k}, please update the course
assign_homework homework.set : Gives homework to a class | Sets a task for a class : c class,group =klass ; t task,title,text =title ; d due,until,date =date
Class {c} has to do {t} by {d} | Homework for {c}: {t}, due {d} | Give {c} the task {t} until {d} | By {d}, {c} should have finished {t} | Set {t} as homework for {c}, deadline {d} | Let the pupils of {c} do {t}, they have time until {d}
make_quiz create_quiz quiz.new : Makes a quiz about a subject | Creates questions to practise : k subject,topic =subject ; n questions,count,number =int 3 25 ; l? level,difficulty =enum easy~simple,hard~difficult~tricky
Quiz me on {k} with {n} questions | {n} questions about {k} | I have to learn {k}, ask me {n} things | Make {n} {l} questions on {k} | A {l} test in {k}, {n} questions | For {k} I want {n} {l} exercises
report_absence absence.add : Reports that a pupil is absent | Notes a missing pupil : p student,pupil,name =person ; d date,day =date ; w? reason,why =pick flu,fever,headache,dentist,broken arm,cold
{p} cannot come on {d} | {p} is ill on {d}: {w} | Excuse {p} for {d} | On {d} {p} stays at home because of this: {w} | Note that {p} misses school on {d} | No school for {p} on {d}, reason: {w}
""",
    "office": """
create_ticket open_ticket support.new : Opens a support ticket | Reports a problem to the help desk : t title,problem,summary =problem ; p? priority,urgency =enum high~urgent~critical,low~minor
{t}, please open a ticket | Open a {p} ticket: {t} | Tell the help desk: {t} | I have a problem: {t} | Support should know this, it is {p}: {t} | A ticket for me, please. {t} | Report that {t}
close_ticket support.close resolve : Closes a support ticket | Marks a ticket as solved : c ticket,id,number =code
Close ticket {c} | {c} is solved | The problem in {c} is gone | You may shut ticket {c} | {c} works again, thanks, close it | Finish {c}
assign_ticket support.assign : Gives a ticket to a person | Makes somebody responsible for a ticket : c ticket,id,number =code ; p agent,person,to =person
{p} should take care of ticket {c} | Give ticket {c} to {p} | Assign {c} to {p} | Let {p} handle ticket {c} | Ticket {c} is for {p} | {c} fits {p} best, hand it over
request_leave vacation.request hr.leave : Asks for days off | Requests vacation : a from,start,first_day =day ; b to,end,last_day =day
I want to be away from {a} to {b} | Vacation {a} until {b} | I need days off, {a} to {b} | From {a} until {b} I am on holiday | Please enter my leave: {a} - {b} | Could I have {a} to {b} free? | My last free day is {b}, the first one {a}
log_hours time_sheet hr.hours : Records working hours for a project | Books time : n hours,time,duration =num 1 10 ; p project,task,on =proper
I worked {n} hours on {p} | Book {n} hours for {p} | {n} hours, project {p} | {p} took me {n} hours | Put {n} h on {p} | Time sheet: {p}, {n} hours
find_employee staff_search hr.find : Finds an employee by the department | Who works in a department : k department,team,unit =pick sales,marketing,finance,legal,design,support,research,logistics ; l? site,city,office =place : list person
Who works in {k}? | People of {k} in {l} | I need somebody from {k} | Which colleagues sit in {k}? | List the {k} team | {k} staff in {l} | Find me a person of {k}, best in {l}
book_meeting_room reserve_space rooms.book : Reserves a meeting room | Books a conference room : n people,seats,capacity =int 3 40 ; c time,at,start =clock
Book a room for {n} people at {c} | At {c} we are {n} and need a meeting room | Conference room for {n}, {c} | {n} of us meet at {c}, where can we sit? Reserve something | We need space for {n} at {c} | My group has {n} members and wants to talk at {c}, find us a room
print_document printer.print : Prints a file | Puts a document on paper : f file,document,path =file ; n? copies,count =int 2 20 ; k? color,mode =enum color!in colour,gray!in black and white
Print {f} | {n} copies of {f} | I need {f} on paper | {f}, {n} times on paper, {k} | Print {f} {k} | Put {f} through the printer | Could I have {f} printed {n} times?
scan_document scanner.scan : Scans paper into a file | Makes a file from paper : f file,output,save_as =pdf
Scan this into {f} | The paper in the scanner should become {f} | Make {f} from the page on the glass | I put a letter on the scanner, call it {f} | Scan and save as {f} | Please turn the sheet on the glass into {f}
ink_level toner printer.ink : Tells how much ink a printer has left | State of the toner : h printer,device,name =host : level percent
How much ink does {h} have? | Is the toner of {h} empty? | {h} prints pale. Check the ink | Ink left in {h}? | Do I have to buy ink for {h}? | The pages from {h} are nearly white, how much colour is left?
""",
    "goods": """
check_stock stock_level warehouse.count : Tells how many pieces of an article are in stock | Stock of a product : c article,sku,item =code : stock number
How many of {c} do we have? | Is {c} in stock? | Stock of {c} | Do any {c} lie on the shelf? | Can we deliver {c}? Look how many there are | Count article {c}
receive_goods add_stock warehouse.in : Books goods that came in | Raises the stock of an article : c article,sku,item =code ; n quantity,pieces,amount =int 2 500
{n} pieces of {c} arrived | Book in {n} of {c} | The truck brought {n} of {c} | Article {c}: {n} more on the shelf | We received {n} pieces of {c} | Incoming: {c}, {n} pieces
ship_goods remove_stock warehouse.out : Books goods that leave the warehouse | Lowers the stock of an article : c article,sku,item =code ; n quantity,pieces,amount =int 2 500
{n} pieces of {c} leave the house | Ship {n} of {c} | Send out {n} pieces of {c} | {n} of {c} go to the customer | Article {c}: take {n} away | Outgoing: {c}, {n} pieces
locate_item find_bin warehouse.where : Tells on which shelf an article lies | Finds the place of goods : c article,sku,item =code : shelf code
Where does {c} lie? | On which shelf is {c}? | I cannot find {c} | Which bin holds {c}? | Show me the place of {c} | Location of article {c}
water_field irrigate farm.water : Waters a field | Irrigates land for some minutes : f field,plot,area =proper ; n minutes,duration,time =int 5 120
Water the field {f} for {n} minutes | {f} is too dry, give it {n} minutes of water | {n} minutes of water on {f} | Irrigate {f}, {n} minutes | The plants on {f} are thirsty, {n} minutes please | Let the sprinklers of {f} run {n} minutes
soil_moisture check_soil farm.soil : Tells how wet the soil of a field is | Measures moisture : f field,plot,area =proper : moisture percent
Is {f} dry? | How wet is the soil of {f}? | Moisture of {f} | Does the field {f} need water? | I wonder how damp the ground of {f} is | Soil of {f}: how is it?
record_harvest farm.harvest log_yield : Records a harvest | Notes how much was picked : n kilograms,amount,kg =int 10 5000 ; o crop,plant,what =crop
We picked {n} kg of {o} | {n} kilograms of {o} came in | Harvest: {o}, {n} kg | Note {n} kilos of {o} | The {o} gave {n} kg this year | From the field we have {n} kg of {o}
feed_animals farm.feed : Feeds the animals | Gives fodder : a animals,species,who =animals ; n kilograms,amount,kg =int 1 90
Give the {a} {n} kg | The {a} are hungry, {n} kilograms of feed | Feed the {a} with {n} kg | {n} kg of fodder for the {a} | My {a} need {n} kilos of food | Let the {a} have {n} kg
print_model start_print printer3d.start : Prints a model on the 3D printer | Starts a 3D print : f file,model,path =stl ; m material,filament,plastic =pick PLA,PETG,ABS,TPU,nylon,resin ; n? layer_mm,layer,height =pick3 0.1,0.15,0.2,0.3
Print {f} in {m} | {f} out of {m}, layers of {n} mm | Make me {f} from {m} | The 3D printer should do {f} with {m} | {m} print of {f}, {n} mm per layer | I need the part {f} in {m}
stop_print abort_print printer3d.stop : Stops a 3D print | Aborts what the 3D printer does : c job,id,print_id =code
Stop the print {c} | {c} looks terrible, abort it | Job {c} went wrong, please end it | The plastic tangles, halt {c} | Break off print {c} | No more plastic for {c}, stop it
""",
    "web": """
web_search search_web search : Searches the web | Finds pages about something : t query,q,term,text =query : list title
Search for {t} | Look up {t} | Find something about {t} | Google {t} | What do you find about {t}? | I want to know more about {t} | Are there any pages on {t}? | Search the internet: {t}
open_url fetch_page browser.open : Opens a web page | Loads an address : u url,address,page =url
Open {u} | Go to {u} | Load {u} | What is on {u}? | Show me the page {u} | I would like to read {u} | Fetch {u}
shorten_url short_link links.shorten : Makes a short link | Shortens an address : u url,address,link =url
Shorten {u} | {u} is far too long | A short link for {u} | I need {u} with fewer letters | Make {u} shorter | Nobody can type {u}, give me something short
make_qr qr_code qr.create : Makes a QR code of an address | Draws a code that phones can read : u url,text,content =url
A QR code for {u} | People should scan {u} with the phone | Make a QR code out of {u} | I want {u} as a code for my poster | QR: {u} | Draw me one of those square codes for {u}
take_screenshot page.capture : Takes a picture of a web page | Makes a screenshot : u url,address,page =url ; f? file,output,save_as =image
Screenshot of {u} | Take a picture of {u} and save it as {f} | I want to see how {u} looks, capture it | Capture {u} to {f} | Photograph the page {u} | I need an image of the page {u}
create_user add_account users.new : Creates a user account | Adds a user : p name,user,person =person ; m? role,rights =enum admin~administrator,guest~visitor,editor~author
Create an account for {p} | {p} needs an account | New user {p}, role {m} | Add {p} as {m} | {p} joins us today, let {p} log in as {m} | Set up a user called {p}
delete_user remove_account users.delete : Deletes a user account | Removes a user : p name,user,person =person
Delete the account of {p} | {p} left us, remove the account | {p} must not log in any more | Get rid of the user {p} | Take away {p}'s account | No account for {p} any longer
reset_password users.reset : Sets a new password for a user | Sends a link for a forgotten password : e email,user,account =email
{e} forgot the password | Reset the password of {e} | I cannot log in, my address is {e} | A new password for {e} | Help, {e} is locked out | Let {e} choose another password
""",
}
