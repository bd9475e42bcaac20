import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type OptionShapes, readOptions } from '../../../runtime/config/plugin-options.js';
import { extractors } from '../../../runtime/documents/extractors/index.js';
import { EMBEDDERS } from '../../../runtime/rag/embedders/index.js';
import { RETRIEVERS } from '../../../runtime/rag/retrievers/index.js';

const SCHEMAS = join(import.meta.dirname, '../../../../schemas');
const files = readdirSync(SCHEMAS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));
const documents = new Map(files.map((file) => [`file:///${file}`, JSON.parse(readFileSync(join(SCHEMAS, file), 'utf8')) as object]));

/** Every place of a schema that gives examples, as a JSON pointer with them. */
function* examplesIn(node: unknown, pointer = ''): Generator<[pointer: string, examples: unknown[]]> {
  if (typeof node !== 'object' || node === null) return;
  if ('examples' in node && Array.isArray(node.examples)) yield [pointer, node.examples];
  for (const [key, member] of Object.entries(node))
    if (key !== 'examples') yield* examplesIn(member, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

describe('examples of settings', () => {
  it('fit their schemas', () => {
    const ajv = new Ajv2020({ strict: false, schemas: [...documents].map(([$id, document]) => ({ ...document, $id })) });
    let seen = 0;
    for (const [id, document] of documents)
      for (const [pointer, examples] of examplesIn(document))
        for (const example of examples) {
          const isValid = ajv.validate({ $ref: `${id}#${encodeURI(pointer)}` }, example);
          assert.ok(isValid, `${id}#${pointer}: ${JSON.stringify(example)}: ${ajv.errorsText()}`);
          seen += 1;
        }
    assert.ok(seen > 100);
  });

  it('are taken by the plug-ins whose options they are', () => {
    const kinds = [...Object.values(EMBEDDERS), ...Object.values(RETRIEVERS), ...Object.values(extractors)];
    let seen = 0;
    for (const { type, options } of kinds as readonly { type: string; options: OptionShapes }[])
      for (const [key, { examples = [] }] of Object.entries(options))
        for (const example of examples) {
          assert.deepEqual((readOptions(type, options, { [key]: example }) as Record<string, unknown>)[key], example, `${type}.${key}`);
          seen += 1;
        }
    assert.ok(seen > 30);
  });
});
