import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { WebSocket } from 'ws';
import { decodeWhole } from '../../runtime/speech/decode/decode.js';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';
import { writePuppetWhisper } from '../support/speech/puppet-whisper.js';
import { noise, silence, tone, wavOf } from '../support/speech/sounds.js';
import { wordErrors } from '../support/speech/word-errors.js';
import { edgeErrors, pausedSpeech, type TimedWord } from '../support/speech/word-times.js';

const KIT = join(import.meta.dirname, '..', '..', 'speech-kit');
const TINY = join(KIT, 'models--Systran--faster-whisper-tiny.en');

describe('the official client writes down speech', () => {
  let daemon: DaemonUnderTest;
  let client: OpenAI;
  let spoken: Buffer;
  const file = () => toFile(spoken, 'speech.wav');
  before(async () => {
    const dataDir = emptyDataDir();
    writePuppetWhisper(join(dataDir, 'models/Systran/faster-whisper-base'), { words: [' Guten', ' Tag.'], language: 'de', seconds: 1.5 });
    daemon = await startDaemon({ dataDir, env: { HF_HUB_CACHE: join(dataDir, 'hub') } });
    client = new OpenAI({ apiKey: 'none', maxRetries: 0, baseURL: `${daemon.runtime}/v1` });
    const answer = await client.audio.speech.create({ model: 'flite', voice: 'slt', input: 'Good morning.', response_format: 'wav' });
    spoken = Buffer.from(await answer.arrayBuffer());
  });
  after(() => daemon.end('SIGKILL'));

  it('in each format', async () => {
    const model = 'whisper-1';
    assert.equal((await client.audio.transcriptions.create({ file: await file(), model })).text, 'Guten Tag.');
    const text: unknown = await client.audio.transcriptions.create({ file: await file(), model, response_format: 'text' });
    assert.equal(text, 'Guten Tag.\n');
    const srt: unknown = await client.audio.transcriptions.create({ file: await file(), model, response_format: 'srt' });
    assert.match(String(srt), /^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nGuten Tag\.\n\n$/);
    const verbose = await client.audio.transcriptions.create({
      file: await file(),
      model,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    assert.deepEqual([verbose.language, verbose.segments!.length], ['de', 1]);
    assert.ok(verbose.duration > 0.5 && verbose.duration < 3, `${verbose.duration} s`);
    assert.deepEqual(
      verbose.words!.map(({ word }) => word),
      ['Guten', 'Tag.'],
    );
  });

  it('as a stream', async () => {
    const events: { type: string }[] = [];
    const stream = await client.audio.transcriptions.create({ file: await file(), model: 'base', stream: true });
    for await (const event of stream) events.push(event);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['transcript.text.delta', 'transcript.text.done'],
    );
    assert.equal((events[1] as { text?: string }).text, 'Guten Tag.');
  });

  it('in English', async () => {
    assert.equal((await client.audio.translations.create({ file: await file(), model: 'base' })).text, 'Guten Tag.');
  });

  it('and is told what is wrong', async () => {
    await assert.rejects(client.audio.transcriptions.create({ file: await file(), model: 'small' }), (error: unknown) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      assert.match(error.message, /quern pull whisper-small.*|base/);
      return true;
    });
    const broken = await toFile(Buffer.from('no audio'), 'speech.wav');
    await assert.rejects(client.audio.transcriptions.create({ file: broken, model: 'base' }), OpenAI.BadRequestError);
  });

  it('and not of noise, which passes for words without a detector of speech', async () => {
    const swelling = noise(6, 0.2).map((sample, at) => sample * (0.5 + 0.5 * Math.sin((2 * Math.PI * at) / 16_000)));
    for (const samples of [swelling, tone(3), silence(3)]) {
      const { text } = await client.audio.transcriptions.create({ file: await toFile(wavOf(samples), 'noise.wav'), model: 'base' });
      assert.equal(text, '');
    }
  });

  it('in a chat, as a part of a message', async () => {
    const content = [{ type: 'input_audio' as const, input_audio: { data: spoken.toString('base64'), format: 'wav' as const } }];
    for (const baseURL of [`${daemon.runtime}/v1`, `${daemon.core}/v1/projects/default/quickstart`]) {
      const chat = new OpenAI({ apiKey: 'none', maxRetries: 0, baseURL });
      const answer = await chat.chat.completions.create({
        model: baseURL.startsWith(daemon.runtime) ? 'quern-standin' : 'default',
        messages: [{ role: 'user', content }],
        max_tokens: 8,
      });
      assert.ok(answer.usage!.prompt_tokens > 0);
    }
  });

  it('over a WebSocket, and nothing of noise', async () => {
    const written = async (samples: Float32Array): Promise<Record<string, unknown>[]> => {
      const socket = new WebSocket(`${daemon.runtime.replace('http', 'ws')}/v1/audio/transcriptions/stream?model=base&chunk_interval=1`);
      const come: Record<string, unknown>[] = [];
      socket.on('message', (content: Buffer) => come.push(JSON.parse(content.toString()) as Record<string, unknown>));
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      socket.send(wavOf(samples).subarray(44));
      socket.send('END');
      assert.equal(await new Promise((resolve) => socket.once('close', resolve)), 1000);
      assert.equal(come.at(-1)!.type, 'done');
      assert.equal(come.filter(({ is_final }) => is_final === true).length, 1);
      return come;
    };
    assert.ok((await written(await decodeWhole(spoken))).some(({ text }) => text === 'Guten Tag.'));
    const swelling = noise(4, 0.2).map((sample, at) => sample * (0.5 + 0.5 * Math.sin((2 * Math.PI * at) / 16_000)));
    assert.ok((await written(swelling)).every(({ type, text }) => type === 'done' || text === ''));
  });
});

