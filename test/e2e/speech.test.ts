import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { WebSocket } from 'ws';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';
import { assertApart } from '../support/speech/voice-print.js';

const KIT = join(import.meta.dirname, '..', '..', 'speech-kit');
const KOKORO = join(KIT, 'models--onnx-community--Kokoro-82M-v1.0-ONNX');
const TEXT = 'Hello there, my friend. The invoice of $5.50 was paid on May 3rd, 2024, by Dr. Smith.';
/** Long texts that a client asks for before it leaves. */
const LEFT = 10;
const LONG = 'This is one more sentence of a text that is rather long, as texts go. '.repeat(40);

/** A WebSocket that gathers what comes. */
async function connect(url: string): Promise<{ socket: WebSocket; next(): Promise<string | Buffer> }> {
  const socket = new WebSocket(url);
  const come: (string | Buffer)[] = [];
  let wake = (): void => {};
  const add = (one: string | Buffer): void => {
    come.push(one);
    wake();
  };
  socket.on('message', (content: Buffer, isBinary) => add(isBinary ? content : content.toString()));
  socket.on('close', (code) => add(`closed ${code}`));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const next = async (): Promise<string | Buffer> => {
    while (come.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return come.shift()!;
  };
  return { socket, next };
}

/** What comes until a text message: the bytes before it, and the message. */
async function until({
  next,
}: {
  next(): Promise<string | Buffer>;
}): Promise<{ bytes: number; message: Record<string, unknown> | string }> {
  let bytes = 0;
  for (;;) {
    const one = await next();
    if (typeof one === 'string') return { bytes, message: one.startsWith('{') ? (JSON.parse(one) as Record<string, unknown>) : one };
    bytes += one.length;
  }
}

describe('speech over sockets', () => {
  let daemon: DaemonUnderTest;
  /** What a long text takes to be spoken on this machine, busy as it is. */
  let longMs = 0;
  before(async () => {
    daemon = await startDaemon({ env: { HF_HUB_CACHE: join(KIT, 'nothing') } });
  });
  after(() => daemon.end('SIGKILL'));

  for (const port of ['core', 'runtime'] as const)
    it(`the official client speaks on the ${port} API`, async () => {
      const baseURL = port === 'core' ? `${daemon.core}/v1/default/quickstart` : `${daemon.runtime}/v1`;
      const client = new OpenAI({ apiKey: 'none', maxRetries: 0, baseURL });
      for (const response_format of ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const) {
        const answer = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: TEXT, response_format, speed: 1.25 });
        assert.match(answer.headers.get('content-disposition')!, new RegExp(`speech\\.${response_format}`));
        assert.ok((await answer.arrayBuffer()).byteLength > 10_000, response_format);
      }
      await assert.rejects(
        client.audio.speech.create({ model: 'kokoro', voice: 'nobody', input: TEXT }),
        (error: InstanceType<typeof OpenAI.APIError>) => {
          assert.deepEqual([error.status, error.code, /quern pull kokoro/.test(error.message)], [404, 'VoiceNotFound', true]);
          return true;
        },
      );
    });

  it('begins before it has spoken everything', async () => {
    const ask = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: LONG, response_format: 'pcm' }),
    };
    const answer = await fetch(`${daemon.runtime}/v1/audio/speech`, ask);
    const reader = answer.body!.getReader();
    const started = performance.now();
    const first = await reader.read();
    const firstMs = performance.now() - started;
    let bytes = first.value!.length;
    for (let step = await reader.read(); !step.done; step = await reader.read()) bytes += step.value.length;
    const allMs = performance.now() - started;
    assert.ok(bytes > 48_000 * 60 && firstMs < allMs / 2, `${bytes} bytes, the first after ${firstMs} of ${allMs} ms`);
    longMs = allMs;
  });

  it('speaks over a WebSocket, text by text', async () => {
    const peer = await connect(
      `${daemon.runtime.replace('http', 'ws')}/v1/audio/speech/stream?model=kokoro&voice=bm_george&response_format=pcm&sample_rate=24000`,
    );
    peer.socket.send(JSON.stringify({ text: 'Hello there.' }));
    const first = await until(peer);
    const { duration, ...rest } = first.message as { duration: number };
    assert.deepEqual(rest, { type: 'done', x_speech: { engine: 'flite', voice: 'awb' } });
    assert.ok(Math.abs(duration - first.bytes / 48_000) < 0.001 && duration > 0.4);
    peer.socket.send(JSON.stringify({ text: 'Hello there.', speed: 2 }));
    assert.ok((await until(peer)).bytes < first.bytes * 0.7);
    peer.socket.send(JSON.stringify({ text: '' }));
    for (const wrong of [
      'not json',
      '{}',
      '{"text": 5}',
      '{"text": "a", "speed": 9}',
      JSON.stringify({ text: 'a'.repeat(4097) }),
      Buffer.from([1, 2, 3]),
    ]) {
      peer.socket.send(wrong);
      assert.equal(((await until(peer)).message as { type: string }).type, 'error');
    }
    peer.socket.send(JSON.stringify({ text: '', final: true }));
    assert.deepEqual((await until(peer)).message, { type: 'closed' });
    assert.equal((await until(peer)).message, 'closed 1000');
  });

  it('ends a WebSocket after the text that is final, and tells what it cannot do', async () => {
    const base = `${daemon.runtime.replace('http', 'ws')}/v1/audio/speech/stream`;
    const last = await connect(base);
    last.socket.send(JSON.stringify({ text: 'Good bye.', final: true }));
    assert.equal(((await until(last)).message as { type: string }).type, 'done');
    assert.equal((await until(last)).message, 'closed 1000');
    const unknown = await connect(`${base}?voice=nobody`);
    unknown.socket.send(JSON.stringify({ text: 'Hello.' }));
    const { message } = await until(unknown);
    assert.deepEqual(
      [(message as { message: string }).message, (message as { code: string }).code],
      ['Speech synthesis failed', 'VoiceNotFound'],
    );
    unknown.socket.send(JSON.stringify({ text: 'Hello.', final: true }));
    assert.equal(((await until(unknown)).message as { type: string }).type, 'error');
  });

  it('forgets a client that has left, and serves others meanwhile', async () => {
    const peer = await connect(`${daemon.runtime.replace('http', 'ws')}/v1/audio/speech/stream`);
    for (let count = 0; count < LEFT; count += 1) peer.socket.send(JSON.stringify({ text: LONG }));
    await peer.next();
    peer.socket.terminate();
    const control = new AbortController();
    const ask = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: LONG, response_format: 'mp3' }),
    };
    const answer = await fetch(`${daemon.runtime}/v1/audio/speech`, { ...ask, signal: control.signal });
    await answer.body!.getReader().read();
    control.abort();
    const started = performance.now();
    assert.equal(
      (await fetch(`${daemon.runtime}/v1/audio/speech`, { ...ask, body: JSON.stringify({ input: 'Hello.', response_format: 'pcm' }) }))
        .status,
      200,
    );
    const waitedMs = performance.now() - started;
    // Were they spoken all the same, all of them would come first.
    assert.ok(waitedMs < (longMs * LEFT) / 3, `${waitedMs} ms, and ${longMs} ms for one of ${LEFT} texts`);
  });

  it('tells in /health who speaks', async () => {
    const { components } = (await (await fetch(`${daemon.core}/health`)).json()) as { components: { name: string; message: string }[] };
    assert.match(components.find(({ name }) => name === 'speech')!.message, /flite speaks.*quern pull kokoro/);
    const { engines } = (await (await fetch(`${daemon.runtime}/health`)).json()) as { engines: { model: string; type: string }[] };
    assert.ok(engines.some(({ model, type }) => model === 'tts:flite:slt' && type === 'tts'));
  });
});

