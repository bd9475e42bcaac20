"""Facts of invented services and of programs that run for long, written as in `manual_programs.py`."""

SERVICES = """
port # psd # network # port
v = {1024..9999}|{10000..60000}|80{10..99}|{3..9}000
> {x} listens on port {v}.|Port {v} is the one on which {x} answers.|By default, {x} serves on port {v}.|Once it runs, {x} waits for requests on port {v}.
- Port|Listens on port|Server port|Port for requests
= port|listen
? On which port does {x} listen?|On what port does {x} answer requests?|What port does {x} serve on?|which port takes the requests{to}?|At what port do I send a request{to}?|What is the number of the port for requests{to}?
~ What is the port{of}?|port{of}?|which port{for}|What port does {x} use?|Where does {x} listen?|What port number do I need{for}?
metrics # ps # network # port
v = {1024..9999}|9{100..999}|{10000..60000}
> The metrics of {x} are on port {v}.|{x} shows its metrics on port {v}.|Port {v} gives the metrics of {x}.|Numbers for monitoring {x} can be read on port {v}.
- Metrics port|Metrics|Port of the metrics|Monitoring port
= metrics_port|metrics
@ metrics port
? On which port are the metrics{of}?|Where can I read the metrics{of}?|What port is used for monitoring {x}?|which port has the metrics{of}|On what port does {x} show its metrics?|Which port do I scrape{for}?|metrics port{for}?
admin # psd # network # address
v = http://localhost:{1024..9999}/{w}|https://{host}/admin|http://192.168.{0..99}.{1..250}|https://{w}.{host}|http://127.0.0.1:{1024..9999}/{w}
> The settings page of {x} is at {v}.|Open {v} to manage {x}.|You find the admin page of {x} under {v}.|To change settings of {x}, visit {v}.
- Admin page|Settings page|Administration|Dashboard
= admin_url|dashboard
@ address of the admin page|admin address
? Where is the admin page{of}?|What is the URL of the settings page{of}?|Which address do I open to manage {x}?|Where can I change the settings{of}?|url of the dashboard{of}?|How do I reach the admin page{of}?|Which page do I visit to manage {x}?
website # psd # about # address
v = https://{host}|https://www.{host}|https://{host}/{slug}|https://docs.{host}/{w}|{host}
> The website of {x} is {v}.|You can read more about {x} at {v}.|The full documentation of {x} is at {v}.|{x} has its home page at {v}.
- Website|Home page|Documentation|More
= homepage|url
@ website|home page
? Where can I read more about {x}?|Where is the documentation{of}?|On which site do I find {x}?|What is the web address{of}?|Where are the docs{of}?|site{of}?|Where do I find the full manual{of}?
support # psd # about # contact
v = {w}@{host}|help@{host}|support@{host}|{w}.{w2}@{host}
> Write to {v} if you need help with {x}.|Help for {x} is given at {v}.|Questions about {x} go to {v}.|The support of {x} answers mail to {v}.
- Support|Contact|Help|Mail
= support|contact
@ support address|e-mail address
? Where do I get help with {x}?|To which address do I write about {x}?|How can I reach the support{of}?|Whom do I mail about {x}?|email{for}?|contact for help{with}?|Where do questions about {x} go?
data # ps # files # path
v = /var/lib/{slug}|~/.{slug}/{w}|./data/{w}|/srv/{slug}/{w}|~/.local/share/{slug}|C:\\{W}\\data|data/{w}.db
> {x} keeps its data in {c}.|The data of {x} are stored in {c}.|Everything that {x} stores goes to {c}.|Look in {c} for the data of {x}.
- Data|Data folder|Storage path|Data directory
= data_dir|data
@ data folder|data directory
? Where does {x} keep its data?|Where are the data{of}?|In which folder does {x} store things?|Where is everything{of} stored?|data path{of}?|What do I back up to save my data{of}?|where does {x} store data
logs # ps # files # path
v = /var/log/{slug}.log|~/.{slug}/{w}.log|logs/{w}.log|/tmp/{w}.log|./log/{w}.txt|C:\\{W}\\{w}.log
> {x} writes its log to {c}.|The log of {x} is {c}.|Messages of {x} end up in {c}.|If something fails, look into {c}, where {x} notes all errors.
- Log|Log file|Logs|Messages go to
= log_file|log
@ log file|path of the log
? Where does {x} write its log?|Where are the logs{of}?|Which file has the messages{of}?|Where do I see the errors{of}?|log path{of}?|Which file do I read when {x} fails?|where is the log{of}
config # psd # files # path
v = ~/.{slug}.toml|/etc/{slug}.conf|{slug}.yaml|~/.config/{slug}/{w}.json|config/{w}.yml|.{slug}rc|{w}.ini
> {x} reads its settings from {c}.|The settings of {x} are in {c}.|Change {c} to set up {x} as you like.|{x} looks for {c} when it starts and takes its configuration from there.
- Settings|Configuration file|Config|Settings file
= config|settings_file
@ configuration file|config file
? Where are the settings{of}?|Which file configures {x}?|Where does {x} read its settings?|What file do I edit to configure {x}?|config path{of}?|In which file do I change settings{of}?|How is the config file{of} called?
timeout # ps # settings # time
v = {2..90} seconds|{2..30} minutes|{100..990} ms|{1..9}000 ms|{2..90} s
> {x} gives up after {v}.|A request to {x} ends after {v} without an answer.|The timeout of {x} is {v}.|If nothing comes within {v}, {x} breaks off.
- Timeout|Gives up after|Time limit|Request timeout
= timeout|request_timeout
@ timeout|time limit
? After what time does {x} give up?|How long does {x} wait?|When does {x} time out?|How long may a request{to} take?|timeout{of}?|How much time has a request{to}?
upload # ps # limits # size
v = {1..90} MB|{100..900} KB|{1..9} GB|{1..9}00 megabytes|{1..64} MiB
> {x} takes files of up to {v}.|Uploads to {x} may have {v} at most.|Files larger than {v} are refused by {x}.|No file that {x} opens may be bigger than {v}.
- Largest file|Upload limit|Maximum file size|Files up to
= max_upload|max_file_size
@ maximum file size|upload limit
? How big may a file be{for}?|What is the largest file that {x} takes?|How large can an upload{to} be?|Up to what size does {x} accept files?|max upload{of}?|From what size on does {x} refuse files?|What is the size limit{of}?
rate # s # limits # rate
v = {2..90} requests per second|{10..990} requests per minute|{1..9}000 calls per hour|{10..90}0 requests a day|{2..90} calls a minute
> {x} allows {v}.|You can make {v} to {x}.|More than {v} are refused by {x}.|The rate limit of {x} is {v}.
- Rate limit|Allowed|Calls|Limit of requests
= rate_limit|rate
@ rate limit
? How many requests does {x} allow?|How often may I call {x}?|How many calls may I make{to}?|When does {x} refuse further requests?|rate limit{of}?|What is the request quota{of}?|how many calls are allowed{for}
workers # ps # settings # count
v = {2..64}
> {x} uses {v} workers by default.|There are {v} workers in {x} unless you say otherwise.|{x} starts with {v} workers.|By default {v} workers share the load of {x}.
- Workers|Number of workers|Workers by default|Worker count
= workers|worker_count
@ number of workers|default number of workers
? How many workers does {x} use?|How many workers are there by default{in}?|With how many workers does {x} start?|How many workers run{in}?|worker count{of}?|how many workers{for}?
retries # ps # settings # count
v = {2..20}
> {x} tries {v} times before it reports an error.|After {v} failed attempts, {x} stops trying.|A failed step is repeated {v} times by {x}.|{x} makes {v} attempts.
- Attempts|Retries|Number of attempts|Tries
= retries|max_attempts
@ number of attempts|number of retries
? How many times does {x} try?|How many attempts does {x} make?|How often is a failed step repeated{by}?|After how many tries does {x} give up?|retries{of}?|how often does {x} retry
cache # ps # settings # size
v = {8..990} MB|{1..16} GB|{100..9000} entries|{16..512} MiB
> The cache of {x} holds {v}.|{x} keeps {v} in its cache.|Up to {v} are cached by {x}.|{x} sets {v} aside as a cache.
- Cache|Cache size|Size of the cache|Cached
= cache|cache_size
@ cache size|size of the cache
? How big is the cache{of}?|How much does {x} cache?|How much fits into the cache{of}?|What does {x} set aside as a cache?|cache{of}?|How large is the cache{of} by default?
variable # ps # settings # variable
v = {ENV}_TOKEN|{ENV}_KEY|{ENV}_SECRET|API_KEY_{ENV}|{ENV}_AUTH
> Put your access key for {x} into {c}.|{x} reads its key from the variable {c}.|Set {c} so that {x} may log in.|{x} finds the secret in {c}.
- Variable of the key|Key|Secret from|Environment variable of the token
= key_from|token_variable
@ variable with the key|environment variable with the key
? Which variable holds the key{for}?|Where do I put the access key{for}?|In which environment variable does {x} look for its key?|What must I set so that {x} can log in?|which env var{for}?|From where does {x} read the secret?
database # ps # settings #
v = PostgreSQL {10..19}|SQLite|MariaDB {5..12}.{0..9}|Redis {5..9}|{W}DB|MySQL {5..9}|MongoDB {4..9}|{W}Base {1..9}
> {x} stores its records in {v}.|The database of {x} is {v}.|{x} works with {v} as its database.|Records of {x} are held by {v}.
- Database|Records in|Database server|Storage engine
= database|db
@ database
? Which database does {x} use?|What database does {x} need?|In which database are the records{of}?|What holds the records{of}?|db{of}?|which database{for}?|What does {x} use to store its records?
user # psd # network # login
v = {w}|admin|root|{w}-admin|guest|{slug}
> The first user of {x} is called {v}.|Log in to {x} as {v}.|Sign in to {x} with the user name {v}.|{x} comes with one user, {v}.
- User|User name|Login name|First user
= user|username
@ user name|login name
? As whom do I log in{to}?|Which user do I take to log in{to}?|What is the first user{of} called?|What name do I sign in with{to}?|username{for}?|With which account do I sign in{to}?|default user{of}?
password # psd # network # login
v = {w}{10..9999}|{W}-{100..999}|{letter}{1000..99999}|{w}!{1..99}
> The first password of {x} is {v}.|Log in to {x} with the password {v} and change it.|{x} comes with the password {v}.|On the first start {x} asks for a password, which is {v}.
- Password|First password|Default password|Initial password
= password|default_password
@ password|default password
? What password do I type{for}?|Which password does {x} come with?|With what password do I log in{to}?|Which password works on the first start{of}?|pw{for}?|what is the initial password{of}|What do I enter when {x} asks for a password?
kept # s # limits # time
v = {2..90} days|{2..24} months|{2..10} years|{2..72} hours|{2..20} weeks
> {x} deletes old entries after {v}.|Entries stay in {x} for {v}.|After {v}, {x} throws entries away.|{x} keeps entries for {v}.
- Kept for|Retention|Entries kept|Deleted after
= retention|keep
@ retention time
? How long are entries kept{in}?|After what time does {x} delete entries?|How long does {x} keep entries?|When are old entries deleted{in}?|retention{of}?|For how long do entries stay{in}?|how long until {x} throws entries away
backup # s # settings # schedule
v = every night at {0..5}:{10..50}|every {d}|every {2..12} hours|twice a day|every {d} at {0..23}:{10..50}|once a month
> {x} makes a backup {v}.|A copy of the data of {x} is made {v}.|Backups of {x} run {v}.|The data of {x} are saved {v}.
- Backup|Backups|Copies|Backup schedule
= backup|backup_schedule
@ backup schedule
? When is a backup made{of}?|How often does {x} make backups?|How often are the data{of} backed up?|When do the backups{of} run?|backups{of}?|When does {x} copy its data?|how often is {x} saved
health # s # network # endpoint
v = /{w}/health|/healthz|/status|/api/{w}/ping|/v{1..4}/{w}|/ready
> To see whether {x} is alive, ask {c}.|{x} answers on {c} while it is well.|The health check of {x} is {c}.|Monitors should call {c} to check {x}.
- Health check|Alive|Health endpoint|Path of the health check
= health_path|health
@ health check|health endpoint
? Which path is the health check{of}?|How do I see whether {x} is alive?|What should a monitor call{for}?|Which endpoint tells that {x} is well?|health check{of}?|Where can I ask if {x} is up?|What path tells me that {x} is running?
branch # p # development #
v = main|develop|next|{w}|release-{1..9}|trunk
> Send pull requests for {x} to the branch {c}.|Changes to {x} go to the branch {c}.|The work on {x} happens on the branch {c}.|Base your changes to {x} on the branch {c}.
- Branch|Pull requests to|Working branch|Branch for changes
= branch|base_branch
@ branch for pull requests
? To which branch do I send changes{to}?|Which branch takes pull requests{for}?|What branch do I base my work on{for}?|On which branch does the work{on} happen?|branch{for}?|Where do pull requests{for} go?|which branch should I use{for}
level # ps # settings #
v = info|warn|debug|error|trace|notice|quiet|{w}
> The log level of {x} is {c} unless you change it.|{x} logs at the level {c}.|By default {x} has the log level {c}.|Messages of {x} start at the level {c}.
- Log level|Level of messages|Default log level|Verbosity
= log_level|level
@ log level|default log level
? Which log level does {x} have?|At what level does {x} log?|How much does {x} log by default, as a level?|What level do messages{of} start at?|log level{of}?|What is the verbosity{of}?|which level does {x} use for its log
"""