const SENTENCES = [
  'The quick brown fox jumps over the lazy dog.',
  'She had three bottles of water and a piece of bread in her bag.',
  'The train to the city leaves every morning from the second platform.',
  'Please remember to close the window before you leave the house.',
  'My brother works in a small shop near the old bridge.',
  'We walked along the river until it was too dark to see.',
  'The teacher asked the children to open their books and read.',
  'After the rain the whole garden smelled of wet grass.',
];

describe('speech with real weights', {
  skip: existsSync(TINY) ? false : 'build/speech-kit has no Whisper: run node scripts/speech-kit.mjs',
}, () => {
  let daemon: DaemonUnderTest;
  const speak = async (input: string): Promise<ArrayBuffer> => {
    const reply = await fetch(`${daemon.runtime}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input, model: 'flite', voice: 'slt', response_format: 'mp3' }),
    });
    assert.equal(reply.status, 200, reply.ok ? '' : await reply.text());
    return reply.arrayBuffer();
  };
  const hear = async (audio: ArrayBuffer | Uint8Array, fields: Record<string, string> = {}): Promise<Record<string, unknown>> => {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(audio)]), 'speech.mp3');
    for (const [name, value] of Object.entries({ model: 'tiny.en', ...fields })) form.append(name, value);
    const reply = await fetch(`${daemon.runtime}/v1/audio/transcriptions`, { method: 'POST', body: form });
    assert.equal(reply.status, 200, reply.ok ? '' : await reply.text());
    return (await reply.json()) as Record<string, unknown>;
  };
  before(async () => {
    daemon = await startDaemon({ env: { HF_HUB_CACHE: KIT, HF_HUB_OFFLINE: '1' } });
  });
  after(() => daemon.end('SIGKILL'));

  it('is heard as it is spoken, with at most 8 % of wrong words', async () => {
    let [wrong, all] = [0, 0];
    for (const sentence of SENTENCES) {
      const { text } = await hear(await speak(sentence));
      const errors = wordErrors(sentence, String(text));
      wrong += errors.wrong;
      all += errors.words;
    }
    assert.ok(wrong / all <= 0.08, `${wrong} of ${all} words`);
  });

  it('has words where they sound: within 0.1 s, mostly within 0.03', async () => {
    const paused = await pausedSpeech(async (text) => decodeWhole(Buffer.from(await speak(text))), SENTENCES.slice(0, 5));
    const { words, segments } = (await hear(wavOf(paused.samples), {
      response_format: 'verbose_json',
      timestamp_granularities: 'word',
    })) as { words: TimedWord[]; segments: TimedWord[] };
    const errors = edgeErrors(paused, words).sort((one, other) => one - other);
    assert.ok(errors.length >= paused.pieces.length * 1.6, `${errors.length} edges of ${paused.pieces.length} pieces were heard`);
    assert.ok(errors[errors.length >> 1]! <= 0.03, `the middle error is ${errors[errors.length >> 1]} s`);
    assert.ok(errors[Math.floor(errors.length * 0.9)]! <= 0.1, `errors: ${errors.map((one) => one.toFixed(2)).join(' ')}`);
    assert.deepEqual([segments[0]!.start, segments.at(-1)!.end], [words[0]!.start, words.at(-1)!.end]);
  });

  it('is heard beyond 30 s, with times that go on', async () => {
    const whole = await speak(SENTENCES.join(' ').repeat(2));
    const { text, duration, segments } = (await hear(whole, { response_format: 'verbose_json', timestamp_granularities: 'word' })) as {
      text: string;
      duration: number;
      segments: { start: number; end: number; words: { start: number; end: number }[] }[];
    };
    assert.ok(duration > 45, `${duration} s`);
    const { wrong, words } = wordErrors(SENTENCES.join(' ').repeat(2), text);
    assert.ok(wrong / words <= 0.08, `${wrong} of ${words} words: ${text}`);
    let last = 0;
    for (const { start, end } of segments) {
      assert.ok(start >= last && end >= start && end <= duration);
      last = end;
    }
    assert.ok(last > duration - 3, `the last word ends at ${last} of ${duration} s`);
  });
});
