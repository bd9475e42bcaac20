import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendPaced } from '../../../../gateway/universal/speech-socket.js';

/** A peer whose network takes what the test says. */
class SlowPeer {
  bufferedBytes = 0;
  sent = 0;
  closedWith: number | undefined;
  send(content: string | Uint8Array): boolean {
    this.sent += 1;
    this.bufferedBytes += content.length;
    return true;
  }
  close(code: number): void {
    this.closedWith = code;
  }
}

const PIECE = new Uint8Array(50_000);

test('a reader that is slow waits for what it gets, and memory with it', async () => {
  const peer = new SlowPeer();
  const { signal } = new AbortController();
  assert.ok((await sendPaced(peer, PIECE, signal)) && (await sendPaced(peer, PIECE, signal)));
  const third = sendPaced(peer, PIECE, signal);
  await sleep(50);
  assert.equal(peer.sent, 2);
  peer.bufferedBytes -= 10_000;
  assert.ok(await third);
  assert.equal(peer.sent, 3);
});

test('a reader that takes nothing for 10 s is closed, and one that takes a little is not', async (context) => {
  let now = 0;
  context.mock.method(performance, 'now', () => (now += 900));
  const { signal } = new AbortController();
  const [dead, slow] = [new SlowPeer(), new SlowPeer()];
  for (const peer of [dead, slow]) peer.bufferedBytes = 200_000;
  assert.equal(await sendPaced(dead, PIECE, signal), false);
  assert.deepEqual([dead.closedWith, dead.sent], [1008, 0]);
  const draining = setInterval(() => (slow.bufferedBytes -= 1000), 5);
  assert.equal(await sendPaced(slow, PIECE, signal), true);
  clearInterval(draining);
  assert.equal(slow.closedWith, undefined);
});

test('nothing is sent to one who has left', async () => {
  const peer = new SlowPeer();
  peer.bufferedBytes = 200_000;
  const gone = new AbortController();
  const sending = sendPaced(peer, PIECE, gone.signal);
  gone.abort();
  assert.deepEqual([await sending, peer.sent, peer.closedWith], [false, 0, undefined]);
});
