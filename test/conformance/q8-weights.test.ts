import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import type { ExtraBody } from '../../schemas/generated/universal/chat.js';
import { LoadedEngine, type Loose } from '../support/loaded-engine.js';
import { packedPath } from '../support/models/cache.js';

const PLAIN = 'QUERN_PLAIN_Q8';
const BASE: ExtraBody = { n_ctx: 512, n_slots: 2, flash_attn: false };
/** The right to lock any amount of memory, among the bits of `CapEff`. */
const CAP_IPC_LOCK = 14n;

async function loaded<Result>(extra: ExtraBody, see: (engine: LoadedEngine) => Promise<Result>): Promise<Result> {
  const engine = new LoadedEngine(packedPath(), { ...BASE, ...extra });
  try {
    return await see(engine);
  } finally {
    await engine.close();
  }
}

/** The likeliest first tokens after a prompt, with their log probabilities. */
async function firstTokens(engine: LoadedEngine, prompt: string): Promise<Map<string, number>> {
  const { choices } = await engine.ask(prompt, { logprobs: true, top_logprobs: 5 });
  return new Map(choices[0].logprobs.content[0].top_logprobs.map(({ token, logprob }: Loose) => [token, logprob]));
}

/** Whether the system lets a process lock `bytes` of memory. */
function mayLock(engine: LoadedEngine, bytes: number): boolean {
  const rights = BigInt(`0x${/^CapEff:\s+(\w+)$/m.exec(engine.proc('status'))![1]}`);
  const limit = /^Max locked memory\s+(\w+)/m.exec(engine.proc('limits'))![1]!;
  return ((rights >> CAP_IPC_LOCK) & 1n) === 1n || limit === 'unlimited' || Number(limit) > bytes;
}

/** Why the engine keeps such weights as it does by itself: where a processor has tiles (AMX), they take the weights first. */
function keptByTiles(): string | false {
  return readFileSync('/proc/cpuinfo', 'utf8').includes('amx_int8') && 'tiles (AMX) take these weights';
}

/** Bytes of the model's file that are in the engine's memory. */
function residentBytes(engine: LoadedEngine): number {
  const mappings = engine.proc('smaps').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  const kibibytes = mappings.filter((one) => one.includes(basename(engine.model))).map((one) => Number(/^Rss:\s+(\d+) kB$/m.exec(one)![1]));
  return 1024 * kibibytes.reduce((sum, one) => sum + one, 0);
}

// Elsewhere the engine's own kernels stay.
describe('Q8_0 weights in a loaded model', { skip: process.arch !== 'x64' || process.platform !== 'linux' }, () => {
  afterEach(() => delete process.env[PLAIN]);

  it("mean what they mean to the engine's own kernels", async () => {
    // One column, a few, and more than a tile holds.
    const prompts = ['a', 'to se ra', 'to se ra '.repeat(20)];
    const ask = async (engine: LoadedEngine): Promise<Map<string, number>[]> => {
      const answers: Map<string, number>[] = [];
      for (const prompt of prompts) answers.push(await firstTokens(engine, prompt));
      return answers;
    };
    process.env[PLAIN] = '1';
    const wanted = await loaded({ n_threads: 1 }, ask);
    delete process.env[PLAIN];
    for (const extra of [{ n_threads: 1 }, { n_threads: 2, use_mmap: false }]) {
      for (const [at, found] of (await loaded(extra, ask)).entries()) {
        const shared = [...found].filter(([token]) => wanted[at]!.has(token));
        assert.ok(shared.length >= 4, `${[...found.keys()]} against ${[...wanted[at]!.keys()]}`);
        for (const [token, logprob] of shared) assert.ok(Math.abs(logprob - wanted[at]!.get(token)!) < 0.05, `${token}: ${logprob}`);
      }
    }
  });

  it('do not stay in memory a second time, as pages of the file', async (test) => {
    const kept = keptByTiles();
    if (kept) return test.skip(kept);
    const bytes = await loaded({}, async (engine) => (await engine.ask('hi')) && residentBytes(engine));
    assert.ok(bytes < statSync(packedPath()).size / 4, `${bytes} bytes`);
  });

  it('are locked in memory on request', async (test) => {
    const kept = keptByTiles();
    if (kept) return test.skip(kept);
    const size = statSync(packedPath()).size;
    await loaded({ use_mlock: true, use_mmap: false }, async (engine) => {
      await engine.ask('hi');
      if (!mayLock(engine, 2 * size)) return test.skip('the system does not let this process lock so much');
      assert.deepEqual((await engine.shown()).notes, []);
    });
  });
});
