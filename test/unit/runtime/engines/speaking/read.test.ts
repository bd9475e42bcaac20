import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planWords } from '../../../../../runtime/engines/speaking/text/plan.js';
import { readText } from '../../../../../runtime/engines/speaking/text/read.js';
import { processorMs } from '../../../../support/processor-time.js';

const read = (text: string): string =>
  readText(text)
    .map(({ words, mark }) => words.join(' ') + mark)
    .filter((part) => part !== '')
    .join(' ');

/** What is read for a text, by what it is about. */
const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  numbers: {
    '0': 'zero',
    '7': 'seven',
    '21 and 100': 'twenty one and one hundred',
    '1,234,567': 'one million two hundred thirty four thousand five hundred sixty seven',
    '12345': 'twelve thousand three hundred forty five',
    '3.14': 'three point one four',
    '.5 and 0.5': 'zero point five and zero point five',
    '-5': 'minus five',
    '1/2 cup': 'one half cup',
    '10/3': 'ten over three',
    '50%': 'fifty percent',
    '3-5%': 'three to five percent',
    '007': 'zero zero seven',
    '2nd, 3rd and 21st': 'second, third and twenty first',
    '1,000th': 'one thousandth',
    '100000000000000000000': `one${' zero'.repeat(20)}`,
    '24/7': 'twenty four seven',
    '3x faster': 'three times faster',
    '#5': 'number five',
    'v1.2.3': 'V one point two three',
    '192.168.0.1': 'one hundred ninety two dot one hundred sixty eight dot zero dot one',
    '555-123-4567': 'five five five one two three four five six seven',
    '5 + 3 = 8': 'five plus three equals eight',
  },
  money: {
    $5: 'five dollars',
    $1: 'one dollar',
    '$5.50': 'five dollars and fifty cents',
    '$0.99': 'ninety nine cents',
    '$1.01': 'one dollar and one cent',
    '£3m': 'three million pounds',
    '$1.2 billion': 'one point two billion dollars',
    '20€': 'twenty euros',
    '¥500': 'five hundred yen',
    '-$5': 'minus five dollars',
    $100k: 'one hundred thousand dollars',
    '$1,250.75': 'one thousand two hundred fifty dollars and seventy five cents',
  },
  times: {
    '10:30': 'ten thirty',
    '10:30 a.m. sharp': 'ten thirty A M sharp',
    '9:05pm': 'nine oh five P M',
    '14:00': 'fourteen hundred',
    '7:00': "seven o'clock",
    '3 p.m. today': 'three P M today',
    '12:15:30': 'twelve fifteen and thirty seconds',
  },
  dates: {
    'May 3rd, 2024': 'may third twenty twenty four',
    '2024-05-03': 'may third twenty twenty four',
    '5/3/2024': 'may third twenty twenty four',
    '3 May 2024': 'the third of may twenty twenty four',
    'Jan. 5': 'january fifth',
    'May 2024': 'may twenty twenty four',
    'in 1905': 'in nineteen oh five',
    'in 2000 and 2005': 'in two thousand and two thousand five',
    'the 1990s and 80s': 'the nineteen nineties and eighties',
    'March is long': 'march is long',
  },
  units: {
    '5 kg': 'five kilograms',
    '1 kg': 'one kilogram',
    '5km/h': 'five kilometers per hour',
    '20°C': 'twenty degrees celsius',
    '8 GB of RAM': 'eight gigabytes of ram',
    '6 ft': 'six feet',
    "5'10": 'five foot ten',
    '10-20 km': 'ten to twenty kilometers',
    '5 in the room': 'five in the room',
    '4K': 'four K',
  },
  'short forms': {
    'Dr. Smith': 'doctor smith',
    'Mr. and Mrs. Lee': 'mister and missus lee',
    'on Elm St. near': 'on elm street near',
    'St. Ives': 'saint ives',
    'e.g. this': 'for example this',
    'No. 5 is no good.': 'number five is no good.',
    'cats, dogs etc. Then': 'cats, dogs et cetera. then',
    'the U.S. Army': 'the U S army',
    'in the U.S. It ended': 'in the U S. it ended',
    'p. 12': 'page twelve',
    'J. K. Rowling': 'J K rowling',
    'Prof. Lee vs. Dr. No': 'professor lee versus doctor no',
  },
  acronyms: {
    'NASA and the FBI': 'nasa and the F B I',
    'APIs and CPUs': "A P I's and C P U's",
    "the CEO's desk": "the C E O's desk",
    'HTTP/2': 'H T T P two',
    'GPT-4 and mp3': 'G P T four and M P three',
    'H2O, B2B, 3D': 'H two O, B two B, three D',
    'R&D, AT&T': 'R and D, A T and T',
    'C++ and C#': 'C plus plus and C sharp',
    'JavaScript and YouTube': 'java script and you tube',
    'IT WAS A DARK NIGHT': 'it was a dark night',
    'World War II and Henry VIII': 'world war two and henry the eighth',
    'Chapter IV': 'chapter four',
  },
  addresses: {
    'ann.lee@example.com': 'ann dot lee at example dot com',
    'https://www.example.com/docs/page?x=1#top': 'example dot com slash docs slash page',
    'see example.org.': 'see example dot org.',
    'the end.Then': 'the end then',
  },
  markdown: {
    '**Bold** and _italic_ and `code`.': 'bold and italic and code.',
    '# Heading\ntext': 'heading. text',
    '- one\n- two': 'one. two.',
    '1. first\n2) second': 'first. second.',
    'See [a link](http://x.y/z).': 'see a link.',
    '![a picture](http://x.y/z.png)': 'a picture',
    'before\n```js\nconst x = 1;\n```\nafter': 'before after',
    '> quoted': 'quoted',
    '| a | b |\n|---|---|\n| c | d |': 'a, B. C, D.',
    snake_case_name: 'snake case name',
    '2 * 3': 'two three',
    '---': '',
    '<b>bold</b> text': 'bold text',
  },
  letters: {
    'café naïve Zürich': 'cafe naive zurich',
    "don’t I'm it's": "don't i'm it's",
    '“quoted” (brackets)': 'quoted brackets',
    'well-known': 'well known',
    'constructor toString __proto__ 5 constructor': 'constructor to string proto five constructor',
    'Wait... what?! No—yes': 'wait… what? no— yes',
    'Привет 你好 😀': '',
    '': '',
  },
};

