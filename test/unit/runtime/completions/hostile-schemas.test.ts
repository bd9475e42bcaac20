import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerCheck } from '../../../../runtime/completions/answer-check.js';
import { answerGrammar } from '../../../../runtime/completions/answer-form.js';
import { checkedGbnf } from '../../../../runtime/completions/grammar/gbnf.js';
import { INJECTED_FORMAT } from '../../../../runtime/completions/tools/formats.js';
import { Failure } from '../../../../schemas/errors.js';
import type { Tool } from '../../../../schemas/generated/common.js';
import { processorMs } from '../../../support/processor-time.js';
import { HOSTILE_SCHEMAS } from '../../../support/schemas/hostile.js';

/** Twice what the event loop may stand, in milliseconds of processors, since the collector has threads of its own. */
const MOST_MS = 100;
const TRIES = 5;

/** Runs some work until it is quick enough, a few times at most, and says how long the quickest took. */
function quickestMs(work: () => void): number {
  let best = Infinity;
  for (let attempt = 0; attempt < TRIES && best > MOST_MS; attempt += 1) {
    best = Math.min(best, processorMs(work));
  }
  return best;
}

function refusedOrMade(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof Failure && error.kind === 'invalid', String((error as Error).stack));
  }
}

const SHAPE = { format: INJECTED_FORMAT, parallel: true, thinking: 'none' } as const;
const tool = (name: string, parameters: unknown): Tool =>
  ({ type: 'function', function: { name, parameters: parameters as object } }) as Tool;

describe('a schema that multiplies', () => {
  for (const [name, make] of Object.entries(HOSTILE_SCHEMAS)) {
    it(`takes bounded time: ${name}`, () => {
      const schema = make() as object;
      let call = 0;
      // Not twice the same, which would be remembered.
      const another = () => {
        call += 1;
        return { ...schema, $comment: `${call}` };
      };
      const answer = quickestMs(() =>
        refusedOrMade(() =>
          answerGrammar({ ...SHAPE, form: { kind: 'schema', schema: another(), strict: false }, offer: { tools: [], mode: 'auto' } }),
        ),
      );
      const wanted = { ...SHAPE, form: { kind: 'text' } } as const;
      const called = quickestMs(() =>
        refusedOrMade(() => answerGrammar({ ...wanted, offer: { tools: [tool('t', another())], mode: 'required' } })),
      );
      const held = { subject: 'The answer', schema, strict: true, left: ['x'], ignored: [] };
      const checked = quickestMs(() =>
        new AnswerCheck(held, new Map()).verdict({ text: '{"a":["b",1,{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaa"}]}', toolCalls: [] }),
      );
      assert.ok(Math.max(answer, called, checked) < MOST_MS, `${answer}, ${called} and ${checked} ms`);
    });
  }

  it('leaves the other tools of a free answer their grammar, and takes the time of one', () => {
    const bad = Object.values(HOSTILE_SCHEMAS)[3]!();
    const tools = Array.from({ length: 128 }, (_, at) => tool(`bad${at}`, structuredClone(bad)));
    const good = tool('good', { properties: { city: { const: 'Paris' } }, required: ['city'] });
    let grammar = '';
    const ms = quickestMs(() => {
      grammar = answerGrammar({ ...SHAPE, form: { kind: 'text' }, offer: { tools: [good, ...tools], mode: 'auto' } })?.grammar ?? '';
    });
    assert.ok(ms < MOST_MS, `${ms} ms`);
    assert.match(grammar, /Paris/);
  });
});

describe('a finished text', () => {
  const TEXTS: Record<string, [unknown, unknown]> = {
    'with a pattern that goes back': [{ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(100_000)}b`],
    'with a look at each place': [{ type: 'string', pattern: '^(?:(?=.*x)a)*$' }, `${'a'.repeat(50_000)}x`],
    'with many items that must differ': [{ uniqueItems: true }, Array.from({ length: 100_000 }, (_, at) => ({ at }))],
    'with many members and patterns': [
      { patternProperties: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`(a|b)*${at}$`, { type: 'string' }])) },
      Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`ab${at}`, 1])),
    ],
    'in a choice at each level': [
      {
        $defs: {
          n: {
            anyOf: [{ properties: { a: { $ref: '#/$defs/n' } } }, { properties: { a: { $ref: '#/$defs/n' } }, maxProperties: 9 }],
            not: { const: 1 },
          },
        },
        $ref: '#/$defs/n',
      },
      Array.from({ length: 150 }).reduce((inner) => ({ a: inner }), 1),
    ],
  };
  for (const [name, [schema, value]] of Object.entries(TEXTS)) {
    it(`is checked in bounded time: ${name}`, () => {
      const text = JSON.stringify(value);
      const check = new AnswerCheck({ subject: 'The answer', schema, strict: true, left: ['x'], ignored: [] }, new Map());
      const ms = quickestMs(() => check.verdict({ text, toolCalls: [] }));
      assert.ok(ms < MOST_MS, `${ms} ms`);
    });
  }
});

describe('a grammar of a caller', () => {
  const REFUSED: Record<string, [string, RegExp]> = {
    'without a root': ['a ::= "x"', /rule named root/],
    'with a root that is only a text': ['a ::= "root ::= x"', /rule named root/],
    'that is long': [`root ::= ${'"x" '.repeat(20_000)}`, /characters/],
    'of many rules': [`root ::= "x"\n${Array.from({ length: 3_000 }, (_, at) => `r${at} ::= "x"`).join('\n')}`, /more than 2000 rules/],
    'of deep groups': [`root ::= ${'('.repeat(1_000)}"x"${')'.repeat(1_000)}`, /nested deeper/],
    'that repeats much': ['root ::= "x"{1000} "y"{0,60000}', /repeats more/],
    'that repeats long texts': [`root ::= "${'x'.repeat(1_000)}"{900}`, /repeats more/],
  };
  for (const [name, [grammar, message]] of Object.entries(REFUSED)) {
    it(`is refused ${name}`, () => {
      assert.throws(
        () => checkedGbnf(grammar, 'grammar'),
        (error: Failure) => error.kind === 'invalid' && message.test(error.message),
      );
    });
  }

  it('is read once where nothing is closed', () => {
    for (const sign of ['[', '"', '(', '[\\', 'a ', '{', '#']) {
      const grammar = `root ::= "x"\n${sign.repeat(65_000 / sign.length)}`;
      assert.ok(quickestMs(() => refusedOrMade(() => checkedGbnf(grammar, 'grammar'))) < MOST_MS, sign);
    }
  });

  it('is taken with comments, classes and escapes', () => {
    const grammar = 'root ::= item{1,3} # (((\nitem ::= [^\\]"(] "\\"(" | ( "a" )?';
    assert.equal(checkedGbnf(grammar, 'grammar'), grammar);
  });
});
