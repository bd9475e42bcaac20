import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dispatch } from '../../../../gateway/http/dispatch.js';
import { endpoint } from '../../../../schemas/endpoint.js';
import { RecordedExchange } from '../../../support/exchange.js';

const COMMENT = ': keep-alive\n\n';

it('keeps a stream open that is silent for 300 s, and adds nothing to one that speaks', async (test) => {
  let nowMs = 0;
  test.mock.timers.enable({ apis: ['setTimeout'] });
  test.mock.method(performance, 'now', () => nowMs);
  let speak: (text: string | undefined) => void = () => undefined;
  const application = dispatch({
    endpoints: [
      endpoint({
        access: 'users',
        method: 'GET',
        path: '/stream',
        id: 'stream',
        summary: '',
        tag: 'test',
        streams: true,
        handler: () => ({
          events: (async function* () {
            for (;;) {
              const text = await new Promise<string | undefined>((resolve) => (speak = resolve));
              if (text === undefined) return;
              yield text;
            }
          })(),
        }),
      }),
    ],
    context: undefined,
    access: { bindHost: '127.0.0.1' },
  });
  const exchange = new RecordedExchange({ path: '/stream' });
  /** Lets so many seconds pass, and returns what was written meanwhile. */
  const wait = async (seconds: number): Promise<string> => {
    const before = exchange.written.length;
    for (let n = 0; n < seconds; n += 1) {
      nowMs += 1000;
      test.mock.timers.tick(1000);
      await nextTurn();
    }
    return exchange.written.slice(before);
  };
  application.request(exchange);
  await nextTurn();
  // The first comment sends the head; then one each 15 s.
  assert.equal(await wait(1), COMMENT);
  assert.equal(await wait(299), COMMENT.repeat(19));
  for (let n = 0; n < 10; n += 1) {
    speak('data: x\n\n');
    // It leaves at the end of a turn.
    for (let turns = 0; turns < 2; turns += 1) await nextTurn();
    assert.equal(await wait(10), '');
  }
  assert.equal(await wait(30), COMMENT.repeat(2));
  speak(undefined);
  const { status, text } = await exchange.done;
  assert.equal(status, 200);
  assert.equal(text.split('data: x').length, 11);
});
