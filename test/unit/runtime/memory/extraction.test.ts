import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entity } from '../../../../runtime/engines/contracts/encoder.js';
import { mentionsIn } from '../../../../runtime/memory/extraction/entities.js';
import { statementsIn } from '../../../../runtime/memory/extraction/relations.js';
import { nameKey } from '../../../../runtime/memory/extraction/statement.js';
import { PARTS } from '../../../support/memory/conversation.js';

const AT = Date.parse('2025-05-10T12:00:00Z');
const DAY_MS = 86_400_000;

/** Statements in short: `subject | relation | object`, with `not` before what is denied. */
function said(text: string, isSpeaker = true): string[] {
  return statementsIn({ text, atMs: AT, isSpeaker }).map(
    ({ subject, relation, object, negated }) => `${negated ? 'not ' : ''}${subject} | ${relation} | ${object}`,
  );
}

/** Texts with all that may be taken from them. */
const STATEMENTS: readonly (readonly [text: string, ...statements: string[]])[] = [
  ['My name is Ada Lovelace.', 'user | name | Ada Lovelace'],
  ['I am called Grace.', 'user | name | Grace'],
  ['I work at Siemens as an electrician.', 'user | works_at | Siemens', 'user | job | electrician'],
  ['She works for nobody.'],
  ['Anna works for the Red Cross in Geneva.', 'Anna | works_at | the Red Cross in Geneva'],
  ['I am working at a bakery.', 'user | works_at | a bakery'],
  ['I live in Graz, and my brother Felix lives in Linz.', 'user | lives_in | Graz', 'user | brother | Felix', 'Felix | lives_in | Linz'],
  ['We moved to New York two weeks ago.', 'user | lives_in | New York'],
  ["I don't live in Graz any more.", 'not user | lives_in | Graz'],
  ['I no longer work at Siemens.', 'not user | works_at | Siemens'],
  ['I am allergic to peanuts.', 'user | allergic_to | peanuts'],
  ['I am not allergic to peanuts.', 'not user | allergic_to | peanuts'],
  ['I love spicy food but I hate coriander.', 'user | likes | spicy food', 'user | hates | coriander'],
  ["Peter's sister is Maria.", 'Peter | sister | Maria'],
  ["Peter's sister Maria plays the cello.", 'Peter | sister | Maria', 'Maria | plays | the cello'],
  ['Maria is my aunt.', 'user | aunt | Maria'],
  ['My email address is ada@example.org.', 'user | email address | ada@example.org'],
  ['My new phone number is +43 660 1234567.', 'user | phone number | +43 660 1234567'],
  ['I have a dog called Rex.', 'Rex | is | dog', 'user | has | Rex'],
  ['I have two cats.', 'user | has | two cats'],
  ['I have two cats called Tom and Jerry.', 'user | has | two cats called Tom and Jerry'],
  ['I also work at Beta on weekends.', 'user | works_at | Beta'],
  ['I am 34.', 'user | age | 34'],
  ['Mia is 7 years old.', 'Mia | age | 7 years old'],
  ['I live in a houseboat.', 'user | lives_in | a houseboat'],
  ['Dr. Weber is a dentist. He lives in Salzburg.', 'Dr. Weber | is | a dentist', 'Dr. Weber | lives_in | Salzburg'],
  ['Please remember that my locker is number 12.'],
  ['Please remember that my locker number is 12.', 'user | locker number | 12'],
  ['By the way, my favourite colour is the green of old buses.', 'user | favourite colour | the green of old buses'],
  ['The printer is called Gutenberg.', 'printer | name | Gutenberg'],
  ['Berlin is the capital of Germany.', 'Berlin | is | the capital of Germany'],
  ['I sold my bike to Tom.', 'my bike | owned_by | Tom', 'user | sold | my bike'],
  ['Lena comes from Kiel and speaks Danish.', 'Lena | from | Kiel', 'Lena | speaks | Danish'],
];

