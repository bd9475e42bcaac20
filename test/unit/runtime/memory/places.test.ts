import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Box, MemoryStore, NewMemory, Place } from '../../../../runtime/memory/contract.js';
import type { KindSpace, RecordChange } from '../../../../runtime/memory/kind.js';
import { PlaceTree } from '../../../../runtime/memory/place-index.js';
import { longestTurnMs } from '../../../support/longest-turn.js';
import { ALL_KINDS, type MemoryStage, openMemoryStage } from '../../../support/memory/store-stage.js';
import { randomOf } from '../../../support/retrieval-corpus.js';

const DAY_MS = 86_400_000;
const RECORDS = 1_200;
const QUESTIONS = 60;
const RADIANS = Math.PI / 180;

/** The plain way: the angle between two vectors, whose arc tangent is exact for small and large angles. */
function metres(a: Place, b: Place): number {
  const at = ({ lat, lon }: Place): [number, number, number] => [
    Math.cos(lat * RADIANS) * Math.cos(lon * RADIANS),
    Math.cos(lat * RADIANS) * Math.sin(lon * RADIANS),
    Math.sin(lat * RADIANS),
  ];
  const [p, q] = [at(a), at(b)];
  const cross = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
  return 6_371_008.8 * Math.atan2(Math.hypot(...cross), p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
}

const inBox = ({ lat, lon }: Place, { south, north, west, east }: Box): boolean => {
  const isIn = (one: number): boolean => (west <= east ? one >= west && one <= east : one >= west || one <= east);
  return lat >= south && lat <= north && (isIn(lon) || (Math.abs(lon) === 180 && isIn(-lon)));
};

for (const index of ['rtree', 'geohash'] as const) {
  describe(`places by ${index}, against a list and a loop`, () => {
    const random = randomOf(index === 'rtree' ? 7 : 8);
    const between = (low: number, high: number): number => low + random() * (high - low);
    let stage: MemoryStage;
    let store: MemoryStore;
    const known: Required<Pick<NewMemory, 'data' | 'place' | 'timeMs' | 'tags'>>[] = [];

    /** Around towns, at the poles, on both sides of the date line, and anywhere. */
    const somewhere = (): Place => {
      const kind = Math.floor(random() * 6);
      if (kind === 0) return { lat: random() < 0.5 ? 90 : -90, lon: between(-180, 180) };
      if (kind === 1) return { lat: between(88, 90), lon: between(-180, 180) };
      if (kind === 2) return { lat: between(-20, -10), lon: random() < 0.5 ? between(178, 180) : between(-180, -178) };
      if (kind === 3) return { lat: Math.round(between(-90, 90)), lon: [-180, 180, 0][Math.floor(random() * 3)]! };
      if (kind === 4) return { lat: 46.9 + between(-0.05, 0.05), lon: 7.4 + between(-0.05, 0.05) };
      return { lat: between(-90, 90), lon: between(-180, 180) };
    };
    const filters = () => {
      const toMs = stage.nowMs - Math.floor(random() * 10) * DAY_MS;
      const which = Math.floor(random() * 5);
      if (which === 0) return { fromMs: toMs - 5 * DAY_MS, toMs };
      if (which === 1) return { tags: ['even'] };
      if (which === 2) return { asOfMs: toMs };
      return {};
    };
    const expected = (filter: ReturnType<typeof filters>) =>
      known.filter(
        ({ timeMs, tags }) =>
          timeMs >= Math.max(filter.fromMs ?? 0, stage.nowMs - 30 * DAY_MS) &&
          timeMs <= Math.min(filter.toMs ?? Number.POSITIVE_INFINITY, filter.asOfMs ?? Number.POSITIVE_INFINITY) &&
          (filter.tags ?? []).every((tag) => tags.includes(tag)),
      );

    before(async () => {
      stage = await openMemoryStage([{ ...ALL_KINDS, spatial: { ...ALL_KINDS.spatial, index_type: index } }]);
      store = await stage.main();
      for (let i = 0; i < RECORDS; i += 1)
        known.push({ data: i, place: somewhere(), timeMs: stage.nowMs - Math.floor(random() * 29 * DAY_MS), tags: i % 2 ? [] : ['even'] });
      const batches = [known.slice(0, 600), known.slice(600)];
      await store.write({ add: batches[0]!.map((one) => ({ type: 'text', ...one })) });
      // The index is made at the first question, and kept up afterwards.
      await store.places!.nearest({ lat: 0, lon: 0 }, { limit: 1 });
      await store.write({ add: batches[1]!.map((one) => ({ type: 'text', ...one })) });
      for (let i = 0; i < 100; i += 1) {
        const [one] = known.splice(Math.floor(random() * known.length), 1);
        const [found] = await store
          .places!.within(one!.place, 1, { limit: 1_000 })
          .then((all) => all.filter(({ record }) => record.data === one!.data));
        await store.write({ remove: [found!.record.id] });
      }
    });
    after(() => stage.close());

    it('finds what lies within a radius, the nearest first', async () => {
      for (let i = 0; i < QUESTIONS; i += 1) {
        const centre = somewhere();
        const radiusM = 10 ** between(1, 7.3);
        const filter = filters();
        const found = await store.places!.within(centre, radiusM, { ...filter, limit: 1_000 });
        const wanted = expected(filter).filter(({ place }) => metres(centre, place) <= radiusM);
        const context = JSON.stringify({ centre, radiusM, filter });
        if (wanted.length <= 1_000)
          assert.deepEqual(found.map(({ record }) => record.data).sort(), wanted.map(({ data }) => data).sort(), context);
        for (const [at, { record, distanceM }] of found.entries()) {
          assert.ok(Math.abs(distanceM - metres(centre, record.place!)) < 0.01, context);
          assert.ok(at === 0 || found[at - 1]!.distanceM <= distanceM);
        }
      }
    });

    it('finds the nearest', async () => {
      for (let i = 0; i < QUESTIONS; i += 1) {
        const centre = somewhere();
        const filter = filters();
        const limit = Math.ceil(random() * 20);
        const found = await store.places!.nearest(centre, { ...filter, limit });
        const distances = expected(filter)
          .map(({ place }) => metres(centre, place))
          .sort((a, b) => a - b)
          .slice(0, limit);
        assert.equal(found.length, distances.length);
        for (const [at, { distanceM }] of found.entries())
          assert.ok(Math.abs(distanceM - distances[at]!) < 0.01, JSON.stringify({ centre, filter }));
      }
    });

    it('finds what lies in a box, also over the date line', async () => {
      for (let i = 0; i < QUESTIONS; i += 1) {
        const [one, two] = [somewhere(), somewhere()];
        const box = { south: Math.min(one.lat, two.lat), north: Math.max(one.lat, two.lat), west: one.lon, east: two.lon };
        const filter = filters();
        const found = await store.places!.box(box, { ...filter, limit: 1_000 });
        const wanted = expected(filter).filter(({ place }) => inBox(place, box));
        if (wanted.length <= 1_000)
          assert.deepEqual(found.map(({ data }) => data).sort(), wanted.map(({ data }) => data).sort(), JSON.stringify({ box, filter }));
        assert.ok(found.every(({ timeMs }, at) => at === 0 || found[at - 1]!.timeMs >= timeMs));
      }
    });

    it('lets go of what is past its time', async () => {
      stage.nowMs += 15 * DAY_MS;
      const left = known.filter(({ timeMs }) => timeMs >= stage.nowMs - 30 * DAY_MS).length;
      assert.ok(left > 0 && left < known.length);
      const world = { south: -90, north: 90, west: -180, east: 180 };
      assert.equal((await store.places!.box(world, { limit: 1_000 })).length, left);
      await store.prune();
      assert.equal(store.counts().kinds.spatial, left);
      assert.equal((await store.places!.box(world, { limit: 1_000 })).length, left);
    });
  });
}

it('makes the index anew when its type changes', async () => {
  const stage = await openMemoryStage();
  const cells = { ...ALL_KINDS, spatial: { ...ALL_KINDS.spatial, index_type: 'geohash' } } as const;
  try {
    const tree = await stage.main();
    await tree.write({ add: [{ type: 'text', data: 'here', place: { lat: 1, lon: 2 } }] });
    stage.stores = [cells];
    const found = await (await stage.main()).places!.nearest({ lat: 1, lon: 2 }, {});
    assert.deepEqual(
      found.map(({ record }) => record.data),
      ['here'],
    );
    // Who still holds the store of before is refused, and loses nothing.
    await assert.rejects(tree.write({ add: [{ type: 'text', data: 'late' }] }), { kind: 'unavailable' });
  } finally {
    await stage.close();
  }
});

it('walks a large tree without holding the event loop, and shows what comes meanwhile', async () => {
  const random = randomOf(3);
  const count = 200_000;
  let told: (changes: readonly RecordChange[]) => void = () => undefined;
  const lines = {
    async *pages() {
      for (let at = 0; at < count; at += 1_000)
        yield Array.from({ length: 1_000 }, (_none, i) => ({
          key: [0],
          seq: at + i + 1,
          value: [random() * 180 - 90, random() * 360 - 180],
        }));
    },
  };
  const tree = new PlaceTree({ lines, changed: (listener: typeof told) => (told = listener) } as unknown as KindSpace);
  const world = { south: -90, north: 90, west: -180, east: 180 };
  const come = (seq: number): void =>
    told([{ before: undefined, after: { seq, timeMs: 0, kinds: ['spatial'], place: { lat: 1, lon: 180 } } as never }]);
  const all = async (): Promise<number> => {
    let found = 0;
    for await (const part of tree.inside(world)) {
      if (found === 0 && part.length > 0) come(count + 1 + Math.floor(random() * 1e9));
      found += part.length;
    }
    return found;
  };
  const ms = await longestTurnMs(50, async () => {
    const before = await all();
    const [one, two] = await Promise.all([all(), all()]);
    assert.ok(before >= count && one! > before && two! > before);
    const after = await all();
    assert.ok(after >= before + 3);
  });
  assert.ok(ms <= 50, `the event loop was held for ${ms.toFixed(0)} ms`);
});

it('lets go of a tree that nobody asks, and makes it anew', async () => {
  let made = 0;
  const lines = {
    async *pages() {
      made += 1;
      yield [{ key: [0], seq: 1, value: [1, 2] }];
    },
  };
  const treeOf = (idleMs: number): PlaceTree => new PlaceTree({ lines, changed: () => undefined } as unknown as KindSpace, idleMs);
  const ask = async (tree: PlaceTree): Promise<void> => {
    const found = [];
    for await (const part of tree.inside({ south: 0, north: 2, west: 0, east: 3 })) found.push(...part);
    assert.deepEqual(
      found.map(({ seq }) => seq),
      [1],
    );
  };
  const asked = treeOf(60_000);
  await ask(asked);
  await ask(asked);
  assert.equal(made, 1);
  const idle = treeOf(1);
  await ask(idle);
  await sleep(20);
  await ask(idle);
  assert.equal(made, 3);
});
