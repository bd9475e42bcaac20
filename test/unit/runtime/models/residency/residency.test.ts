import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cacheKey } from '../../../../../runtime/models/residency/key.js';
import { Residency, residencyLimits } from '../../../../../runtime/models/residency/residency.js';
import { Failure } from '../../../../../schemas/errors.js';

const never = new AbortController().signal;
const LIMITS = { unloadAfterMs: 1e6, checkEveryMs: 1e6, maxLoaded: 3 };

class Thing {
  closed = false;
  async close(): Promise<void> {
    this.closed = true;
  }
}

function makeResidency(limits: Partial<typeof LIMITS> = {}) {
  const residency = new Residency<Thing>({ ...LIMITS, ...limits });
  let loads = 0;
  const fresh = async (): Promise<Thing> => {
    loads += 1;
    return new Thing();
  };
  const take = (
    key: string,
    more: { keep?: boolean; source?: string; load?: (signal: AbortSignal) => Promise<Thing>; signal?: AbortSignal } = {},
  ) => residency.acquire({ key, source: more.source, keep: more.keep ?? false, load: more.load ?? fresh }, more.signal ?? never);
  return { residency, take, loads: () => loads };
}

const keys = (residency: Residency<Thing>): string[] => residency.loaded().map((entry) => entry.key);

