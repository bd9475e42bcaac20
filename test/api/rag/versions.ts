import assert from 'node:assert/strict';
import { type Result, stage } from '../../support/rag-stage.js';
import type { Scenario } from '../../support/scenario.js';

/** Files that come again with other content. */
export const VERSIONS: Scenario[] = [
  {
    name: 'a file that comes again with other content answers alone, with what is known of it',
    path: '/v1/projects/ns/versions/rag/stats',
    json: async () => {
      const docs = '/v1/projects/ns/versions/datasets/docs';
      const ask = async (query: string): Promise<Result[]> =>
        (await stage.call('POST', '/v1/projects/ns/versions/rag/query', { query })).results;
      await stage.take(docs, {
        'price.txt': 'The old price is ten.',
        'цена.txt': Buffer.from([0xcd, 0xee, 0xe2, 0xe0, 0xff, 0x20, 0xf6, 0xe5, 0xed, 0xe0]),
      });
      await stage.take(docs, { 'price.txt': 'The new price is twelve.' });
      const results = await ask('price');
      assert.deepEqual(results.map(({ content }) => content).sort(), ['The new price is twelve.', 'Новая цена']);
      const [cyrillic, latin] = ['цена.txt', 'price.txt'].map(
        (name) => results.find(({ metadata }) => metadata.file_name === name)!.metadata,
      );
      assert.deepEqual([latin!.file_version, latin!.encoding, latin!.encoding_confidence], [2, 'utf-8', undefined]);
      assert.equal(cyrillic!.encoding, 'windows-1251');
      assert.ok((cyrillic!.encoding_confidence as number) > 0.5);
    },
  },
];
