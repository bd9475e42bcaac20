import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { processorMs } from '../../bench/processes.js';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';

/** Longest silence of all running chats together, in the best of some tries, by a `WorkClock`: a machine that is busy with other things has no share in it. */
const MOST_SILENCE_MS = 1000;
const TICK_MS = 20;
/** Silence that is no work counts for so much less: it may be that of others. */
const IDLE_SHARE = 1 / 10;
const TRIES = 3;
const CHATS = 3;
const HUGE = 15_000_000;
const PROMPTS: Readonly<Record<string, () => string>> = {
  words: () => 'word and other, '.repeat(HUGE / 16),
  'letters of two bytes': () => 'é'.repeat(HUGE / 2),
  'blanks between two letters': () => `a${' '.repeat(HUGE)}a`,
};

/** A clock that goes on while a daemon and what it started work, and hardly while they wait for a processor, or this process does. */
class WorkClock {
  nowMs = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    let [before, worked] = [performance.now(), workedMs(pid)];
    this.#timer = setInterval(() => {
      const [now, all] = [performance.now(), workedMs(pid)];
      const passed = Math.min(now - before, 2 * TICK_MS);
      this.nowMs += Math.min(passed, Math.max(all - worked, passed * IDLE_SHARE));
      [before, worked] = [now, all];
    }, TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Processor time of a process and what it started; none where a thread ends while it is read. */
function workedMs(pid: number): number {
  try {
    return processorMs(pid);
  } catch {
    return 0;
  }
}

describe('chats beside a prompt of 15 MB for the same model', () => {
  let daemon: DaemonUnderTest;
  let ended = false;
  let chats: Promise<void>[] = [];
  let clock: WorkClock;
  /** When pieces of any answer came. */
  const arrivals: number[] = [];

  const ask = (body: object): Promise<Response> =>
    fetch(`${daemon.runtime}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'quern-tiny', ...body }),
    });
  const chat = async (): Promise<void> => {
    while (!ended) {
      const answer = await ask({ messages: [{ role: 'user', content: 'Tell a long story.' }], max_tokens: 400, stream: true });
      assert.equal(answer.status, 200);
      for await (const _piece of answer.body!) arrivals.push(clock.nowMs);
    }
  };

  before(async () => {
    daemon = await startDaemon();
    clock = new WorkClock(daemon.child.pid!);
    await ask({ messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 });
    chats = Array.from({ length: CHATS }, chat);
  });
  after(async () => {
    ended = true;
    await Promise.all(chats);
    clock.stop();
    await daemon.end();
  });

  /** How long no answer grew while a prompt was dealt with. */
  const silence = async (content: string, more: object, expected: RegExp): Promise<number> => {
    const from = clock.nowMs;
    arrivals.length = 0;
    const answer = await ask({ messages: [{ role: 'user', content }], max_tokens: 2, ...more });
    assert.match(await answer.text(), expected);
    const times = [from, ...arrivals, clock.nowMs];
    return Math.max(...times.slice(1).map((at, index) => at - times[index]!));
  };

  for (const [what, make] of Object.entries(PROMPTS))
    for (const [becomes, more, expected] of [
      ['refused', { auto_truncate: false }, /context_length_exceeded/],
      ['shortened', {}, /chat\.completion/],
    ] as const)
      it(`go on while ${what} are ${becomes}`, async () => {
        const content = make();
        let best = Number.POSITIVE_INFINITY;
        for (let n = 0; n < TRIES && best > MOST_SILENCE_MS; n += 1) best = Math.min(best, await silence(content, more, expected));
        assert.ok(best <= MOST_SILENCE_MS, `no answer grew for ${best.toFixed(0)} ms`);
      });
});
