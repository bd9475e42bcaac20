import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { itemId, responseId, StoredResponses } from '../../../../runtime/responses/stored-responses.js';
import { openStore, type Store } from '../../../../runtime/store/store.js';
import { emptyDataDir } from '../../../support/daemon.js';

const DAY_MS = 86_400_000;
const value = (text: string, previous?: string) => ({
  response: { text },
  input: [],
  output: [{ text }],
  ...(previous ? { previous } : {}),
});

describe('stored responses', () => {
  const dataDir = emptyDataDir();
  let store: Store;
  before(async () => {
    store = await openStore(dataDir);
  });
  after(() => store.close());

  it('are in the order of time', () => assert.ok(responseId(1_000) < responseId(2_000)));

  it('give turns and items back, also after the store was opened anew', async () => {
    const [one, two] = [responseId(), responseId()];
    const responses = new StoredResponses(store);
    await responses.keep(one, value('a'), 10);
    await responses.keep(two, value('b', one), 10);
    await store.close();
    store = await openStore(dataDir);
    const again = new StoredResponses(store);
    assert.deepEqual(
      (await again.chain(two)).map(({ response }) => response.text),
      ['a', 'b'],
    );
    assert.deepEqual(again.item(itemId('msg', two, 0)), { text: 'b' });
    assert.throws(() => again.item(itemId('msg', two, 1)), { code: 'item_not_found' });
    await again.remove(one);
    await assert.rejects(again.chain(two), { code: 'response_not_found', kind: 'not_found' });
  });

  it('go when they are too old', async () => {
    const old = responseId(Date.now() - 31 * DAY_MS);
    const responses = new StoredResponses(store);
    await responses.keep(old, value('old'), 10);
    assert.throws(() => responses.get(old), { kind: 'not_found' });
    await responses.keep(responseId(), value('new'), 10);
    assert.equal(store.responses.get(old), undefined);
  });

  it('make room for new ones, by number and by bytes', async () => {
    for (const limits of [{ count: 3 }, { bytes: 30 }]) {
      const responses = new StoredResponses(store, limits);
      const ids: string[] = [];
      for (let n = 0; n < 6; n += 1) {
        ids.push(responseId());
        await responses.keep(ids[n]!, value(String(n)), 10);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      const there = ids.filter((id) => store.responses.get(id) !== undefined);
      assert.deepEqual(there, ids.slice(-3));
      assert.equal(store.responseSizes.keys({ limit: 100 }).length, 3);
    }
  });
});
