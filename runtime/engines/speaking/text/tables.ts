import { byWord } from './token.js';

/** Words for what is written short, by its text in lower case without the point behind it. `mid` never ends a sentence with its point. */
export const ABBREVIATIONS = byWord<{ readonly words: string; readonly mid?: true }>({
  mr: { words: 'mister', mid: true },
  mrs: { words: 'missus', mid: true },
  ms: { words: 'miz', mid: true },
  dr: { words: 'doctor', mid: true },
  prof: { words: 'professor', mid: true },
  st: { words: 'saint', mid: true },
  gen: { words: 'general', mid: true },
  sgt: { words: 'sergeant', mid: true },
  capt: { words: 'captain', mid: true },
  lt: { words: 'lieutenant', mid: true },
  rev: { words: 'reverend', mid: true },
  sen: { words: 'senator', mid: true },
  gov: { words: 'governor', mid: true },
  vs: { words: 'versus', mid: true },
  p: { words: 'page', mid: true },
  pp: { words: 'pages', mid: true },
  approx: { words: 'approximately', mid: true },
  fig: { words: 'figure', mid: true },
  no: { words: 'number', mid: true },
  vol: { words: 'volume', mid: true },
  dept: { words: 'department' },
  est: { words: 'established' },
  etc: { words: 'et cetera' },
  jr: { words: 'junior' },
  sr: { words: 'senior' },
  inc: { words: 'incorporated' },
  ltd: { words: 'limited' },
  corp: { words: 'corporation' },
  co: { words: 'company' },
  ave: { words: 'avenue' },
  blvd: { words: 'boulevard' },
  rd: { words: 'road' },
  mt: { words: 'mount', mid: true },
  'e.g': { words: 'for example', mid: true },
  'i.e': { words: 'that is', mid: true },
  'a.m': { words: 'A M' },
  'p.m': { words: 'P M' },
  'u.s': { words: 'U S' },
  'u.k': { words: 'U K' },
  'u.n': { words: 'U N' },
  'ph.d': { words: 'P H D' },
  'a.k.a': { words: 'A K A', mid: true },
  'p.s': { words: 'P S' },
});

/** Months by their first letters; as abbreviations too. */
export const MONTHS = 'january february march april may june july august september october november december'.split(' ');

/** The month that a word names, whole or by its first three or four letters with or without a point. */
export function monthOf(word: string): string | undefined {
  const text = word.toLowerCase().replace(/\.$/, '');
  return text.length < 3
    ? undefined
    : MONTHS.find((month) => month === text || ((text.length === 3 || text === 'sept') && month.startsWith(text)));
}

/** A unit after a number: its name for one, and for more where that is not the same with an s. */
export const UNITS = byWord<readonly [one: string, many?: string]>({
  km: ['kilometer'], m: ['meter'], cm: ['centimeter'], mm: ['millimeter'], µm: ['micrometer'], nm: ['nanometer'],
  mi: ['mile'], ft: ['foot', 'feet'], yd: ['yard'], in: ['inch', 'inches'], 'km/h': ['kilometer per hour', 'kilometers per hour'],
  'm/s': ['meter per second', 'meters per second'], mph: ['mile per hour', 'miles per hour'], kph: ['kilometer per hour', 'kilometers per hour'],
  kg: ['kilogram'], g: ['gram'], mg: ['milligram'], lb: ['pound'], lbs: ['pound'], oz: ['ounce'], t: ['ton'],
  l: ['liter'], L: ['liter'], ml: ['milliliter'], mL: ['milliliter'], cl: ['centiliter'], gal: ['gallon'],
  s: ['second'], sec: ['second'], ms: ['millisecond'], min: ['minute'], mins: ['minute'], h: ['hour'], hr: ['hour'], hrs: ['hour'],
  B: ['byte'], kB: ['kilobyte'], KB: ['kilobyte'], MB: ['megabyte'], GB: ['gigabyte'], TB: ['terabyte'], KiB: ['kibibyte'],
  MiB: ['mebibyte'], GiB: ['gibibyte'], 'MB/s': ['megabyte per second', 'megabytes per second'], 'GB/s': ['gigabyte per second', 'gigabytes per second'],
  Mbps: ['megabit per second', 'megabits per second'], Gbps: ['gigabit per second', 'gigabits per second'],
  kbps: ['kilobit per second', 'kilobits per second'],
  Hz: ['hertz', 'hertz'], kHz: ['kilohertz', 'kilohertz'], MHz: ['megahertz', 'megahertz'], GHz: ['gigahertz', 'gigahertz'],
  W: ['watt'], kW: ['kilowatt'], MW: ['megawatt'], kWh: ['kilowatt hour'], V: ['volt'], mV: ['millivolt'], A: ['ampere'], mAh: ['milliampere hour'],
  dB: ['decibel'], px: ['pixel'], fps: ['frame per second', 'frames per second'], rpm: ['revolution per minute', 'revolutions per minute'],
  '°C': ['degree celsius', 'degrees celsius'], '°F': ['degree fahrenheit', 'degrees fahrenheit'], '°': ['degree'],
  'm²': ['square meter'], 'm2': ['square meter'], 'km²': ['square kilometer'], km2: ['square kilometer'], 'm³': ['cubic meter'], 'ft²': ['square foot', 'square feet'],
  ha: ['hectare'], kcal: ['kilocalorie'], cal: ['calorie'], kJ: ['kilojoule'], J: ['joule'], hp: ['horsepower', 'horsepower'],
}); // biome-ignore format: a table

