import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';

/** Longest silence of all running chats together, in the best of some tries: a machine that is busy with other things has its share in it. */
const MOST_SILENCE_MS = 1000;
const TRIES = 3;
const CHATS = 3;
const HUGE = 15_000_000;
const PROMPTS: Readonly<Record<string, () => string>> = {
  words: () => 'word and other, '.repeat(HUGE / 16),
  'letters of two bytes': () => 'é'.repeat(HUGE / 2),
  'blanks between two letters': () => `a${' '.repeat(HUGE)}a`,
};

describe('chats beside a prompt of 15 MB for the same model', () => {
  let daemon: DaemonUnderTest;
  let ended = false;
  let chats: Promise<void>[] = [];
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
      for await (const _piece of answer.body!) arrivals.push(performance.now());
    }
  };

  before(async () => {
    daemon = await startDaemon();
    await ask({ messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 });
    chats = Array.from({ length: CHATS }, chat);
  });
  after(async () => {
    ended = true;
    await Promise.all(chats);
    await daemon.end();
  });

  /** How long no answer grew while a prompt was dealt with. */
  const silence = async (content: string, more: object, expected: RegExp): Promise<number> => {
    const from = performance.now();
    arrivals.length = 0;
    const answer = await ask({ messages: [{ role: 'user', content }], max_tokens: 2, ...more });
    assert.match(await answer.text(), expected);
    const times = [from, ...arrivals, performance.now()];
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
