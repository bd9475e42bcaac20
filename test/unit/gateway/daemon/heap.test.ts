import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { promisify } from 'node:util';

const MODULE = new URL('../../../../gateway/daemon/process.js', import.meta.url).href;
/** Makes objects of which many live for a while, with turns of the event loop between, as a daemon does. */
const WORK = `
  const { getHeapSpaceStatistics, getHeapStatistics } = await import('node:v8');
  const { Worker } = await import('node:worker_threads');
  const { once } = await import('node:events');
  const kept = [];
  let most = 0;
  for (let turn = 0; turn < 150; turn++) {
    if (turn === 50) await once(new Worker('', { eval: true }), 'exit');
    for (let index = 0; index < 100_000; index++) kept[index % 50_000] = { index };
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, getHeapStatistics().total_heap_size);
  }
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
  console.log(JSON.stringify([young, most].map((bytes) => bytes / 2 ** 20)));`;

/** Sizes of the young space and of the heap at its largest, in MiB, after the work. */
async function sizesAfter(before: string): Promise<[young: number, heap: number]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', before + WORK]);
  return JSON.parse(stdout);
}

it('a bounded heap stays near the size of what lives in it, also after a thread was started', async () => {
  const [young, heap] = await sizesAfter(`const { boundHeap } = await import(${JSON.stringify(MODULE)}); boundHeap();`);
  const [usualYoung, usualHeap] = await sizesAfter('');
  assert.ok(young <= 8, `${young} MiB of new objects`);
  assert.ok(young < usualYoung / 2 && heap < usualHeap, `${young} and ${heap} MiB, else ${usualYoung} and ${usualHeap}`);
});
