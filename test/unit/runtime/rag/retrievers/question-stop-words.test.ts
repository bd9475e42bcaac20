import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutStopWords } from '../../../../../runtime/rag/retrievers/question-stop-words.js';

describe('the words of a question', () => {
  for (const [question, words] of [
    ['What do I install before the first start?', 'install first start?'],
    ['Don’t you have “the” ports?', 'ports?'],
    ['Which bin is for household waste?', 'bin household waste?'],
    ['new bin colour', 'new bin colour'],
    ['Wo finde ich die Rechnung für den Monat?', 'finde Rechnung Monat?'],
    ['Où est la gare de Lyon ?', 'gare Lyon ?'],
    ['to be or not to be', 'to be or not to be'],
    ['"the who" live', '"the who" live'],
    ['+the -who music of an era', '+the -who music era'],
    ['', ''],
  ])
    it(`of ${JSON.stringify(question)} are ${JSON.stringify(words)}`, () => assert.equal(withoutStopWords(question!), words));
});
