import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_JSON_DEPTH, parseJson } from '../../../../gateway/http/json.js';
import { parseJsonInTurns } from '../../../../gateway/http/json-pieces.js';

/** More than is parsed at once, with everything that could be taken for a bracket, a comma or the end of a text. */
const ITEM = '{"text":"a,]}[{\\"\\\\","list":[1,[2,{"x":[]}],"\\\\\\\\"],"number":-1.5e-7}';
const LONG = Array(4000).fill(ITEM).join(', ');
const ROWS = Array.from({ length: 30_000 }, (_none, i) => `[${i},${i / 7},${Math.sin(i)}]`).join(',');

const PICTURE = `data:image/png;base64,${'iVBORw0KGgo/+A'.repeat(20_000)}==`;

const outcome = (parse: () => unknown): unknown => {
  try {
    return parse();
  } catch (error) {
    const { kind, message, errors } = error as { kind: string; message: string; errors: unknown };
    return { kind, message, errors };
  }
};
const same = async (text: string | Buffer): Promise<unknown> => {
  const bytes = Buffer.from(text as string);
  const inTurns = await parseJsonInTurns(bytes).then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
  const expected = outcome(() => parseJson(bytes));
  assert.deepEqual(outcome(inTurns), expected);
  return expected;
};

describe('JSON in turns', () => {
  for (const [name, text] of [
    ['one long list', `{"data":[${LONG}]}`],
    ['a long list among others', `{"model":"m,[","empty":[],"data":[${LONG}],"few":[1,2],"z":{"data":[${LONG}]}}`],
    ['rows of numbers', ` {"a":1,"data": [ ${ROWS} ] , "b":2}\n`],
    ['two long lists', `{"a":[${LONG}],"b":[${ROWS}]}`],
    ['a key with escapes', `{"d\\u0061ta":[${LONG}],"\\"":[${ROWS}]}`],
    ['a byte order mark', `\ufeff{"data":[${LONG}]}`],
    ['a key that comes twice', `{"data":[${LONG}],"data":[1]}`],
    ['a key that comes twice, long the second time', `{"data":7,"data":[${LONG}]}`],
    ['a key that comes twice, long both times', `{"data":[${LONG}],"data":[${ROWS}]}`],
    ['a key that comes twice, empty the second time', `{"data":[${LONG}],"data":[]}`],
    ['a list at the top', `[${LONG}]`],
    ['lists in a list at the top', `[[${LONG}],{"a":[${LONG}]}]`],
    ['pictures in a list', JSON.stringify({ model: 'm', images: [PICTURE, 'short', PICTURE], n: 1 })],
    [
      'a picture deep inside',
      JSON.stringify({ messages: [{ content: [{ type: 'image_url', image_url: { url: PICTURE } }], role: 'user' }] }),
    ],
    ['a picture in a list at the top', JSON.stringify([PICTURE])],
    ['a picture whose member comes twice', `{"a":"${PICTURE}","b":1,"a":"x"}`],
    ['a picture beside escapes', JSON.stringify({ a: '"\\"', b: PICTURE, c: `"${PICTURE}`, d: `${PICTURE}"`, e: `${PICTURE}\\` })],
    ['a picture beside a text of many bytes', JSON.stringify({ a: PICTURE, b: 'é'.repeat(100_000), c: `${PICTURE}\n` })],
    ['numbers between quotes that are escaped', `{"a":"\\"","b":[${Array(40_000).fill('1.5').join(',')}],"c":"\\""}`],
    ['lists in lists in objects', `{"a":{"b":[[[${LONG}],{"c":{"d":[${ROWS}],"e":{}}}],[],{}]}}`],
    [
      'objects of many members',
      JSON.stringify({ a: Object.fromEntries(Array.from({ length: 20_000 }, (_none, i) => [`n${i}`, { v: i }])) }),
    ],
    ['a member that comes twice beside others', `{"a":[${LONG}],"b":1,"a":{"c":[${ROWS}]},"7":1,"3":[${ROWS}]}`],
    ['blanks everywhere', `\n{ "a" :\t[ [ ${LONG} ] , [ ] , "${PICTURE}" ] , "b" : { } }\r\n `],
    ['a constructor', `{"constructor":{"a":[${LONG}]},"b":[{"constructor":1},${ROWS}]}`],
    ['a long text of escapes', JSON.stringify([{ a: '\u0001é😀\n'.repeat(50_000) }]).replaceAll('😀', '\\ud83d\\ude00')],
    ['a long text at the top', JSON.stringify([PICTURE, 1])],
    ['a long text', JSON.stringify({ data: 'x"\\'.repeat(200_000) })],
    ['text of many bytes', JSON.stringify({ data: Array(30_000).fill('é😀,"') })],
  ] as const) {
    it(`reads ${name} as at once`, async () => {
      assert.equal('kind' in ((await same(text)) as object), false);
    });
  }

  for (const [name, text] of [
    ['an empty element', `{"data":[${LONG},,${LONG}]}`],
    ['a comma before the end', `{"data":[${ROWS},]}`],
    ['a comma before the end, behind a piece', `{"data":["${'x'.repeat(200_000)}", ]}`],
    ['a comma at the start', `{"data":[,${ROWS}]}`],
    ['a wrong bracket', `{"data":[${ROWS}}`],
    ['a bracket too many', `{"data":[${ROWS}]]}`],
    ['no end', `{"data":[${ROWS}`],
    ['no end of a text', `{"data":[${LONG},"x`],
    ['a word that is none', `{"data":[${LONG},nul,${LONG}]}`],
    ['two values', `{"data":[${LONG}]}{"data":[${LONG}]}`],
    ['a list instead of a key', `{"a":1,[${LONG}]}`],
    ['no colon', `{"data"[${LONG}]}`],
    ['a member for the prototype', `{"data":[${LONG},{"__proto__":{}}]}`],
    ['a prototype of lists', `{"__proto__":[${LONG}]}`],
    ['too many levels', `{"data":[${ROWS},${'['.repeat(MAX_JSON_DEPTH - 1)}${']'.repeat(MAX_JSON_DEPTH - 1)}]}`],
    ['a picture with no end', `{"a":"${PICTURE}`],
    ['a long picture with no end', `{"a":"é${PICTURE.repeat(20)}`],
    ['a picture with a control character', `{"a":"${PICTURE}\t${PICTURE}"}`],
    ['a picture with a byte that is no text', Buffer.concat([Buffer.from(`{"a":"${PICTURE}`), Buffer.from([0xff]), Buffer.from('"}')])],
    ['a picture as a name', JSON.stringify({ [PICTURE]: PICTURE })],
    ['a picture as a name beside one', JSON.stringify({ a: PICTURE, [PICTURE]: 1 })],
    ['a list behind a list', `{"data":[[${LONG}] [${LONG}]]}`],
    ['a list behind a list in a list', `{"data":[[${LONG}] [1]]}`],
    ['a list behind a text', `["${PICTURE}" [1]]`],
    ['a name behind a value', `{"data":[${LONG}] "a":1}`],
    ['a number behind a list', `{"data":[[${LONG}] 1]}`],
    ['two texts without a comma', `["${PICTURE}" "${PICTURE}"]`],
    ['a long list for the prototype of a constructor', `{"constructor":{"prototype":[${LONG}]}}`],
    ['a fault behind many lines', `[\n${Array(40_000).fill('"é😀",\n').join('')} x]`],
    ['a fault in a long text', `{"a":1,\n"b":["é😀","${'é\\n'.repeat(60_000)}\\x"]}`],
    ['a fault before a bracket that does not fit', `{"data":[${LONG},{"a" 1, "b":[1,2}]}`],
    ['half an escape at the end of a text', `{"data":["${'é\\n'.repeat(60_000)}\\u12"]}`],
    ['a comma behind the body', `{"data":[${LONG}]},`],
    ['a picture for the prototype', `{"__proto__":"${PICTURE}"}`],
    ['a picture without a comma', `{"a":"${PICTURE}" "b":1}`],
    ['what is no UTF-8', Buffer.concat([Buffer.from(`{"data":[${ROWS},"`), Buffer.from([0xff]), Buffer.from('"]}')])],
  ] as const) {
    it(`refuses ${name} with the same words`, async () => {
      assert.equal(((await same(text)) as { kind: string }).kind, 'invalid');
    });
  }

  it('takes as many levels as are allowed', async () => {
    const levels = MAX_JSON_DEPTH - 2;
    assert.equal('kind' in ((await same(`{"data":[${ROWS},${'['.repeat(levels)}${']'.repeat(levels)}]}`)) as object), false);
  });

  for (const [name, text, message] of [
    ['brackets without end', '['.repeat(2_000_000), /nested deeper than 64 levels/],
    ['brackets of objects', '{"a":'.repeat(400_000), /nested deeper than 64 levels/],
    ['deep brackets behind a long list', `{"data":[${LONG}],"b":${'['.repeat(100_000)}`, /nested deeper than 64 levels/],
    ['1.2 million names', `{${Array.from({ length: 1_200_000 }, (_none, i) => `"k${i}":1`).join(',')}}`, /50000 different names/],
    [
      'as many names in many objects',
      `[${Array.from({ length: 120_000 }, (_none, i) => `{"k${i}":1}`).join(',')}]`,
      /50000 different names/,
    ],
    ['millions of lists', `[${'[],'.repeat(2_000_001)}1]`, /2000000 lists, objects and texts/],
    ['millions of objects', `{"a":[${'{},'.repeat(2_000_001)}1]}`, /2000000 lists, objects and texts/],
    ['millions of numbers in one list', `{"a":[${'1,'.repeat(2_100_000)}1]}`, /a list has more than 2000000 values/],
    ['a name that is long', `{"${'a'.repeat(1025)}":[${LONG}]}`, /a name of more than 1024 characters/],
    ['a short body with a name that is long', `{"${'a'.repeat(1025)}":1}`, /a name of more than 1024 characters/],
    ['a text of 89 MiB', `{"a":"${'a'.repeat(89 * 2 ** 20)}"}`, /a text has more than 92274688 bytes/],
    ['blanks without end', `{"a":1${' '.repeat(1_000_000)}}`, /65536 blanks or digits/],
    ['digits without end', `[${'1'.repeat(1_000_000)}]`, /65536 blanks or digits/],
  ] as const)
    it(`refuses ${name}`, () => assert.rejects(parseJsonInTurns(Buffer.from(text)), { kind: 'invalid', message }));

  it('reads as many members as there may be, of few names', async () => {
    const rows = (await parseJsonInTurns(Buffer.from(`[${Array(200_000).fill('{"a":1,"b":2}').join(',')}]`))) as unknown[];
    assert.deepEqual([rows.length, rows.at(-1)], [200_000, { a: 1, b: 2 }]);
  });

  for (const [name, text] of [
    ['a long list', `{"data":[${Array(20).fill(LONG).join(',')}]}`],
    ['a picture', JSON.stringify({ images: [PICTURE.repeat(120)] })],
  ] as const)
    it(`lets others run while it reads ${name}`, async () => {
      let rounds = 0;
      const count = setInterval(() => (rounds += 1), 0);
      await parseJsonInTurns(Buffer.from(text));
      clearInterval(count);
      assert.ok(rounds > 3, `${rounds} rounds`);
    });
});