/** Units that are words or names when they stand apart from their number. */
export const ONLY_ATTACHED: ReadonlySet<string> = new Set(['in', 'A', 'B', 'J', 'L', 'cal', 'ha', 'hp']);

/** Signs of money: one and many, and the hundredth. */
export const MONEY = byWord<readonly [one: string, many: string, cent: string, cents: string]>({
  $: ['dollar', 'dollars', 'cent', 'cents'],
  '£': ['pound', 'pounds', 'penny', 'pence'],
  '€': ['euro', 'euros', 'cent', 'cents'],
  '¥': ['yen', 'yen', 'sen', 'sen'],
  '₹': ['rupee', 'rupees', 'paisa', 'paise'],
});

/** What a sum is multiplied by, written after it. */
export const MULTIPLES = byWord<string>({
  k: 'thousand', K: 'thousand', thousand: 'thousand', m: 'million', M: 'million', mn: 'million', million: 'million',
  b: 'billion', B: 'billion', bn: 'billion', billion: 'billion', T: 'trillion', tn: 'trillion', trillion: 'trillion',
}); // biome-ignore format: a table

/** Signs that are said where they stand alone or between words. */
export const SIGNS = byWord<string>({
  '&': 'and', '+': 'plus', '=': 'equals', '×': 'times', '÷': 'divided by', '@': 'at', '%': 'percent', '°': 'degrees',
  '<': 'less than', '>': 'greater than', '≤': 'at most', '≥': 'at least', '±': 'plus or minus', '≈': 'about', '~': 'about',
  '→': 'to', '^': 'to the power of', '√': 'the square root of', '§': 'section', '©': 'copyright',
}); // biome-ignore format: a table

const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Short forms in capitals that are read as words; others of up to four letters are spelled. */
export const READ_AS_WORDS = wordSet(
  'NASA NATO OPEC AIDS RAM ROM LAN WAN SIM PIN GIF JPEG UNESCO UNICEF FIFA UEFA ASAP LASER RADAR SCUBA SWAT NAFTA FOMO YOLO SARS COVID CAPTCHA BIOS JSON YAML TOML NIMBY DARPA OSHA HIPAA MIDI CRISPR ASCII ACID REST SOAP CRUD',
);
/** How some of those, and other words that dictionaries lack, are said. */
export const RESPELLED = byWord<string>({
  json: 'jay son', yaml: 'yam el', toml: 'tom el', jpeg: 'jay peg', sql: 'S Q L', ascii: 'ask ee', covid: 'co vid', url: 'U R L', wifi: 'why fie',
  'wi-fi': 'why fie', iphone: 'eye phone', ipad: 'eye pad', 'c#': 'C sharp', 'f#': 'F sharp', ios: 'eye O S', macos: 'mack O S', gmail: 'G mail', ebook: 'E book', email: 'E mail', 'e-mail': 'E mail',
  github: 'git hub', gitlab: 'git lab', youtube: 'you tube', linkedin: 'linked in', whatsapp: 'whats app', chatgpt: 'chat G P T', openai: 'open A I',
  nginx: 'engine X', sqlite: 'S Q lite', mysql: 'my S Q L', postgresql: 'post gres Q L', uwebsockets: 'micro web sockets', captcha: 'cap cha',
 crispr: 'crisper', hipaa: 'hippa', ok: 'okay', vs: 'versus', utf: 'U T F', http: 'H T T P', https: 'H T T P S', www: 'W W W', html: 'H T M L',
}); // biome-ignore format: a table

/** Words of up to three letters that stay words in a text that shouts. */
export const SHORT_WORDS = wordSet(
  'A I AM AN AS AT BE BY DO GO HE IF IN IS IT ME MY NO OF ON OR SO TO UP WE THE AND BUT FOR NOT YOU ALL ANY CAN HAD HAS HER HIM HIS HOW MAN NEW NOW OLD ONE OUR OUT SEE TWO WAY WHO DID GET LET MAY PUT SAY SHE TOO USE WHY DAY BAD BIG FUN YES TOP RUN STOP',
);

/** What a Roman number behind it counts: "Chapter IV". */
export const COUNTED = wordSet(
  'chapter part act scene section volume book war phase type class level grade stage version episode season article title appendix figure table step bowl',
);
/** Names that a Roman number behind them numbers in an order: "Henry VIII". */
export const NUMBERED_NAMES = wordSet(
  'henry louis elizabeth george charles james edward william richard john paul pius benedict francis philip frederick napoleon nicholas alexander catherine mary gregory leo',
);

/** Words that begin a sentence, so that the point of a short form in capitals before them ends one. */
export const STARTERS = wordSet(
  'the it he she they we you i this that these those but and in on at there then when if so what who why how my our his her their',
);

/** Short forms in capitals that are spelled also in a text that shouts. */
export const SPELLED = wordSet(
  'CEO CTO CFO USA API APIS CPU GPU FBI CIA EU UN UK AI UI URL USB HTTP HTTPS HTML IBM DIY FAQ VIP ETA DNA RNA PDF TV',
);