describe('what is read of a text', () => {
  for (const [about, table] of Object.entries(TABLES))
    it(about, () => {
      const wrong = Object.entries(table).flatMap(([text, wanted]) =>
        read(text) === wanted ? [] : [`${text} -> ${read(text)}, not ${wanted}`],
      );
      assert.deepEqual(wrong, []);
    });

  it('holds no character but letters, apostrophes and marks, whatever the text holds', () => {
    let state = 7;
    const random = (below: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      return state % below;
    };
    const alphabet = [...'aAbZ019 .,;:!?\'"()[]{}<>|*_`~#@$€%&/\\+-=–—…éßñж漢😀\n\t\u0000\u200b\ud800'];
    for (let round = 0; round < 500; round += 1) {
      const text = Array.from({ length: random(200) }, () => alphabet[random(alphabet.length)]).join('');
      for (const { words, mark } of readText(text)) {
        for (const word of words) assert.match(word, /^(?:[a-z'-]{1,42}|[A-Z]('s)?)$/, JSON.stringify(text));
        assert.match(mark, /^[,;:.!?…—]?$/);
      }
    }
  });

  it('takes little time, whatever the text', () => {
    const texts = [
      'a',
      '9',
      '.',
      '*',
      '[',
      '[a](',
      '`',
      '<a',
      '_a',
      '1,',
      '-',
      '&amp;',
      '@a.',
      '|',
      '>',
      '( ',
      '$1.',
      'A.',
      'a ',
      'AB ',
      '1 ',
      'a\n',
    ].map((part) => part.repeat(4096).slice(0, 5000));
    for (const text of texts) {
      const ms = processorMs(() => planWords(text));
      assert.ok(ms < 1000, `${text.slice(0, 10)}: ${ms} ms`);
    }
  });
});

describe('the phrases of a text', () => {
  const words = (text: string): number[] => planWords(text).map((phrase) => phrase.script.split(' ').length);
  const LONG = 'This is a rather long sentence that goes on and on without any marks until the reader has lost all of his breath';

  it('begin with one of at most eight words', () => {
    for (const text of [
      LONG,
      'Well, I think that this is a good day for all of us.',
      `${LONG}, and more.`,
      '1234567 is a number, and so on.',
    ])
      assert.ok(words(text)[0]! <= 8 || planWords(text)[0]!.words.length === 1, JSON.stringify(planWords(text)[0]));
  });

  it('are sentences, and hold every word once', () => {
    const text = 'Hello there. One two three four five six seven eight nine ten eleven. Yes. No. Maybe so, as he said; and then: the end!';
    const phrases = planWords(text);
    assert.equal(phrases.map((phrase) => phrase.text).join(' '), text);
    assert.deepEqual(
      phrases.map((phrase) => phrase.text),
      ['Hello there.', 'One two three four five six seven eight nine ten eleven.', 'Yes. No. Maybe so, as he said; and then: the end!'],
    );
    assert.ok(phrases.every((phrase) => phrase.words.length > 0 && phrase.pause > 0));
  });

  it('have an end, also where the text has none', () => {
    const counts = words('word '.repeat(800));
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      800,
    );
    assert.ok(counts.every((count) => count <= 36));
    const digits = planWords('9'.repeat(4096));
    assert.equal(
      digits.map((phrase) => phrase.script.split(' ').length).reduce((sum, count) => sum + count, 0),
      4096,
    );
    assert.ok(digits.every((phrase) => phrase.script.split(' ').length <= 36));
  });
});