describe('speech with the weights of Kokoro', {
  skip: existsSync(KOKORO) ? false : 'build/speech-kit has no Kokoro: run scripts/speech-kit.mjs',
}, () => {
  let daemon: DaemonUnderTest;
  before(async () => {
    daemon = await startDaemon({ env: { HF_HUB_CACHE: KIT, HF_HUB_OFFLINE: '1' } });
  });
  after(() => daemon.end('SIGKILL'));

  const spoken = async (voice: string, input: string): Promise<Float32Array> => {
    const answer = await fetch(`${daemon.runtime}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input, voice, response_format: 'pcm' }),
    });
    assert.equal(answer.headers.get('x-speech-engine'), 'kokoro');
    const bytes = new Int16Array(await answer.arrayBuffer());
    return Float32Array.from(bytes, (value) => value / 32768);
  };

  it('speaks in voices that are known again, of women and men, American and British', () =>
    assertApart(['af_heart', 'am_michael', 'bf_emma'], spoken));

  it('has the eleven voices and no stand-in', async () => {
    const { data } = (await (await fetch(`${daemon.runtime}/v1/audio/voices?model=kokoro`)).json()) as { data: { id: string }[] };
    assert.equal(data.length, 11);
    const { components } = (await (await fetch(`${daemon.core}/health`)).json()) as { components: { name: string; message: string }[] };
    assert.match(components.find(({ name }) => name === 'speech')!.message, /^kokoro speaks as af_heart$/);
  });
});
