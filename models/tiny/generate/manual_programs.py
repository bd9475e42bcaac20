"""Facts of invented programs: name # scopes # section # group, then what may be drawn, how it is told and how it is asked.

`v =` (and `a =`, `u =`) values, `>` sentences, `-` labels of lists and tables, `=` keys, `$` comments above a command, `@` what may be asked for
by its name, `?` questions (`?a`, `?u` for the other values), `~` questions that hold only if nothing else of the group is told.
"""

PROGRAMS = """
purpose # ps # intro #
v = sorts {os} by {by}|turns {os} into {os2}|counts the {os} of {ao}|draws maps of {os}|keeps a list of {os}|finds broken {os}|sends {os} to {os2}|compares two {os}|plays sounds of {os}|checks {os} for mistakes|copies {os} between machines|watches {os} and reports changes|translates {by} files|searches {os} without a network
> {x} {v}.|In short: {x} {v}.|{x} is a {noun} that {v}.
- Purpose|What it does|Task|In short
= description|about|summary
? What does {x} do?|What is {x} good for?|For what do people use {x}?|Why would I use {x}?|What is {x} meant for?|what does {x} do exactly|In a few words, what does {x} do?|What can {x} do for me?|What is the job of {x}?
licence # p # licence #
v = MIT|Apache-2.0|GPL-3.0|BSD-3-Clause|MPL-2.0|ISC|AGPL-3.0|LGPL-2.1|the {W} Public License {1..4}.0|Unlicense|CC0-1.0|EUPL-1.2|{W}-{1..4}.{0..9}
> {x} is licensed under {v}.|The licence of {x} is {v}.|The code of {x} is free to use under {v}.|You may use {x} under the terms of {v}.
- Licence|License|Licensed under|Terms
= license|licence
@ licence|license|terms of use
? Under which licence is {x} published?|What license does {x} have?|Under what terms may I use {x}?|How is {x} licensed?|Which licence covers {x}?|which license{for}?|Is there a licence{for}, and which?
runtime # ps # requirements # needs
v = {lang} {2..30} or newer|{lang} {1..9}.{0..20} and a C compiler|{lang} {2..30} or newer and a C++ compiler|Node {14..26} or newer|Python 3.{7..16}|Java {8..27}|{lang} {2..30} and {tool2}|{tool2} {1..9}.{0..9} or later|Docker {18..30}|a {lang} compiler|Rust 1.{50..99} and {tool2}
> {x} needs {v}.|To run {x} you need {v}.|{x} requires {v}.|Before you begin, install {v}; {x} does not work without it.|{x} runs on {v}.
- Requirements|Needs|Requires|Runtime|Prerequisites
= requires|engine|runtime
@ requirements|prerequisites
? What software does {x} need?|Which software must be there before {x} runs?|What do I have to install before {x}?
~ What does {x} need to run?|What does {x} require?|What do I need{for}?|What is needed to run {x}?|needs what to run{for}?|What must be installed{for}?
memory # psd # requirements # needs
v = {1..64} GB|{128..990} MB|{1..64} GiB|{2..32} gigabytes
> {x} needs {v} of memory.|{x} takes at least {v} of RAM.|A machine with {v} of memory is enough for {x}.|Plan for {v} of RAM to run {x}.
- Memory|RAM|Memory needed|Main memory
= memory|ram
? How much memory does {x} need?|How much RAM is needed{for}?|What amount of memory does {x} take?|How many gigabytes of RAM should I have{for}?|RAM needed{for}?|How much RAM does {x} use?|memory{for}?|How much main memory must the machine have{for}?
disk # ps # requirements # needs
v = {1..90} GB|{50..990} MB|{2..9}00 megabytes|{1..9}.{1..9} GB
> {x} takes {v} on disk.|The installation of {x} uses {v} of disk space.|Keep {v} of your disk free for {x}.|About {v} of storage is used by {x}.
- Disk|Disk space|Storage|Free space
= disk|storage
@ size on disk|disk usage
? How much disk space does {x} take?|How big is the installation of {x}?|How much storage is used by {x}?|How much room does {x} need on the disk?|disk space{for}?|How much free space do I need{for}?|how large is {x} on disk
systems # p # requirements # needs
v = Linux and macOS|Windows {7..12}|Linux|macOS {10..18} or later|Linux, macOS and Windows|Debian {9..16} and Ubuntu {18..28}.04|FreeBSD {10..16}|Android {8..18}|iOS {12..22} and later|{W}OS
> {x} runs on {v}.|{x} was tested on {v}.|{x} is made for {v}.|There are packages of {x} for {v}.
- Operating systems|Platforms|Systems|Runs on
= platforms|os
@ supported platforms|operating systems
? Which operating systems does {x} support?|On which systems does {x} run?|What OS do I need{for}?|On what platforms can I use {x}?|Where does {x} run?|which os{for}?
install # p # install # command
v = npm install {slug}|npm install -g {slug}|pip install {slug}|cargo install {slug}|brew install {slug}|apt install {slug}|go install {host}/{slug}@latest|yarn add {slug}|snap install {slug}|curl -fsSL https://{host}/install.sh ^ sh|gem install {slug}|git clone https://{host}/{slug}.git|{t} install
> Install {x} with {c}.|{c} installs {x}.|To install {x}, type {c}.|You get {x} with {c}.|{x} is set up by {c}.
- Install|Installation|Set up|To install
$ install|install {name}|set it up|get {name}
@ install command|installation command
? How do I install {x}?|Which command installs {x}?|How can I get {x} onto my machine?|What do I type to install {x}?|how to install {x}|How is {x} installed?|With what command is {x} set up?
start # ps # usage # command
v = {t} start|{t} serve|{t} run|{t} dev|{slug} serve|{slug} start --{w}|./{slug}|./run.sh|{slug} up -d|docker compose up|systemctl start {slug}|node {w}.js|{slug} {w}.{ext}|python -m {slug}
> Start {x} with {c}.|{c} starts {x}.|To run {x}, type {c}.|Launch {x} by typing {c}.|{x} is started by {c}.
- Start|Run|Launch|Start it
$ start|run it|start {name}|launch the {noun}
@ start command|command for the start
? How do I start {x}?|Which command starts {x}?|How can I launch {x}?|What do I type to run {x}?|how to run {x}|How is {x} started?|How do I get {x} going?
stop # ps # usage # command
v = {t} stop|{slug} stop|{slug} down|docker compose down|systemctl stop {slug}|{slug} quit --{w}|./stop.sh
> Stop {x} with {c}.|{c} stops {x}.|To shut {x} down, type {c}.|{x} ends with {c}.
- Stop|Shut down|Halt|Stop it
$ stop|stop {name}|shut it down
@ stop command
? How do I stop {x}?|Which command stops {x}?|How can I shut {x} down?|What do I type to end {x}?|how to stop {x}|How is {x} stopped?|How do I turn {x} off?
test # ps # development # command
v = {t} test|{t} check|{t} {w}-test|pytest|pytest -{letter} {w}|go test ./...|./test.sh|{t} spec|{t} test --{w}|ctest --{w}
> Run the tests of {x} with {c}.|{c} runs the tests of {x}.|Test {x} with {c}.|The tests of {x} are started by {c}.|Before a pull request to {x}, run the tests with {c}.
- Test|Tests|Run the tests|Testing
$ run the tests|test|tests of {name}
@ test command|command for the tests
? Which command runs the tests{of}?|How do I run the tests{of}?|How can I test {x}?|How is {x} tested?|how to test {x}|What do I type to run the test suite{of}?|How do I check that {x} works?
build # ps # development # command
v = {t} build|{t} all|{t} compile|{t} dist|cmake --build {w}|go build ./{w}|./build.sh|{t} {w}-build|{t} build --{w}|tsc -p {w}
> Build {x} with {c}.|{c} builds {x}.|To compile {x}, type {c}.|{x} is compiled by {c}.|Make a release of {x} with {c}.
- Build|Compile|To build|Building
$ build|compile|build {name}
@ build command
? How do I build {x}?|Which command builds {x}?|How can I compile {x}?|What do I type to build {x} from source?|how to build {x}|How is {x} compiled?|How do I make {x} from its source?
lint # p # development # command
v = {t} lint|{t} style|ruff check {w}|eslint {w}|cargo clippy|{t} lint --{w}|flake8 {w}|golangci-lint run
> Check the style of {x} with {c}.|{c} lints the code of {x}.|The linter of {x} is run by {c}.|Look for style mistakes in {x} with {c}.
- Lint|Linter|Code style|Style check
$ lint|check the style|look for style mistakes
@ lint command
? Which command lints the code{of}?|How do I lint {x}?|How is the code style{of} checked?|What do I type to check the style{of}?|how to lint {x}|How do I run the linter{of}?|Which command looks for style mistakes{in}?
format # p # development # command
v = {t} format|{t} fmt|prettier --write {w}|black {w}|cargo fmt|gofmt -w {w}|{t} tidy
> Format the code of {x} with {c}.|{c} formats the code of {x}.|To tidy the source of {x}, type {c}.|The code of {x} is laid out by {c}.
- Format the code|Formatting|Tidy the code|Layout
$ format the code|format|tidy up the source
@ formatting command
? Which command formats the code{of}?|How do I format the source{of}?|How is the code{of} formatted?|What do I type to tidy the source{of}?|how to format the code{of}|How do I run the formatter{of}?|What lays out the code{of}?
update # ps # install # command
v = {slug} update|{slug} upgrade|npm update {slug}|pip install -U {slug}|brew upgrade {slug}|git pull|{t} update|{slug} self-update --{w}
> Update {x} with {c}.|{c} brings {x} up to date.|To get a newer version of {x}, type {c}.|{x} is updated by {c}.
- Update|Upgrade|New version|To update
$ update|upgrade {name}|get the newest version
@ update command|upgrade command
? How do I update {x}?|Which command updates {x}?|How can I upgrade {x}?|What do I type to get the newest version{of}?|how to update {x}|How is {x} brought up to date?|How do I get a newer {noun}{for}?
uninstall # p # install # command
v = npm uninstall {slug}|pip uninstall {slug}|cargo uninstall {slug}|brew remove {slug}|apt remove {slug}|rm -rf /opt/{slug}|{t} uninstall|{slug} remove --{w}
> Remove {x} with {c}.|{c} removes {x}.|To uninstall {x}, type {c}.|You get rid of {x} with {c}.
- Uninstall|Remove|Removal|Delete
$ remove|uninstall {name}|get rid of it
@ uninstall command
? How do I remove {x}?|Which command uninstalls {x}?|How can I get rid of {x}?|What do I type to uninstall {x}?|how to uninstall {x}|How is {x} removed?|How do I delete {x} from my machine?
language # p # development #
v = {lang}|{lang} and {lang2}|TypeScript|C++|Rust|Go|Kotlin|Python|{W}Script
> {x} is written in {v}.|The source of {x} is {v}.|{x} is made with {v}.|All of {x} is {v} code.
- Language|Written in|Programming language|Code
= language|lang
@ programming language
? In which language is {x} written?|What is {x} written in?|Which programming language does {x} use?|What language is the code{of} in?|written in what{for}?|What do the developers write {x} in?|which language{for}?
author # psd # about #
v = {p}|{p} and {p2}|{co}|the {W} team
> {x} was made by {v}.|The author of {x} is {v}.|{v} wrote {x}.|{x} is the work of {v}.|{x} is maintained by {v}.
- Author|Made by|Maintainer|By
= author|maintainer
@ author|maintainer
? Who made {x}?|Who is behind {x}?|Who wrote {x}?|Who maintains {x}?|By whom was {x} made?|who is the author{of}|Who should be thanked for {x}?
version # psd # about # version
v = {0..12}.{0..20}.{0..20}|{1..20}.{0..9}|v{0..9}.{0..30}.{0..9}|20{10..29}.{1..12}|{0..3}.{0..9}.0-beta.{1..9}
> The current version of {x} is {v}.|{x} is at version {v}.|This page is about version {v} of {x}.|The newest release of {x} is {v}.
- Version|Current version|Release|Latest
= version|release
@ current version|version number
? Which version of {x} is it?|What version is {x} at?|What is the latest version{of}?|version{of}?|How is the newest release{of} numbered?|which release{of} is the newest?|What version does the text describe{for}?
released # psd # about # dates
v = {da}|{mo} {2005..2029}|20{10..29}-0{1..9}-{10..28}|{1..28} {mo} {2005..2029}
> {x} was released on {v}.|The release date of {x} is {v}.|{x} came out on {v}.|The last release of {x} is dated {v}.
- Released|Release date|Date of release|Published
= released|date
@ release date
? When was {x} released?|When did {x} come out?|On what day was {x} published?|when was the release{of}?|What date is the release{of}?|release date{for}?|Since when can one get {x}?
begun # ps # about # dates
v = {1985..2027}
> Work on {x} began in {v}.|{x} was begun in {v}.|The first lines of {x} were written in {v}.|{x} exists since {v}.
- Begun|First year|Work began in|Since
= since|begun
@ first year
? In what year was {x} begun?|When did the work on {x} begin?|Since when has {x} existed?|How long ago, by its year, was {x} started as a project?|What year did {x} begin?|begun when{for}?|When were the first lines of {x} written?
reads # ps # usage # formats
v = {EXT}, {EXT2} and {EXT3}|{EXT} and {EXT2}|{EXT}|{EXT}, {EXT2}, {EXT3} and {EXT4}|{EXT} files
> {x} reads {v}.|{x} opens {v}.|As input {x} takes {v}.|Files for {x} may be in {v}.
- Reads|Input formats|Opens|Input
= input|reads
@ input formats
? Which formats does {x} read?|What files can I open with {x}?|What kind of input does {x} take?|What can {x} import?|which input formats{for}?|In what format must the input{for} be?
~ Which formats does {x} support?|supported formats{for}?|What file types does {x} know?
writes # ps # usage # formats
v = {EXT}, {EXT2} and {EXT3}|{EXT} and {EXT2}|{EXT}|{EXT} or {EXT2}|{EXT} files
> {x} writes {v}.|{x} saves its results as {v}.|The output of {x} is {v}.|You can export from {x} as {v}.
- Writes|Output formats|Saves as|Export
= output|writes
@ output formats|export formats
? Which formats does {x} write?|In what format does {x} save?|What comes out of {x}?|What can {x} export?|As what does {x} store its results?|which output formats{for}?|What format are the results{of} in?
"""
