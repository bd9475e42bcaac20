// A worker that runs encodings of speech beside each other, by number; see `encode.ts`.
import { parentPort } from 'node:worker_threads';
import type { Encoding } from './contract.js';
import { AUDIO_FORMATS, type EncodeAnswer, type EncodeCall } from './encode.js';

/** Each with the last of its calls, after which the next one runs. */
const running = new Map<number, { readonly encoding: Promise<Encoding>; last: Promise<unknown> }>();
const NOTHING = new Uint8Array(0);

async function answer(call: EncodeCall): Promise<Uint8Array> {
  if (call.method === 'begin') {
    const encoding = Promise.resolve(AUDIO_FORMATS[call.format].begin());
    running.set(call.encoding, { encoding, last: encoding.catch(() => undefined) });
    await encoding;
    return NOTHING;
  }
  const found = running.get(call.encoding);
  if (!found) return NOTHING;
  const answered = found.last.then(async () => work(call, await found.encoding));
  found.last = answered.catch(() => undefined);
  return answered;
}

async function work(call: EncodeCall, encoding: Encoding): Promise<Uint8Array> {
  if (call.method === 'push') return encoding.push(call.samples);
  running.delete(call.encoding);
  try {
    return call.method === 'end' ? await encoding.end() : NOTHING;
  } finally {
    encoding.close();
  }
}

parentPort!.on('message', (call: EncodeCall) => {
  answer(call).then(
    (bytes) => {
      // A small Buffer lies in memory that others share.
      const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
      const message: EncodeAnswer = { call: call.call, bytes: whole };
      parentPort!.postMessage(message, whole.length > 0 ? [whole.buffer as ArrayBuffer] : []);
    },
    (error: unknown) => {
      running.delete(call.encoding);
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      parentPort!.postMessage({ call: call.call, error: reason } satisfies EncodeAnswer);
    },
  );
});
