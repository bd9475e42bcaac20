import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { clicked } from '../../support/browser.js';
import { webModule } from '../../support/web/module.js';
import { NO_BROWSER, WebStage } from '../../support/web/stage.js';

const has = (text: string): string => `document.querySelector('main').innerText.includes(${JSON.stringify(text)})`;
const TEXTS = {
  'returns.md': '# Returns\n\nGoods can be returned within 30 days of the delivery.',
  'guarantee.md': '# Guarantee\n\nFrames have a guarantee of five years, and tyres of six months.',
  'postage.md': '# Postage\n\nParcels to islands take three more days.',
};

describe('the retrieval lab', { skip: NO_BROWSER }, () => {
  const stage = new WebStage();
  const ask = async (path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${stage.daemon.core}/v1/projects/default/quickstart${path}`, {
      ...(body === undefined ? {} : { method: 'POST' }),
      ...(body instanceof FormData
        ? { body }
        : body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return (await answer.json()) as Record<string, unknown>;
  };

  before(async () => {
    await ask('/datasets', { name: 'shop', database: 'main_database', data_processing_strategy: 'universal_processor' });
    const form = new FormData();
    for (const [name, text] of Object.entries(TEXTS)) form.append('files', new Blob([text]), name);
    await ask('/datasets/shop/data/bulk', form);
    await ask('/datasets/shop/process', {});
  });

  it('asks two strategies beside each other, explains scores, and filters', async () => {
    const { browser } = stage;
    await stage.open('lab');
    await browser.fill('[data-question]', 'How long is the guarantee of tyres?');
    await browser.until(`document.querySelector('form button[type=submit]:enabled')`);
    await browser.press('Enter');
    await browser.until(`document.querySelectorAll('.columns section ol li').length >= 4`);
    assert.match(await browser.value<string>(`document.querySelector('.columns li').innerText`), /guarantee\.md/);
    await browser.click('Why this score', '.columns li');
    assert.match(await browser.value<string>(`document.querySelector('.columns dl').innerText`), /Words[\s\S]*BM25[\s\S]*Fusion/);
    await browser.until(clicked(`document.querySelector('.columns li input[type=checkbox]')`));
    await stage.inspect('lab-found');
    await browser.click('Add a filter');
    await browser.fill('[aria-label="Metadata 1"]', 'file_name');
    await browser.fill('[aria-label="Value 1"]', 'postage.md');
    await browser.click('Ask', 'form');
    await browser.until(`document.querySelectorAll('.columns section ol li').length === 2 && ${has('postage.md')}`);
    await browser.click('Remove condition 1');
    await browser.click('Ask', 'form');
    await browser.until(`document.querySelectorAll('.columns section ol li').length >= 4`);
  });

  it('keeps a question with its right passages, and measures the strategies by it', async () => {
    const { browser } = stage;
    // Another question is typed, and not asked yet: what is kept is the one that was answered.
    await browser.fill('[data-question]', 'Something else');
    await browser.click('Keep as a test question');
    await browser.until(has('1 right passage'));
    const { questions } = (await ask('/questions')) as { questions: { query: string; database: string; relevant: unknown[] }[] };
    assert.deepEqual(
      questions.map(({ query, database, relevant }) => [query, database, relevant.length]),
      [['How long is the guarantee of tyres?', 'main_database', 1]],
    );
    // Marks are of the question that was asked.
    await browser.until(clicked(`document.querySelector('.columns li input[type=checkbox]')`));
    await browser.until(has('1 passage is marked as right'));
    await browser.fill('[data-question]', 'How long do parcels take?');
    await browser.press('Enter');
    await browser.until(has('Mark the passages that answer "How long do parcels take?" first.'));
    await browser.fill('form input[type=number]', '500');
    await browser.until(has('A whole number from 1 to 50.'));
    assert.equal(
      await browser.value(
        `[...document.querySelectorAll('button')].find((one) => one.innerText === 'Measure the chosen strategies').disabled`,
      ),
      true,
    );
    await browser.fill('form input[type=number]', '5');
    await browser.click('Change the question How long');
    await browser.fill('dialog[open] textarea', 'How long is the guarantee of tyres and frames?');
    await browser.click('Change', 'dialog[open] footer');
    await browser.until(has('tyres and frames?'));
    await browser.click('Ask again: How long is');
    await browser.until(`document.querySelector('.columns li')?.innerText.includes('guarantee.md')`);
    await browser.click('Measure the chosen strategies');
    await browser.until(has('100 %'));
    await stage.inspect('lab-measured');
    await browser.click('guarantee.md', '.columns li');
    await browser.until(`document.querySelector('mark')?.innerText.includes('five years')`);
    await stage.inspect('data-file-text');
    // What was found is still there when the reader comes back.
    await browser.value('(history.back(), 0)');
    await browser.until(`document.querySelector('.columns li')?.innerText.includes('guarantee.md')`);
    assert.match(await browser.value<string>(`document.querySelector('[data-question]').value`), /tyres and frames/);
    await browser.click('Remove the question');
    await browser.click('Keep it', 'dialog[open]');
    await browser.click('Remove the question');
    await browser.click('Remove', 'dialog[open] footer');
    await browser.until(has('None yet.'));
  });
});

describe('conditions of the retrieval lab', () => {
  it('mean texts that look like numbers too', async () => {
    const { filtersOf, conditionsOf } = await webModule<{
      filtersOf(conditions: object[]): object | undefined;
      conditionsOf(filters: unknown): object[];
    }>('/src/views/lab/filters.ts');
    const conditions = [
      { key: 'part', operator: '$eq', value: '2026' },
      { key: 'name', operator: '$eq', value: 'pump' },
      { key: 'kind', operator: '$in', value: '7, oil' },
      { key: 'state', operator: '$ne', value: 'true' },
      { key: 'state', operator: '$ne', value: 'old' },
      { key: 'page', operator: '$gte', value: '3' },
    ];
    const filters = filtersOf([...conditions, { key: 'part', operator: '$lt', value: ' ' }]);
    assert.deepEqual(filters, {
      part: { $in: ['2026', 2026] },
      name: { $eq: 'pump' },
      kind: { $in: ['7', 7, 'oil'] },
      state: { $nin: ['true', true, 'old'] },
      page: { $gte: 3 },
    });
    assert.deepEqual(conditionsOf(filters), conditions);
  });
});