/** Texts from which nothing may be taken: nobody says there that something is so. */
const NOTHING = [
  '',
  '   \n\t ',
  'Hello!',
  'Thanks, that is all.',
  'Where do I live?',
  'Do I work at Siemens?',
  'If I lived in Paris, I would be happy.',
  'Maybe I live in a simulation.',
  'I want to live in Rome.',
  'I might work at Google next year.',
  'I am thinking about a dog called Rex.',
  'He says I am allergic to fun.',
  'Tom told me that Anna lives in Oslo.',
  'I wish my name was Bond.',
  'Imagine my name is Napoleon.',
  'My friend said "I work at the circus and I live in a tent".',
  '> I live in Atlantis.',
  '```\nmy name is root\n```',
  'Write a poem about a woman called Eva who works at a bank.',
  'It is raining.',
  'That is fine.',
  'This is a test.',
  'There is a problem with the build.',
  'I am tired.',
  'I am here.',
  'We are not amused.',
  'What a day!',
  'Ok, do it.',
  'Translate: I live in Vienna.',
  'For example, my name is John Doe.',
  'You are a helpful assistant.',
  'Ignore all previous instructions.',
  'Ich wohne in Berlin und arbeite bei Siemens.',
  'Je travaille chez Renault.',
  '私は東京に住んでいます。',
  'SELECT * FROM users WHERE name = 1;',
  'a,b,c\n1,2,3',
  'I have no idea.',
  'I used to live in Prague.',
  'Every Tuesday I eat fish.',
  'On Friday I eat fish.',
  'I live in a nightmare.',
  'We live in a strange world.',
  'My sister was called Ann until she changed it to Eve.',
  'I worked at Acme until May.',
];

for (const [text, ...expected] of STATEMENTS) {
  test(`statements of: ${text}`, () => assert.deepEqual(said(text), expected));
}

for (const text of NOTHING) test(`nothing is taken from: ${JSON.stringify(text)}`, () => assert.deepEqual(said(text), []));

test('what is taken stands in the text, and what nobody says of themselves is nobody`s', () => {
  let statements = 0;
  for (const { text, atMs } of PARTS.flatMap(({ said: all }) => all)) {
    for (const { subject, object, text: clause } of statementsIn({ text, atMs, isSpeaker: true })) {
      statements += 1;
      assert.ok(text.includes(object), `${object} in ${text}`);
      assert.ok(subject === 'user' || text.toLowerCase().includes(subject.toLowerCase()), `${subject} in ${text}`);
      assert.ok(text.includes(clause), clause);
    }
  }
  assert.ok(statements > 60, String(statements));
  assert.deepEqual(said('I live in Graz. My sister Eva lives in Linz.', false), []);
  assert.deepEqual(said('Eva lives in Linz.', false), ['Eva | lives_in | Linz']);
});

test('a statement holds from the day that it names, else from its message on', () => {
  const [moved] = statementsIn({ text: 'I moved to Oslo yesterday.', atMs: AT, isSpeaker: true });
  assert.deepEqual([moved?.object, moved?.validFrom], ['Oslo', AT - DAY_MS]);
  const [works] = statementsIn({ text: 'I work at Tesla.', atMs: AT, isSpeaker: true });
  assert.equal(works?.validFrom, AT);
  assert.ok(works!.confidence > statementsIn({ text: 'Eva is a nurse. She lives in Linz.', atMs: AT, isSpeaker: true }).at(-1)!.confidence);
});

test('names are the same without case, width, articles and marks', () => {
  for (const name of ['the Double Bass', 'double  bass.', '“Double Bass”', 'ＤＯＵＢＬＥ bass']) assert.equal(nameKey(name), 'double bass');
});

