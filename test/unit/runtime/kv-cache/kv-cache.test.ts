import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { RestoredState, SavedState, SequenceStates } from '../../../../runtime/engines/contracts/language.js';
import { type Conversation, KvCache, type KvLimits } from '../../../../runtime/kv-cache/kv-cache.js';

const folders: string[] = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

/** A model's states without a model: files of a given size. */
class FileStates implements SequenceStates {
  readonly tag = '00000000000000aa';
  readonly held = new Set<string>();
  outcome: RestoredState['outcome'] = 'restored';
  bytes = 100;

  async save(_name: string, file: string, keep: boolean): Promise<SavedState> {
    writeFileSync(file, new Uint8Array(this.bytes + 1));
    if (keep) this.held.add(file);
    return { tokens: 40, bytes: this.bytes };
  }
  async restore(file: string, keep: boolean): Promise<RestoredState> {
    if (keep) this.held.add(file);
    return { outcome: this.outcome, tokens: 40 };
  }
  async drop(file: string): Promise<void> {
    this.held.delete(file);
  }
  holds(file: string): boolean {
    return this.held.has(file);
  }
}

const conversation = (text: string, model = 'm'): Conversation => ({
  model,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: text },
  ],
});

async function opened(limits: Partial<KvLimits> = {}, at?: string) {
  const folder = at ?? (await mkdtemp(join(tmpdir(), 'quern-kv-')));
  if (at === undefined) folders.push(folder);
  const cache = new KvCache({ folder, limits });
  const states = new FileStates();
  const save = async (text: string, options = {}) => (await cache.save(conversation(text), states, 'x', options))!;
  return { folder, cache, states, save };
}

