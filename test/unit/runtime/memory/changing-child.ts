// Changes a memory store for ever, in every way, and tells its parent what was acknowledged.
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewMemory } from '../../../../runtime/memory/contract.js';
import { openMemoryStage } from '../../../support/memory/store-stage.js';
import { KILLED_STORE } from './killed-store.js';

const [dir, text] = process.argv.slice(2);
const round = Number(text);
const stage = await openMemoryStage([KILLED_STORE], dir, 1_800_000_000_000 + round * 1_000);
const store = await stage.main();

const memory = (i: number, about: object = {}): NewMemory => ({
  type: 'text',
  data: { i, round, fill: 'x'.repeat((i * 37) % 3_000) },
  place: { lat: (i % 90) + 0.5, lon: (i % 180) + 0.5 },
  who: { user: `u${i % 7}`, session: `s${round}` },
  series: `series${i % 3}`,
  ...about,
});
const edge = (i: number): NewMemory => ({ type: 'edge', data: i, edge: { from: `n${i % 5}`, to: `n${i % 11}`, relation: 'r', weight: i } });

async function adding(): Promise<void> {
  for (let i = 0; ; i += 1) {
    const [first, second] = await store.write({ add: [memory(i), edge(i)] });
    const isRemoved = i % 3 === 0;
    process.send!({ added: isRemoved ? [second!.id] : [first!.id, second!.id] });
    if (!isRemoved) continue;
    await store.write({ remove: [first!.id], end: [{ id: second!.id, toMs: stage.nowMs + 1 }] });
    process.send!({ removed: [first!.id] });
  }
}

async function importing(): Promise<void> {
  for (let i = 0; ; i += 1) {
    const batches = async function* () {
      for (let batch = 0; batch < 4; batch += 1) {
        yield Array.from({ length: 20 }, (_none, at) => memory(batch * 20 + at, { tags: [`import${round}-${i}`] }));
        await sleep(1);
      }
    };
    await store.addTogether(80, batches());
    process.send!({ imported: `import${round}-${i}` });
  }
}

async function forgetting(): Promise<void> {
  for (;;) {
    await store.write({ add: [memory(1, { who: { user: 'passing' } })] });
    await store.forget({ user: 'passing' });
    process.send!({ forgot: true });
  }
}

await Promise.all([adding(), adding(), importing(), ...(round === 0 ? [forgetting()] : [])]);
