import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { AnswerCheck } from '../../runtime/completions/answer-check.js';
import { GrammarRules } from '../../runtime/completions/grammar/rules.js';
import { schemaExpression } from '../../runtime/completions/json-schema-grammar.js';
import { Failure } from '../../schemas/errors.js';
import { Gbnf } from '../support/gbnf.js';
import { TOLD_IN_PART, ZOD_TYPES } from '../support/schemas/zod-types.js';

/** Texts that are drawn from each grammar. */
const DRAWN = 20;
const PYTHON = JSON.parse(readFileSync(new URL('../../../test/support/schemas/pydantic-types.json', import.meta.url), 'utf8')) as Record<
  string,
  Record<string, unknown>
>;

/** Numbers from 0 to 1, the same each time. */
function drawing(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** Values that the grammar of a strict schema writes and the check of the finished text lets pass. What is held wholly always passes. */
function written(schema: unknown): unknown[] {
  const rules = new GrammarRules();
  const { expression, left } = schemaExpression(schema, rules, { strict: true });
  const gbnf = new Gbnf(rules.text(expression));
  const check = new AnswerCheck({ subject: 'The answer', schema, strict: true, left: ['all'], ignored: [] }, new Map());
  const random = drawing();
  return Array.from({ length: DRAWN }, () => gbnf.sample(random)).flatMap((text) => {
    const { flaw } = check.verdict({ text, toolCalls: [] });
    assert.ok(flaw === undefined || left.length > 0, flaw);
    return flaw === undefined ? [JSON.parse(text)] : [];
  });
}

/** What TypeScript helpers make of a type: zod itself, the AI SDK, and openai's, which take fewer types. */
const HELPERS: Record<string, (type: z.ZodType) => { type: z.ZodType; schema: unknown } | undefined> = {
  zod: (type) => ({ type, schema: z.toJSONSchema(type) }),
  'the AI SDK': (type) => {
    const wrapped = z.object({ value: type });
    return { type: wrapped, schema: z.toJSONSchema(wrapped, { target: 'draft-7', io: 'input', reused: 'inline' }) };
  },
  openai: (type) => {
    const wrapped = z.object({ value: type });
    try {
      return { type: wrapped, schema: zodResponseFormat(wrapped, 'answer').json_schema.schema };
    } catch {
      return undefined;
    }
  },
};

for (const [helper, made] of Object.entries(HELPERS)) {
  describe(`the schemas of ${helper}`, () => {
    for (const [name, type] of Object.entries(ZOD_TYPES)) {
      it(`hold an answer to ${name}`, () => {
        const of = made(type);
        if (!of) return;
        for (const value of written(of.schema))
          assert.ok(TOLD_IN_PART.has(name) || of.type.safeParse(value).success, JSON.stringify(value));
      });
    }
  });
}

/** LangChain's strict form of a map with a least size allows no value. */
const IMPOSSIBLE = new Set(['langchain dictLens']);

for (const [helper, schemas] of Object.entries(PYTHON)) {
  describe(`the schemas of ${helper} in Python`, () => {
    for (const [name, schema] of Object.entries(schemas)) {
      it(`hold an answer to ${name}`, () => {
        if (IMPOSSIBLE.has(`${helper} ${name}`)) assert.throws(() => written(schema), Failure);
        else assert.ok(written(schema).length > 0);
      });
    }
  });
}