describe('residency', () => {
  it('loads once for all who ask at the same time, and later', async () => {
    const { residency, take, loads } = makeResidency();
    const leases = await Promise.all([take('a'), take('a'), take('a')]);
    assert.equal(new Set(leases.map((lease) => lease.resident)).size, 1);
    await take('a');
    assert.equal(loads(), 1);
    assert.equal(residency.loaded()[0]?.uses, 4);
    leases[0]?.release();
    leases[0]?.release();
    assert.equal(residency.loaded()[0]?.uses, 3);
    await residency.close();
  });

  it('loads anew what was let go, which is closed when its last user is done', async () => {
    const { residency, take, loads } = makeResidency();
    const [first, second] = [await take('a'), await take('a')];
    first.discard();
    first.discard();
    assert.deepEqual([keys(residency), first.resident.closed], [[], false]);
    const other = await take('a');
    assert.notEqual(other.resident, first.resident);
    first.release();
    assert.equal(first.resident.closed, false, 'the second still uses it');
    second.release();
    await new Promise(setImmediate);
    assert.deepEqual([first.resident.closed, other.resident.closed, keys(residency), loads()], [true, false, ['a'], 2]);
    const late = await take('b');
    late.release();
    late.discard();
    await new Promise(setImmediate);
    assert.ok(late.resident.closed, 'nobody uses it');
    other.discard();
    await residency.close();
    assert.ok(other.resident.closed, 'whatever is in use');
  });

  it('loads anew what comes from another place now; whoever uses the old copy keeps it', async () => {
    const { residency, take, loads } = makeResidency();
    const first = await take('a', { source: 'stand-in' });
    const second = await take('a', { source: 'stand-in' });
    const other = await take('a', { source: 'wanted' });
    assert.notEqual(other.resident, first.resident);
    first.release();
    assert.deepEqual([first.resident.closed, keys(residency), loads()], [false, ['a'], 2]);
    second.release();
    await new Promise(setImmediate);
    assert.deepEqual([first.resident.closed, other.resident.closed], [true, false]);
    assert.equal((await take('a', { source: 'wanted' })).resident, other.resident);
    await residency.close();
  });

  it('waits with the new copy until the old one has gone, where nobody uses it', async () => {
    const { residency, take } = makeResidency();
    const order: string[] = [];
    class Slow extends Thing {
      override async close(): Promise<void> {
        await new Promise(setImmediate);
        order.push('closed');
      }
    }
    (await take('a', { source: 'old', load: async () => new Slow() })).release();
    const load = async (): Promise<Thing> => {
      order.push('loaded');
      return new Thing();
    };
    await Promise.all([take('a', { source: 'new', load }), take('a', { source: 'new', load })]);
    assert.deepEqual(order, ['closed', 'loaded']);
    await residency.close();
  });

  it('gives those who wait for a load what they asked for when another place is wanted meanwhile', async () => {
    const { residency, take } = makeResidency();
    const old = take('a', { source: 'old' });
    const [was, now] = await Promise.all([old, take('a', { source: 'new' })]);
    assert.notEqual(was.resident, now.resident);
    was.release();
    await new Promise(setImmediate);
    assert.deepEqual([was.resident.closed, now.resident.closed, keys(residency)], [true, false, ['a']]);
    await residency.close();
  });

  it('makes room with the least recently used that nobody uses', async () => {
    const { residency, take } = makeResidency();
    const [a, b, c] = [await take('a'), await take('b'), await take('c')];
    b.release();
    a.release();
    await new Promise((resolve) => setTimeout(resolve, 2));
    (await take('b')).release();
    await take('d');
    assert.ok(a.resident.closed && !b.resident.closed && !c.resident.closed);
    assert.deepEqual(keys(residency), ['b', 'c', 'd']);
    await residency.close();
  });

  it('refuses with 503 when all that may be loaded are in use', async () => {
    const { residency, take } = makeResidency({ maxLoaded: 1 });
    const a = await take('a');
    await assert.rejects(take('b'), { kind: 'busy', message: /1 models are in use/ });
    a.release();
    (await take('b')).release();
    assert.ok(a.resident.closed);
    await residency.close();
  });

  it('fails all who wait for a failed load, and loads again for the next', async () => {
    const { residency, take } = makeResidency();
    const bad = { load: () => Promise.reject(new Failure('invalid', 'bad')) };
    const both = await Promise.allSettled([take('a', bad), take('a', bad)]);
    assert.ok(both.every((one) => one.status === 'rejected'));
    assert.deepEqual(residency.loading(), []);
    await take('a');
    await residency.close();
  });

  it('does not let one load wait for another', async () => {
    const { residency, take } = makeResidency();
    const stuck = take('slow', {
      load: (signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    stuck.catch(() => {});
    await take('fast');
    assert.deepEqual([keys(residency), residency.loading()], [['fast'], ['slow']]);
    await residency.close();
    await assert.rejects(stuck, { kind: 'unavailable' });
  });

  it('stops waiting when the caller goes, and keeps the load for the next', async () => {
    const { residency, take, loads } = makeResidency();
    const control = new AbortController();
    let finish!: (thing: Thing) => void;
    const waiting = take('a', { signal: control.signal, load: () => new Promise((resolve) => (finish = resolve)) });
    await new Promise((resolve) => setImmediate(resolve));
    control.abort(new Error('gone'));
    await assert.rejects(waiting, { message: 'gone' });
    finish(new Thing());
    await take('a');
    assert.deepEqual([loads(), residency.loaded()[0]?.uses], [0, 1]);
    await residency.close();
  });

  it('unloads sooner what asks for it, and never later than all', async () => {
    const { residency } = makeResidency({ unloadAfterMs: 200, checkEveryMs: 5 });
    const load = async (): Promise<Thing> => new Thing();
    const [soon, late] = await Promise.all([
      residency.acquire({ key: 'soon', keep: false, idleMs: 20, load }, never),
      residency.acquire({ key: 'late', keep: false, idleMs: 1e6, load }, never),
    ]);
    late.release();
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.ok(keys(residency).includes('soon'), 'it is in use');
    soon.release();
    while (!soon.resident.closed) await new Promise((resolve) => setTimeout(resolve, 2));
    while (!late.resident.closed) await new Promise((resolve) => setTimeout(resolve, 5));
    await residency.close();
  });

  it('unloads what is idle, never what is in use or kept', async () => {
    const { residency, take } = makeResidency({ unloadAfterMs: 1, checkEveryMs: 5 });
    const used = await take('used');
    // Loaded for somebody else, and to be kept from now on.
    const other = await take('kept');
    const kept = await take('kept', { keep: true });
    other.release();
    const idle = await take('idle');
    kept.release();
    idle.release();
    while (!idle.resident.closed) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(keys(residency), ['used', 'kept']);
    assert.ok(!used.resident.closed);
    await residency.close();
    assert.ok(used.resident.closed && kept.resident.closed);
    await assert.rejects(take('more'), { kind: 'unavailable' });
  });
});

describe('cache keys', () => {
  it('have the format of the wire', () => {
    assert.equal(
      cacheKey('org/repo', 'Q8_0', {
        n_ctx: 4096,
        n_batch: 512,
        n_gpu_layers: -1,
        n_threads: 2,
        flash_attn: true,
        use_mmap: false,
        use_mlock: true,
        cache_type_k: 'Q8_0',
        cache_type_v: 'f16',
      }),
      'language:org/repo:ctx4096:batch512:gpu-1:threads2:flashtrue:mmapfalse:mlocktrue:cachekq8_0:cachevf16:quantQ8_0',
    );
    assert.match(cacheKey('x', null, {}), /^language:x:ctxauto:.*:flashdefault:.*:quantdefault$/);
  });

  it('differ for every option', () => {
    const options = [
      {},
      { n_ctx: 1 },
      { n_slots: 1 },
      { n_ubatch: 1 },
      { kv_unified: true },
      { kv_unified: false },
      { n_batch: 1 },
      { use_mmap: true },
    ];
    assert.equal(new Set(options.map((one) => cacheKey('x', null, one))).size, options.length);
  });
});

describe('residency limits', () => {
  it('come from the environment in seconds, with defaults for what is no number', () => {
    assert.deepEqual(residencyLimits({}), { unloadAfterMs: 300_000, checkEveryMs: 30_000, maxLoaded: 16 });
    assert.deepEqual(residencyLimits({ MODEL_UNLOAD_TIMEOUT: '5', CLEANUP_CHECK_INTERVAL: 'x', MAX_LOADED_MODELS: '-1' }), {
      unloadAfterMs: 5000,
      checkEveryMs: 30_000,
      maxLoaded: 16,
    });
  });
});
