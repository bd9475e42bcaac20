import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EmbeddingQueue } from '../../../../../runtime/rag/embedders/index.js';

const signal = new AbortController().signal;
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work that ends when it is told to. */
function work(name: string, log: string[]) {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const run = async (): Promise<string> => {
    log.push(`${name} starts`);
    await ended;
    log.push(`${name} ends`);
    return name;
  };
  return { run, end };
}

describe('the queue at an embedder', () => {
  it('has one bulk batch in flight, questions at once, and the next batch after them', async () => {
    const queue = new EmbeddingQueue();
    const log: string[] = [];
    const [one, two, ask] = [work('one', log), work('two', log), work('ask', log)];
    const bulk = [queue.run('bulk', signal, one.run), queue.run('bulk', signal, two.run)];
    await settled();
    const all = [...bulk, queue.run('interactive', signal, ask.run)];
    await settled();
    assert.deepEqual(log, ['one starts', 'ask starts']);
    one.end();
    await settled();
    assert.deepEqual(log.at(-1), 'one ends');
    ask.end();
    await settled();
    assert.deepEqual(log.slice(-2), ['ask ends', 'two starts']);
    two.end();
    assert.deepEqual(await Promise.all(all), ['one', 'two', 'ask']);
    assert.ok(queue.idle);
  });

  it('lets bulk work on in the end, with questions all the time', async () => {
    const queue = new EmbeddingQueue();
    const log: string[] = [];
    const [ask, bulk] = [work('ask', log), work('bulk', log)];
    const asking = queue.run('interactive', signal, ask.run);
    bulk.end();
    // The timer behind this does not keep a process alive, so something else does.
    const alive = setInterval(() => {}, 1000);
    assert.equal(await queue.run('bulk', signal, bulk.run), 'bulk');
    clearInterval(alive);
    ask.end();
    await asking;
  });

  it('goes on after a failure and after an abort of what waits', async () => {
    const queue = new EmbeddingQueue();
    const log: string[] = [];
    const first = work('first', log);
    const running = queue.run('bulk', signal, async () => {
      await first.run();
      throw new Error('broken');
    });
    const controller = new AbortController();
    const waiting = queue.run('bulk', controller.signal, async () => log.push('never'));
    const last = queue.run('bulk', signal, async () => 'last');
    controller.abort(new Error('gone'));
    await assert.rejects(waiting, /gone/);
    first.end();
    await assert.rejects(running, /broken/);
    assert.equal(await last, 'last');
    assert.ok(!log.includes('never') && queue.idle);
  });
});
