import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ChatTemplate } from '../../../runtime/engines/language/templates/template.js';

const FILE = join(import.meta.dirname, '..', '..', '..', '..', 'models', 'tiny', 'template.jinja');
const template = new ChatTemplate(readFileSync(FILE, 'utf8'));

/** A function that a request offers, and the line that the model sees of it. */
const CASES: [string, object, string][] = [
  ['nothing but a name', { name: 'bare' }, 'bare()'],
  ['parameters without properties', { name: 'told', description: 'Two\nlines', parameters: { type: 'object' } }, 'told(): Two lines'],
  [
    'what is required and what is not',
    { name: 'w', description: 'D', parameters: { properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] } },
    'w(a: string, b?: integer): D',
  ],
  [
    'a parameter with the name of a method of dictionaries',
    { name: 'order', parameters: { properties: { items: { type: 'array', items: { type: 'string' } } } } },
    'order(items?: array {"type": "string"})',
  ],
  [
    'choices and descriptions',
    { name: 'w', parameters: { properties: { unit: { type: 'string', enum: ['c', 'f'], description: 'A "unit"' } } } },
    'w(unit?: string ["c", "f"] "A \\"unit\\"")',
  ],
  [
    'unions, nested objects, and schemas that say nothing',
    {
      name: 'w',
      parameters: {
        properties: { a: { type: ['string', 'null'] }, b: { anyOf: [{ type: 'null' }] }, c: { properties: { x: {} } }, d: true },
      },
    },
    'w(a?: ["string", "null"], b? [{"type": "null"}], c? {"x": {}}, d?)',
  ],
];

for (const [name, offered, line] of CASES)
  test(`the built-in model's template shows tools as signatures: ${name}`, () => {
    const tools = [{ type: 'function', function: offered }];
    const prompt = template.render({ messages: [{ role: 'user', content: 'Go' }], tools, add_generation_prompt: true });
    assert.equal(/<tools>\n([\s\S]*)\n<\/tools>/.exec(prompt)?.[1], line);
  });
