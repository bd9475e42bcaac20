import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { audioChatSockets } from '../../../../gateway/universal/audio-chat-socket.js';
import { speechSockets } from '../../../../gateway/universal/speech-socket.js';
import { transcriptionSockets } from '../../../../gateway/universal/transcription-socket.js';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { Completions } from '../../../../runtime/completions/completions.js';
import type { CompletionSource, UniversalRequest } from '../../../../runtime/completions/request.js';
import { Models } from '../../../../runtime/models/residency/models.js';
import { LocalSpeech } from '../../../../runtime/speech/speak.js';
import { AudioTexts } from '../../../../runtime/speech/transcription/audio-texts.js';
import { Transcription } from '../../../../runtime/speech/transcription/transcription.js';
import { longestHold } from '../../../support/loop-holds.js';
import { puppetPath } from '../../../support/models/cache.js';
import { TestPeer } from '../../../support/speech/peer.js';
import { writePuppetWhisper } from '../../../support/speech/puppet-whisper.js';
import { silence, tone, wavOf } from '../../../support/speech/sounds.js';
import { until } from '../../../support/until.js';

setLogLevel('error');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-sockets-'));
writePuppetWhisper(join(dataDir, 'models/Systran/faster-whisper-base.en'), { words: [' Hello', ' there.'], seconds: 0.8 });
const models = new Models({ dataDir, places: { hub: join(dataDir, 'hub') } });
const transcription = new Transcription(models, dataDir);
const completions = new Completions({ models, hearing: new AudioTexts(transcription) });
after(async () => {
  await models.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const pcm = (samples: Float32Array): Buffer => wavOf(samples).subarray(44);
const writing = (query: Record<string, unknown> = {}): TestPeer =>
  new TestPeer(
    transcriptionSockets[0]!.open({ here: { transcription } }, { params: {}, query: { model: 'base.en', chunk_interval: 1, ...query } }),
  );

describe('transcriptions over a WebSocket', () => {
  it('writes down a piece at a time, and the rest at END', async () => {
    const peer = writing({ word_timestamps: true });
    const bytes = pcm(tone(2.2));
    // Cut in the middle of samples.
    for (let at = 0; at < bytes.length; at += 1001) peer.say(bytes.subarray(at, at + 1001));
    peer.say('end');
    let duration = 0;
    for (;;) {
      const segment = await peer.next('segment');
      assert.equal(typeof segment.text, 'string');
      duration += segment.duration as number;
      const words = segment.words as { start: number; end: number }[];
      for (const { start, end } of words) assert.ok(start <= end && end <= duration + 0.01);
      if (segment.is_final === true) break;
    }
    assert.ok(Math.abs(duration - 2.2) < 0.001, `${duration} s`);
    await peer.next('done');
    assert.equal(peer.closedWith, 1000);
  });

  it('warns of silence, and ends without audio', async () => {
    const peer = writing();
    peer.say(pcm(silence(1)));
    assert.equal((await peer.next('segment')).warning, 'No speech detected');
    peer.say('END');
    const last = await peer.next('segment');
    assert.deepEqual([last.text, last.is_final], ['', true]);
    await peer.next('done');
  });

  it('survives other texts', async () => {
    const peer = writing();
    peer.say('{"type":"x"}');
    assert.match(String((await peer.next('error')).message), /END/);
    assert.equal(peer.closedWith, undefined);
    peer.say('END');
    await peer.next('done');
  });

  it('ends with an error for a model that is not here, and for more audio than may wait', async () => {
    const peer = writing({ model: 'small' });
    peer.say(pcm(tone(1)));
    assert.match(String((await peer.next('error')).message), /quern pull whisper-small/);
    assert.equal(peer.closedWith, 1011);
    const fast = writing();
    for (let i = 0; i < 302; i += 1) fast.say(new Uint8Array(32_000));
    assert.match(String((await fast.next('error')).message), /300 s/);
    assert.equal(fast.closedWith, 1011);
  });

  it('does not hold the event loop for the largest message, or for many small ones', async () => {
    const large = writing();
    const message = pcm(tone(131));
    const held = await longestHold(async () => large.say(message));
    large.leave();
    assert.ok((held ?? 0) < 25, `it held the loop for ${held} ms`);
    const small = writing({ chunk_interval: 30 });
    for (let at = 0; at < 200_000; at += 2) small.say(message.subarray(at, at + 2));
    small.say('END');
    assert.equal((await small.next('segment')).duration, 6.25);
    await small.next('done');
  });

  it('lets go of the engine when the client leaves', async () => {
    const peer = writing();
    peer.say(pcm(tone(5)));
    peer.leave();
    await until(() => !models.loaded().some(({ type, uses }) => type === 'speech' && uses > 0), 'the model is not in use');
  });
});

describe('spoken questions over a WebSocket', () => {
  const asking = (): TestPeer => new TestPeer(audioChatSockets[0]!.open({ completions }, { params: {}, query: {} }));

  it('answers what is said', async () => {
    const peer = asking();
    peer.say({ type: 'config', model: puppetPath(), temperature: 0 });
    peer.say({ type: 'audio', format: 'pcm', sample_rate: 16_000 });
    peer.say(pcm(tone(1)));
    peer.say({ type: 'audio_complete' });
    const draft = await peer.next('transcription');
    assert.deepEqual([draft.text, draft.is_final], ['Hello there.', false]);
    const heard = await peer.next('transcription');
    assert.deepEqual([heard.text, heard.is_final], ['Hello there.', true]);
    assert.equal(typeof (await peer.next('text')).content, 'string');
    const { total_tokens } = await peer.next('done');
    assert.ok((total_tokens as number) > 0);
    // Of a conversation only the last question is told, also where it was heard before.
    peer.say(pcm(tone(0.9)));
    peer.say({ type: 'audio_complete' });
    await peer.next('done');
    peer.say(pcm(tone(0.9)));
    peer.say({ type: 'audio_complete' });
    assert.equal((await peer.next('transcription')).text, 'Hello there.');
    await peer.next('done');
  });

  it('remembers earlier turns, and no more than 40 MiB of their audio', async () => {
    const told: UniversalRequest[] = [];
    const source: Pick<CompletionSource, 'open'> = {
      open: async (request) => {
        told.push(request);
        const parts = (async function* () {
          yield { type: 'text' as const, text: `answer ${told.length}` };
        })();
        return { parts } as never;
      },
    };
    const peer = new TestPeer(audioChatSockets[0]!.open({ completions: source }, { params: {}, query: {} }));
    peer.say({ type: 'config', model: 'any', system_prompt: 'Be brief.' });
    for (let turn = 0; turn < 7; turn += 1) {
      for (let part = 0; part < 3; part += 1) peer.say(new Uint8Array(3 * 1024 * 1024));
      peer.say({ type: 'audio_complete' });
      await peer.next('done');
    }
    const roles = told.map(({ messages }) => messages.map(({ role }) => role.charAt(0)).join(''));
    assert.deepEqual(roles, ['su', 'suau', 'suauau', 'suauauau', 'suauauauau', 'suauauauau', 'suauauauau']);
    assert.equal(told.at(-1)!.messages.at(-2)!.content, 'answer 6');
  });

  it('says what is wrong and lives on', async () => {
    const peer = asking();
    peer.say(pcm(tone(1)));
    assert.equal((await peer.next('error')).code, 'ConfigMissing');
    peer.say('no json');
    assert.equal((await peer.next('error')).code, 'BadMessage');
    peer.say({ type: 'config' });
    assert.match(String((await peer.next('error')).message), /model/);
    peer.say({ type: 'config', model: puppetPath() });
    peer.say({ type: 'audio_complete' });
    assert.equal((await peer.next('error')).code, 'AudioMissing');
    peer.say(new Uint8Array(10 * 1024 * 1024 + 1));
    assert.equal((await peer.next('error')).code, 'AudioTooLarge');
    peer.say({ type: 'nothing' });
    assert.equal((await peer.next('error')).code, 'BadMessage');
    peer.say({ type: 'audio', sample_rate: 10 });
    assert.match(String((await peer.next('error')).message), /sample_rate/);
    peer.say({ type: 'audio', format: 'wav' });
    for (const bad of [Buffer.alloc(1), Buffer.alloc(999, 7), Buffer.concat([wavOf(tone(1)).subarray(0, 30), Buffer.alloc(50, 255)])]) {
      peer.say(bad);
      peer.say({ type: 'audio_complete' });
      assert.match(String((await peer.next('error')).message), /audio|wav/i);
    }
    assert.equal(peer.closedWith, undefined);
    // Samples cut in their middle are heard to the last whole one.
    peer.say({ type: 'audio', format: 'pcm' });
    peer.say(pcm(tone(0.7)).subarray(1));
    peer.say({ type: 'audio_complete' });
    await peer.next('done');
  });
});

const AT_ONCE = 20;

describe('sockets of sound, twenty at once', () => {
  const speech = new LocalSpeech(models);
  const each = <T>(work: (index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, index) => work(index)));

  it('each speak their own text', async () => {
    const durations = await each(async (index) => {
      const peer = new TestPeer(speechSockets[0]!.open({ here: { speech } }, { params: {}, query: { model: 'flite' } }));
      peer.say({ text: 'So. '.repeat(1 + (index % 5)), final: true, speed: 1 });
      const { duration } = await peer.next('done');
      assert.equal(peer.soundBytes, Math.round((duration as number) * 24_000) * 2);
      return duration as number;
    });
    const lengths = [...new Set(durations)];
    assert.deepEqual(
      lengths,
      lengths.toSorted((one, other) => one - other),
    );
    assert.deepEqual(
      durations,
      durations.map((_, index) => lengths[index % 5]),
    );
  });

  it('each are written down', async () => {
    await each(async (index) => {
      const peer = writing({ chunk_interval: 30 });
      peer.say(pcm(tone(0.5 + index / AT_ONCE)));
      peer.say('END');
      const { duration, is_final } = await peer.next('segment');
      assert.deepEqual([Math.round((duration as number) * 100), is_final], [50 + index * 5, true]);
      await peer.next('done');
    });
  });

  it('each are answered', async () => {
    await each(async () => {
      const peer = new TestPeer(audioChatSockets[0]!.open({ completions }, { params: {}, query: {} }));
      peer.say({ type: 'config', model: puppetPath(), temperature: 0, max_tokens: 8 });
      peer.say(pcm(tone(1)));
      peer.say({ type: 'audio_complete' });
      assert.equal(typeof (await peer.next('text')).content, 'string');
      await peer.next('done');
    });
  });
});
