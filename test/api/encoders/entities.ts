import assert from 'node:assert/strict';
import { type Body, post, refused } from '../../support/encoders-stage.js';
import type { Scenario } from '../../support/scenario.js';

/** Rows on entities in texts, at one path. */
export const finding = (path: string): Scenario[] => [
  post(
    path,
    { model: 'tiny/ner', texts: ['\u{1F600} Anna Bruno works in Hamburg .', 'tea'] },
    {
      name: `37 ${path}: entities with offsets in code points`,
      json: (body: Body) => {
        assert.equal(body.data.length, 2);
        const found = body.data[0].entities.map(({ text, label, start, end }: Body) => [text, label, start, end]);
        assert.deepEqual(found, [
          ['Anna Bruno', 'PER', 2, 12],
          ['Hamburg', 'LOC', 22, 29],
        ]);
        for (const { score } of body.data[0].entities) assert.ok(score > 0.5 && score <= 1, String(score));
        assert.deepEqual(body.data[1], { index: 1, entities: [] });
      },
    },
  ),
  post(
    path,
    { model: 'tiny/ner', input: '\u{1F600} Anna Bruno works in Hamburg .' },
    { name: `${path}: one text as input`, json: (body) => assert.ok(body.data[0].entities.length > 0) },
  ),
  refused(path, { model: 'tiny/ner', texts: [] }, 422, ['texts', 'fewer than 1']),
  refused(path, { model: 'tiny/ner', texts: null }, 422, ['texts']),
  refused(path, { model: 'tiny/ner' }, 422, ['texts']),
  refused(path, { model: 'tiny/gguf', texts: ['x'] }, 400, ['finds entities']),
  refused(path, { model: 'no/ner', texts: ['x'] }, 404, ['quern pull no/ner']),
];
