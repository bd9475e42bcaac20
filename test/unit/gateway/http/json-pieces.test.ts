import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_JSON_DEPTH, parseJson } from '../../../../gateway/http/json.js';
import { parseJsonInTurns } from '../../../../gateway/http/json-pieces.js';

/** More than is parsed at once, with everything that could be taken for a bracket, a comma or the end of a text. */
const ITEM = '{"text":"a,]}[{\\"\\\\","list":[1,[2,{"x":[]}],"\\\\\\\\"],"number":-1.5e-7}';
const LONG = Array(4000).fill(ITEM).join(', ');
const ROWS = Array.from({ length: 30_000 }, (_none, i) => `[${i},${i / 7},${Math.sin(i)}]`).join(',');

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
  const inTurns = await parseJsonInTurns(bytes).then((value) => () => value, (error: unknown) => () => { throw error; }); // biome-ignore format: one question
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

  it('lets others run meanwhile', async () => {
    let rounds = 0;
    const count = setInterval(() => (rounds += 1), 0);
    await parseJsonInTurns(Buffer.from(`{"data":[${Array(20).fill(LONG).join(',')}]}`));
    clearInterval(count);
    assert.ok(rounds > 3, `${rounds} rounds`);
  });
});
