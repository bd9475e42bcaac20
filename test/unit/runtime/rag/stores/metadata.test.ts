import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { indexedText } from '../../../../../runtime/rag/stores/metadata.js';

describe('what a chunk is found by', () => {
  const text = '## Charges\n\nOverdue books cost ten pence.';

  it('is its text after the titles that it does not show, each twice', () => {
    const metadata = { headings: ['Rules of the library', 'Charges'] };
    assert.equal(indexedText({ text, metadata }), `Rules of the library\nRules of the library\n${text}`);
  });

  it('is its text alone without such titles', () => {
    for (const metadata of [{}, { headings: ['Charges'] }, { headings: 'Rules' }, { headings: [1, null] }])
      assert.equal(indexedText({ text, metadata }), text);
  });
});