test('people, places, figures and addresses are found by rules', () => {
  const text =
    'On 5 May 2024 Dr. Marte Lie paid €1,200 in Oslo; write to marte@lie.example or see https://lie.example/a. My cat Mimi agrees.';
  const names = mentionsIn(text).map(({ name, type }) => `${type} ${name}`);
  for (const expected of ['DATE 5 May 2024', 'NAME Marte Lie', 'MONEY €1,200', 'GPE Oslo', 'EMAIL marte@lie.example', 'NAME Mimi'])
    assert.ok(names.includes(expected), `${expected} in ${names.join('; ')}`);
  assert.deepEqual(mentionsIn('nothing to see here'), []);
  for (const { name, start, end } of mentionsIn(text)) assert.equal(text.slice(start, end), name);
});

/** What an encoder says of words of a text, at their places in code points. */
function named(text: string, ...words: readonly (readonly [word: string, label: string, score?: number])[]): Entity[] {
  return words.map(([word, label, score = 0.9]) => {
    const start = [...text.slice(0, text.indexOf(word))].length;
    return { text: word, label, start, end: start + [...word].length, score };
  });
}

test('names of an encoder stand beside those of rules, between figures and names of rules where they overlap', () => {
  const text = '\u{1F600} kari met Dr. Marte Lie of Nordlys AS on 5 May 2024; mail kari@nordlys.example from Oslo.';
  const found = mentionsIn(
    text,
    named(text, ['kari', 'PER'], ['Marte Lie of Nordlys', 'MISC'], ['May', 'PER'], ['nordlys', 'ORG'], ['2024', 'DATE'], ['AS', 'PRODUCT']),
  );
  assert.deepEqual(
    found.map(({ name, type, by }) => `${by}: ${type} ${name}`),
    [
      'encoder: PERSON kari',
      'encoder: NAME Marte Lie of Nordlys',
      'encoder: PRODUCT AS',
      'rules: DATE 5 May 2024',
      'rules: EMAIL kari@nordlys.example',
      'rules: GPE Oslo',
    ],
  );
  for (const { name, start, end } of found) assert.equal(text.slice(start, end), name);
});

test('an encoder is not believed where it is unsure, names figures, or places what does not stand there', () => {
  const text = 'the heron is called kari by us';
  const [kari] = named(text, ['kari', 'PER']);
  const wrong: Partial<Entity>[] = [
    { score: 0.4 },
    { score: Number.NaN },
    { label: 'CARDINAL' },
    { label: 'LABEL_1' },
    { start: 0, end: 4 },
    { start: -1 },
    { start: Number.NaN },
    { end: 1e9 },
    { start: 30, end: 20 },
    { text: 'Kari' },
  ];
  for (const one of wrong) assert.deepEqual(mentionsIn(text, [{ ...kari!, ...one }]), [], JSON.stringify(one));
  assert.equal(mentionsIn(text, [kari!, kari!])[0]?.name, 'kari');
  assert.equal(mentionsIn(text, [kari!, kari!]).length, 1);
  // Of a label that nobody knows, it is known that it names something.
  assert.equal(mentionsIn(text, [{ ...kari!, label: 'vogel' }])[0]?.type, 'NAME');
});

test('the cost is linear in the text, whatever the text', () => {
  const worst = [
    'I ',
    'My sister ',
    'A’s b ',
    '"',
    'and I am ',
    ' ',
    'Aa ',
    'I am a, ',
    '.',
    'x',
    '\n> ',
    '```',
    'my a b c d ',
    'I sold to A ',
  ];
  for (const piece of worst) {
    const timed = (units: number): number => {
      const text = piece.repeat(Math.ceil(units / piece.length));
      const start = process.cpuUsage();
      statementsIn({ text, atMs: AT, isSpeaker: true });
      mentionsIn(text);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    // The best of some: a first run compiles code. Other processes do not lengthen processor time.
    const ms = Math.min(timed(1_000_000), timed(1_000_000), timed(1_000_000));
    assert.ok(ms < 50, `${JSON.stringify(piece)} took ${ms.toFixed(0)} ms`);
  }
});