describe('the KV cache', () => {
  it('misses unknown keys and other models', async () => {
    const { cache, save } = await opened();
    const entry = await save('one');
    assert.equal((await cache.validate('0'.repeat(24), conversation('one'))).reason, 'cache_key_not_found');
    const other = await cache.validate(entry.key, conversation('one', 'n'));
    assert.deepEqual([other.status, other.reusableTokens, /^model_mismatch: /.test(other.reason)], ['miss', 0, true]);
    await cache.close();
  });

  it('prorates tokens by segments', async () => {
    const { cache, save } = await opened();
    const entry = await save('one');
    const found = await cache.validate(entry.key, conversation('two'));
    assert.deepEqual([found.status, found.reusableTokens, found.reason], ['partial_hit', 20, 'turn_changed']);
    assert.equal((await cache.validate(entry.key, conversation('one'))).reusableTokens, 40);
    await cache.close();
  });

  it('removes what has expired, and keeps what is pinned', async () => {
    const { cache, save } = await opened({ ttlS: 0.001 });
    const entry = await save('one');
    const pinned = await save('two', { pinned: true });
    const long = await save('three', { ttlS: 1000 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal((await cache.validate(entry.key, conversation('one'))).reason, 'cache_key_not_found');
    assert.equal(await cache.collect(), 1);
    assert.deepEqual((await cache.entries()).map(({ key }) => key).sort(), [pinned.key, long.key].sort());
    await cache.close();
  });

  it('demotes the least recently used to the disk, and promotes what is restored', async () => {
    const { folder, cache, states, save } = await opened({ ramBytes: 250 });
    const [first, second, third] = [await save('1'), await save('2'), await save('3')];
    assert.deepEqual(
      [first, second, third].map((entry) => cache.tierOf(entry)),
      ['disk', 'ram', 'ram'],
    );
    assert.ok(existsSync(join(folder, `${first.key}.kvstate`)), 'its bytes are on disk');
    assert.equal(states.held.size, 2);
    assert.equal(await cache.restore(first, states), true);
    assert.equal(cache.tierOf(first), 'ram');
    assert.equal(states.held.size, 2, 'the budget holds after it');
    await cache.close();
  });

  it('holds the memory budget even when everything is pinned', async () => {
    const { cache, states, save } = await opened({ ramBytes: 150 });
    await save('1', { pinned: true });
    await save('2', { pinned: true });
    assert.equal(states.held.size, 1);
    assert.equal((await cache.entries()).length, 2);
    await cache.close();
  });

  it('evicts the least recently used when the disk is full, never what is pinned', async () => {
    const { folder, cache, save } = await opened({ diskBytes: 250 });
    const pinned = await save('1', { pinned: true });
    const old = await save('2');
    const last = await save('3');
    assert.deepEqual((await cache.entries()).map(({ key }) => key).sort(), [pinned.key, last.key].sort());
    assert.ok(!existsSync(join(folder, `${old.key}.kvstate`)));
    await cache.close();
  });

  const states = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.kvstate'));

  it('refuses what it could keep only in the place of pinned entries', async () => {
    const { folder, cache, save } = await opened({ diskBytes: 250 });
    const first = await save('1', { pinned: true });
    const loose = await save('2');
    const second = await save('3', { pinned: true });
    assert.ok(!existsSync(join(folder, `${loose.key}.kvstate`)), 'what is not pinned makes room');
    const refusal = { status: 413, code: 'CacheFull', message: /2 pinned entries.*200 bytes.*250.*DELETE \/v1\/cache/ };
    await assert.rejects(save('4', { pinned: true }), refusal);
    assert.equal(await save('5'), undefined, 'an answer is made all the same');
    assert.deepEqual(states(folder).sort(), [first, second].map(({ key }) => `${key}.kvstate`).sort());
    await cache.remove(first.key);
    assert.equal((await save('4', { pinned: true })).pinned, true);
    await cache.close();
  });

  it('drops a state that finds no room beside pinned ones, and nothing else with it', async () => {
    const { folder, cache, states: model, save } = await opened({ diskBytes: 450 });
    const kept = [await save('1', { pinned: true }), await save('2'), await save('3'), await save('4')].map(({ key }) => key);
    model.bytes = 400;
    assert.equal(await save('5'), undefined);
    assert.deepEqual((await cache.entries()).map(({ key }) => key).sort(), [...kept].sort());
    assert.deepEqual(states(folder).sort(), kept.map((key) => `${key}.kvstate`).sort());
    assert.equal(model.held.size, 4, 'the host does not hold it either');
    model.bytes = 350;
    const fits = await save('6');
    assert.deepEqual((await cache.entries()).map(({ key }) => key).sort(), [kept[0], fits.key].sort(), 'what fits makes room');
    await cache.close();
  });

  it('counts pinned entries, also those without a state', async () => {
    const { cache, save } = await opened({ entries: 2 });
    const first = await cache.index(conversation('1'), 5, { pinned: true });
    await save('2', { pinned: true });
    const refusal = { status: 413, code: 'CacheFull', message: /2 pinned entries/ };
    await assert.rejects(save('3', { pinned: true }), refusal);
    await assert.rejects(cache.index(conversation('3'), 5, { pinned: true }), refusal);
    await assert.rejects(cache.index(conversation('3'), 5), refusal, 'a key of nothing helps nobody');
    await cache.remove(first.key);
    await cache.index(conversation('3'), 5);
    assert.equal((await cache.entries()).length, 2);
    await cache.close();
  });

  it('pins in parallel no more than there is room for', async () => {
    const { cache, save } = await opened({ entries: 2 });
    const made = await Promise.allSettled(['1', '2', '3', '4'].map((text) => save(text, { pinned: true })));
    assert.deepEqual(made.map(({ status }) => status).sort(), ['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    assert.equal((await cache.entries()).length, 2);
    await cache.close();
  });

  it('does not keep a state that alone is too large', async () => {
    const { folder, cache, states } = await opened({ diskBytes: 50 });
    assert.equal(await cache.save(conversation('1'), states, 'x'), undefined);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.kvstate')),
      [],
    );
    await cache.close();
  });

  it('finds its states again after a restart, and clears away what it does not know', async () => {
    const { folder, cache, save } = await opened();
    const entry = await save('one', { pinned: true });
    const lost = await save('two');
    await cache.close();
    await rm(join(folder, `${lost.key}.kvstate`));
    writeFileSync(join(folder, 'stray.kvstate.tmp'), 'x');
    const again = await opened({}, folder);
    const [found, ...none] = await again.cache.entries();
    assert.deepEqual([found?.key, found?.pinned, none.length], [entry.key, true, 0]);
    assert.equal(again.cache.tierOf(found!), 'disk');
    assert.deepEqual(readdirSync(folder).sort(), [`${entry.key}.kvstate`, 'index.json'].sort());
    await again.cache.close();
  });

  it('starts empty where the index is damaged', async () => {
    const { folder, cache, save } = await opened();
    await save('one');
    await cache.close();
    writeFileSync(join(folder, 'index.json'), '[{"key":');
    const again = await opened({}, folder);
    assert.deepEqual(await again.cache.entries(), []);
    await again.cache.close();
  });

  const outcomes: [RestoredState['outcome'], used: boolean, kept: boolean][] = [
    ['restored', true, true],
    ['present', true, true],
    ['unfit', false, true],
    ['corrupt', false, false],
    ['missing', false, false],
    ['stale', false, false],
  ];
  for (const [outcome, used, kept] of outcomes) {
    it(`a restore that is ${outcome}`, async () => {
      const { cache, states, save } = await opened();
      const entry = await save('one');
      states.outcome = outcome;
      assert.equal(await cache.restore(entry, states), used);
      assert.equal((await cache.entries()).length, kept ? 1 : 0);
      await cache.close();
    });
  }

  it('leaves a state alone that belongs to other weights, or that needs too much of the free memory', async () => {
    const { cache, states, save } = await opened({ availableBytes: () => 200 });
    const entry = await save('one');
    assert.equal(await cache.restore(entry, states), false, '100 bytes are more than 40 % of 200');
    assert.equal(await cache.restore(entry, Object.assign(new FileStates(), { tag: '00000000000000bb' })), false);
    assert.equal((await cache.entries()).length, 1);
    await cache.close();
  });

  it('keeps equal conversations once', async () => {
    const { cache, states, save } = await opened();
    const entry = await save('one');
    const found = await cache.find(conversation('one'), states.tag, { pinned: true });
    assert.deepEqual([found?.key, found?.pinned], [entry.key, true]);
    assert.equal(await cache.find(conversation('one'), 'ffffffffffffffff'), undefined);
    await cache.close();
  });

  it('finds a state of any tag, and else the index alone, where nobody says which model is loaded', async () => {
    const { cache, states, save } = await opened();
    const bare = await cache.index(conversation('one'), 5);
    assert.equal((await cache.find(conversation('one'), null))?.key, bare.key);
    const entry = await save('one');
    assert.equal((await cache.find(conversation('one'), null))?.key, entry.key);
    assert.equal(await cache.find(conversation('two'), null), undefined);
    assert.equal(await cache.restore(bare, states), false, 'there is nothing to put back');
    await cache.close();
  });
});
