import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractorOf } from '../../../../../runtime/documents/extractors/index.js';

interface Item {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly confidence: number;
  readonly method: string;
}
const find = (text: string, options = {}): Record<string, Item[]> =>
  extractorOf('EntityExtractor').extract(text, options).output.entities as Record<string, Item[]>;
/** Kinds with their texts, such as `ORG:IBM`, in the order of the kinds. */
const brief = (text: string, options = {}): string[] =>
  Object.entries(find(text, options)).flatMap(([type, items]) => items.map((item) => `${type}:${item.text}`));

describe('entities', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['Dr. Jane Smith met President Barack Obama and Angela Merkel.', ['PERSON:Jane Smith', 'PERSON:Barack Obama', 'PERSON:Angela Merkel']],
    ['He met Ludwig van Beethoven there.', []],
    ['Google paid Acme Holdings and the Bank of England.', ['ORG:Google', 'ORG:Acme Holdings', 'ORG:Bank of England']],
    ['the University of Chicago', ['ORG:University of Chicago']],
    ['in Paris, France or the United Kingdom', ['GPE:Paris', 'GPE:France', 'GPE:United Kingdom']],
    ['Mount Everest, the Danube River, Heathrow Airport', ['LOC:Mount Everest', 'LOC:Danube River', 'FAC:Heathrow Airport']],
    ['World War II and the World Cup 2022', ['EVENT:World War II', 'EVENT:World Cup 2022']],
    ['the Data Protection Act of 2018, Article 5 and GDPR', ['LAW:Data Protection Act of 2018', 'LAW:Article 5', 'LAW:GDPR']],
    ['an iPhone 15 Pro with Windows 11', ['PRODUCT:iPhone 15 Pro', 'PRODUCT:Windows 11']],
    ['on March 5, 2024 at 2 pm, yesterday', ['DATE:March 5, 2024', 'DATE:yesterday', 'TIME:2 pm']],
    ['$3.5 million, 20 EUR or 1,000 dollars', ['MONEY:$3.5 million', 'MONEY:20 EUR', 'MONEY:1,000 dollars']],
    ['12% and 3.5 percent of v2.3.1', ['PERCENT:12%', 'PERCENT:3.5 percent', 'VERSION:v2.3.1']],
    ['bob@x.org, +1 415 555 2671, https://a.org/x', ['EMAIL:bob@x.org', 'PHONE:+1 415 555 2671', 'URL:https://a.org/x']],
    ['Plain words. Monday and January name nobody. Chapter 3.', []],
  ];
  for (const [text, expected] of cases) it(text, () => assert.deepEqual(brief(text), expected));

  it('says where, how and how surely it found each', () => {
    const text = '😀 The NSA asked Angela Merkel, a@b.org';
    const found = find(text, { confidence_threshold: 0 });
    for (const items of Object.values(found)) for (const item of items) assert.equal(text.slice(item.start, item.end), item.text);
    assert.deepEqual(
      [found.ORG, found.PERSON, found.EMAIL].map((items) => [items![0]!.method, items![0]!.confidence]),
      [
        ['capitalization', 0.6],
        ['pattern', 0.7],
        ['regex', 0.8],
      ],
    );
  });

  it('joins what touches', () => {
    assert.deepEqual(brief('Dr. J. Smith'), ['PERSON:J. Smith']);
    assert.deepEqual(brief('due 3 May yesterday'), ['DATE:3 May yesterday']);
    assert.deepEqual(brief('due 3 May yesterday', { merge_entities: false }), ['DATE:3 May', 'DATE:yesterday']);
  });

  it('puts the texts of each kind beside the chunk, once', () => {
    const { flat } = extractorOf('EntityExtractor').extract('Paris and Paris, a@b.org', {});
    assert.deepEqual(flat, { entities_gpe: ['Paris'], entities_email: ['a@b.org'] });
  });

  it('knows names of another language by no English word', () => {
    assert.deepEqual(brief('Angela Merkel in Paris, 12%', { model: 'de_core_news_sm' }), ['PERCENT:12%']);
  });

  it('says that the model is missing where rules may not stand in', () => {
    assert.throws(() => find('Paris', { use_fallback: false }), { kind: 'unavailable', message: /en_core_web_sm.*use_fallback/ });
  });
});
