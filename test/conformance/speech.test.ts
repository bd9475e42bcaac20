import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { createTransport, dispatch, type Listener } from '../../gateway/http/index.js';
import { speechEndpoints } from '../../gateway/universal/speech.js';
import { speechSockets } from '../../gateway/universal/speech-socket.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { openKokoro, symbolNumbers } from '../../runtime/engines/speaking/engines/kokoro.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import { RemoteSpeech } from '../../runtime/remote/speech.js';
import type { Services } from '../../runtime/services/services.js';
import { SPEECH_RATE, type SpeechOut, type SpokenChunk } from '../../runtime/speech/contract.js';
import { LocalSpeech } from '../../runtime/speech/speak.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import type { Failure } from '../../schemas/errors.js';
import { emptyDataDir } from '../support/daemon.js';
import { toneOf, whole } from '../support/speech/sound.js';
import { EXPORTS, FRAME_SAMPLES, framesOf, installKokoro, TONES } from '../support/speech/tiny-kokoro.js';
import { hubPiper, installPiper, PIPER_TONE } from '../support/speech/tiny-piper.js';
import { until } from '../support/until.js';

setLogLevel('error');
const REPOSITORY = 'models/onnx-community/Kokoro-82M-v1.0-ONNX';
const TEXT = 'Hello there, my friend. This is the second sentence of the text, which has more words than the first.';
const never = new AbortController().signal;
const request = { text: TEXT, model: 'kokoro', voice: 'af_heart', speed: 1 };

/** Who is asked: the engines of this process, or the same over HTTP. */
const PLACES = ['here', 'elsewhere'] as const;

/** Speech on a data directory, in either place. */
async function stage(
  place: (typeof PLACES)[number],
  dataDir: string,
): Promise<{ speech: SpeechOut; models: Models; close(): Promise<void> }> {
  const models = new Models({ dataDir, places: { hub: join(dataDir, 'hub') } });
  const local = new LocalSpeech(models);
  if (place === 'here') return { speech: local, models, close: () => models.close() };
  const outbound = new Outbound();
  const application = dispatch({ endpoints: speechEndpoints, context: { speech: local } as never, access: { bindHost: '127.0.0.1' } });
  const listener: Listener = await createTransport('node').listen({ host: '127.0.0.1', port: 0, application });
  const speech = new RemoteSpeech(outbound, [`http://127.0.0.1:${listener.port}`]);
  const close = async (): Promise<void> => {
    await listener.drain(100);
    await outbound.close();
    await models.close();
  };
  return { speech, models, close };
}

for (const place of PLACES)
  describe(`speech out, ${place}`, () => {
    const dataDir = emptyDataDir();
    let speech: SpeechOut;
    let models: Models;
    let close: () => Promise<void>;
    before(async () => {
      installKokoro(join(dataDir, REPOSITORY), EXPORTS['with durations']!);
      ({ speech, models, close } = await stage(place, dataDir));
    });
    after(() => close());

    it('says who speaks, and speaks the text phrase by phrase', async () => {
      const { engine, voice, chunks } = await speech.speak(request, never);
      assert.deepEqual([engine, voice], ['kokoro', 'af_heart']);
      const parts: SpokenChunk[] = [];
      for await (const chunk of chunks) parts.push(chunk);
      assert.ok(parts.length >= 2 && parts.every(({ samples }) => samples.length > 0));
      assert.ok(parts[0]!.samples.length < parts.reduce((sum, { samples }) => sum + samples.length, 0) / 2);
      const words = parts.flatMap((part) => part.words ?? []);
      assert.equal(words.map(({ word }) => word).join(' '), TEXT);
    });

    it('gives the times of words in their order, within the sound', async () => {
      const { samples, words } = await whole((await speech.speak(request, never)).chunks);
      let last = 0;
      for (const { word, start, end } of words) {
        assert.ok(start >= last - 1e-6 && end > start, `${word}: ${start} to ${end} after ${last}`);
        last = end;
      }
      assert.ok(last <= samples.length / SPEECH_RATE + 0.01, `${last} of ${samples.length / SPEECH_RATE}`);
    });

    it('has a voice of its own for each id, American and British', async () => {
      for (const voice of ['af_heart', 'af_bella', 'bm_george']) {
        const { samples } = await whole((await speech.speak({ ...request, voice }, never)).chunks);
        assert.ok(Math.abs(toneOf(samples) - TONES[voice]!) < 8, `${voice}: ${toneOf(samples)} Hz`);
      }
    });

    it('speaks as fast as it is told, and as high as before', async () => {
      const seconds = async (speed: number): Promise<number> => {
        const { samples } = await whole((await speech.speak({ ...request, speed }, never)).chunks);
        assert.ok(Math.abs(toneOf(samples) - TONES.af_heart!) < 12, `speed ${speed} has ${toneOf(samples)} Hz`);
        return samples.length / SPEECH_RATE;
      };
      const usual = await seconds(1);
      for (const speed of [0.25, 0.5, 2, 4]) {
        const ratio = usual / (await seconds(speed));
        assert.ok(ratio > speed * 0.85 && ratio < speed * 1.15, `speed ${speed} is ${ratio}`);
      }
    });

    it('says nothing for a text in which nothing can be said', async () => {
      const { chunks } = await speech.speak({ ...request, text: '... 你好 !' }, never);
      assert.equal((await whole(chunks)).samples.length, 0);
    });

    it('refuses models and voices that are not there, and names the pull', async () => {
      for (const wrong of [{ model: 'nobody' }, { voice: 'nobody' }, { voice: 'af_sky' }, { model: 'org/kokoro' }])
        await assert.rejects(speech.speak({ ...request, ...wrong }, never), (error: Failure) => {
          assert.deepEqual([error.kind, /quern pull/.test(error.message)], ['not_found', true], error.message);
          return true;
        });
    });

    it('lists the voices of the model that is there', async () => {
      const ids = (await speech.voices('kokoro')).map(({ id }) => id);
      assert.equal(ids[0], 'af_heart');
      assert.ok(ids.includes('af_alloy') && ids.includes('bf_emma') && !ids.includes('slt'));
      assert.ok((await speech.voices()).some(({ id, model }) => id === 'slt' && model === 'flite'));
      await assert.rejects(speech.voices('nobody'), { kind: 'not_found' });
    });

    it('stops when it is aborted, and when nobody listens any more', async () => {
      const control = new AbortController();
      const text = 'One two three four five six seven eight nine ten. '.repeat(60);
      const { chunks } = await speech.speak({ ...request, text }, control.signal);
      await assert.rejects(async () => {
        for await (const _chunk of chunks) control.abort(new DOMException('enough', 'AbortError'));
      });
      for await (const _chunk of (await speech.speak({ ...request, text }, never)).chunks) break;
      await until(() => models.loaded().every(({ uses }) => uses === 0), 'no model is in use');
      assert.ok((await whole((await speech.speak(request, never)).chunks)).samples.length > 0);
    });

    it('outlives the death of its engine in the middle of a text', async () => {
      const text = 'One two three four five six seven eight nine ten. '.repeat(80);
      const { chunks } = await speech.speak({ ...request, text }, never);
      await assert.rejects(
        async () => {
          let isFirst = true;
          for await (const _chunk of chunks) {
            if (isFirst) process.kill(models.loaded().find(({ key }) => key.startsWith('tts:kokoro'))!.pid!, 'SIGKILL');
            isFirst = false;
          }
        },
        (error: Failure) => ['unavailable', 'model_failed'].includes(error.kind),
      );
      assert.ok((await whole((await speech.speak(request, never)).chunks)).samples.length > 0);
    });

    it('speaks to several at a time', async () => {
      const all = await Promise.all(Array.from({ length: 8 }, async () => whole((await speech.speak(request, never)).chunks)));
      assert.equal(new Set(all.map(({ samples }) => samples.length)).size, 1);
    });
  });

for (const transport of ['uws', 'node'] as const)
  describe(`speech over the ${transport} transport`, () => {
    const models = new Models({ dataDir: emptyDataDir(), places: { hub: '/nowhere' } });
    const speech = new LocalSpeech(models);
    let listener: Listener;
    before(async () => {
      const services: { readonly here: Pick<Services, 'speech'> } & Pick<Services, 'speech'> = { speech, here: { speech } };
      const endpoints = speechEndpoints as Endpoint<Pick<Services, 'speech'>>[] as Endpoint<typeof services>[];
      const application = dispatch({ endpoints, sockets: speechSockets, context: services, access: { bindHost: '127.0.0.1' } });
      listener = await createTransport(transport).listen({ host: '127.0.0.1', port: 0, application });
    });
    after(async () => {
      await listener.drain(100);
      await models.close();
    });

    it('gives the same sound as bytes, as events and over a WebSocket', async () => {
      const ask = async (rest: object): Promise<Buffer> => {
        const body = JSON.stringify({ input: TEXT, model: 'flite', ...rest });
        const answer = await fetch(`http://127.0.0.1:${listener.port}/v1/audio/speech`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
        return Buffer.from(await answer.arrayBuffer());
      };
      const bytes = await ask({ response_format: 'pcm' });
      const events = [...(await ask({ stream: true })).toString().matchAll(/"data":"([^"]*)"/g)].map(([, data]) =>
        Buffer.from(data!, 'base64'),
      );
      assert.deepEqual(Buffer.concat(events), bytes);
      const socket = new WebSocket(`ws://127.0.0.1:${listener.port}/v1/audio/speech/stream?model=flite`);
      const pieces: Buffer[] = [];
      socket.on('message', (content: Buffer, isBinary) => isBinary && pieces.push(content));
      socket.on('open', () => socket.send(JSON.stringify({ text: TEXT, final: true })));
      await once(socket, 'close');
      assert.ok(bytes.length > SPEECH_RATE && pieces.length > 5);
      assert.deepEqual(Buffer.concat(pieces), bytes);
    });
  });

describe('the files of Kokoro', () => {
  for (const [name, kind] of Object.entries(EXPORTS))
    it(`may be an export ${name}`, async () => {
      const dataDir = emptyDataDir();
      installKokoro(join(dataDir, REPOSITORY), kind);
      const { speech, close } = await stage('here', dataDir);
      try {
        const { samples, words } = await whole((await speech.speak(request, never)).chunks);
        assert.ok(Math.abs(toneOf(samples) - 200) < 8);
        assert.equal(words.length > 0, kind.durations);
      } finally {
        await close();
      }
    });

  it('tell the times of words to the frame, where they have durations', async () => {
    const dataDir = emptyDataDir();
    installKokoro(join(dataDir, REPOSITORY), EXPORTS['with durations']!);
    const files = { folder: join(dataDir, REPOSITORY), graph: 'onnx/model_quantized.onnx', threads: 1, device: 'cpu' };
    const engine = await openKokoro(files);
    try {
      const voice = 'af_heart';
      for (const phrase of engine.plan(TEXT, voice))
        for (const speed of [0.5, 1, 2]) {
          const { words } = await engine.say({ ...phrase, voice, speed });
          // The symbol before all others has the number 0.
          let frame = framesOf(0);
          let at = 0;
          const symbols = symbolNumbers(phrase.script).map((number) => number!);
          const expected = phrase.words.map(({ word, length }) => {
            const own = symbols.slice(at, at + length);
            at += length;
            const heard = own.filter((number) => number > 16);
            const start = frame;
            frame += own.reduce((sum, number) => sum + framesOf(number), 0);
            return { word, start, end: start + heard.reduce((sum, number) => sum + framesOf(number), 0) };
          });
          const second = FRAME_SAMPLES / speed / SPEECH_RATE;
          for (const [index, { word, start, end }] of expected.entries()) {
            const told = words![index]!;
            assert.equal(told.word, word);
            const off = Math.max(Math.abs(told.start - start * second), Math.abs(told.end - end * second));
            assert.ok(off < 1e-4, `${word} at speed ${speed} is ${off} s off`);
          }
        }
    } finally {
      await engine.close();
    }
  });

  it('are taken in the format that is named, else in the usual one', async () => {
    const dataDir = emptyDataDir();
    installKokoro(join(dataDir, REPOSITORY), EXPORTS['with durations']!, [
      'onnx/model.onnx',
      'onnx/model_fp16.onnx',
      'onnx/model_quantized.onnx',
    ]);
    const { speech, models, close } = await stage('here', dataDir);
    try {
      for (const model of [
        'kokoro',
        'kokoro:F16',
        'hexgrad/Kokoro-82M:F32',
        'onnx-community/Kokoro-82M-v1.0-ONNX',
        join(dataDir, REPOSITORY),
      ])
        assert.ok((await whole((await speech.speak({ ...request, model }, never)).chunks)).samples.length > 0, model);
      assert.deepEqual(
        models.loaded().map(({ key, type }) => `${type} ${key.replace(dataDir, '')}`),
        [
          'tts tts:kokoro:af_heart',
          'tts tts:kokoro:af_heart:quantF16',
          'tts tts:kokoro:af_heart:quantF32',
          'tts tts:onnx-community/Kokoro-82M-v1.0-ONNX:af_heart',
          `tts tts:/${REPOSITORY}:af_heart`,
        ],
      );
      await assert.rejects(speech.speak({ ...request, model: 'kokoro:Q4' }, never), { kind: 'not_found' });
    } finally {
      await close();
    }
  });

  it('are refused where they are damaged or something else, and flite does not step in', async () => {
    const dataDir = emptyDataDir();
    const { speech, close } = await stage('here', dataDir);
    const spoken = (voice = 'af_heart') =>
      speech.speak({ ...request, voice }, never).then(async ({ engine, chunks }) => ({ engine, ...(await whole(chunks)) }));
    try {
      assert.equal((await spoken()).engine, 'flite');
      mkdirSync(join(dataDir, REPOSITORY, 'onnx'), { recursive: true });
      mkdirSync(join(dataDir, REPOSITORY, 'voices'));
      writeFileSync(join(dataDir, REPOSITORY, 'onnx/model_quantized.onnx'), 'no graph at all');
      await assert.rejects(spoken(), { kind: 'not_found' });
      writeFileSync(join(dataDir, REPOSITORY, 'voices/af_heart.bin'), Buffer.alloc(1000));
      await assert.rejects(spoken(), { kind: 'invalid' });
      rmSync(join(dataDir, REPOSITORY, 'onnx/model_quantized.onnx'));
      installKokoro(join(dataDir, REPOSITORY), EXPORTS['with durations']!);
      writeFileSync(join(dataDir, REPOSITORY, 'voices/af_bella.bin'), Buffer.alloc(1000));
      await assert.rejects(spoken('af_bella'), { kind: 'invalid' });
      assert.equal((await spoken()).engine, 'kokoro');
    } finally {
      await close();
    }
  });
});

describe('piper', () => {
  const dataDir = emptyDataDir();
  let speech: SpeechOut;
  let models: Models;
  let close: () => Promise<void>;
  const joe = hubPiper(join(dataDir, 'hub'), 'en_US-joe-medium');
  before(async () => {
    installPiper(joe);
    installPiper(join(dataDir, 'models/mine/own.onnx'), { speakers: { anna: 0, ben: 1 } });
    installPiper(join(dataDir, 'models/letters.onnx'), { espeak: 'uk', language: 'uk_UA', readsLetters: true });
    installPiper(hubPiper(join(dataDir, 'hub'), 'de_DE-thorsten-medium'), { espeak: 'de', language: 'de_DE' });
    ({ speech, models, close } = await stage('here', dataDir));
  });
  after(() => close());
  const spoken = async (model: string, voice?: string, rest: object = {}) => {
    const { engine, voice: real, chunks } = await speech.speak({ ...request, model, voice, ...rest }, never);
    const { samples } = await whole(chunks);
    return { engine, voice: real, samples, tone: toneOf(samples) };
  };

  it('lists its voices, each speaker as one, English first', async () => {
    const voices = await speech.voices('piper');
    assert.deepEqual(
      voices.map(({ id, language }) => [id, language]),
      [
        ['en_US-joe-medium', 'en-US'],
        ['own:anna', 'en-US'],
        ['own:ben', 'en-US'],
        ['de_DE-thorsten-medium', 'de-DE'],
        ['letters', 'uk-UA'],
      ],
    );
    assert.deepEqual(voices[0], { id: 'en_US-joe-medium', name: 'Joe (en-US, medium)', language: 'en-US', model: 'piper' });
    assert.ok((await speech.voices()).some(({ id }) => id === 'own:ben'));
  });

  it('speaks by the name of the engine, of a voice, of a folder and of a file', async () => {
    for (const [model, voice] of [
      ['piper'],
      ['piper', 'en_US-joe-medium'],
      ['en_US-joe-medium'],
      ['en_US-joe-medium', 'nova'],
      ['rhasspy/piper-voices', 'en_US-joe-medium'],
      [joe],
    ]) {
      const said = await spoken(model!, voice);
      assert.deepEqual([said.engine, said.voice], ['piper', 'en_US-joe-medium'], model);
      assert.ok(said.samples.length > 3 * SPEECH_RATE && Math.abs(said.tone - PIPER_TONE) < 8, `${model}: ${said.tone} Hz`);
    }
    assert.ok(models.loaded().some(({ key }) => key === 'tts:piper:en_US-joe-medium'));
  });

  it('has the speakers of a voice, whose rate is not ours, and reads letters where a voice learnt them', async () => {
    assert.ok(Math.abs((await spoken('mine')).tone - PIPER_TONE) < 8);
    assert.ok(Math.abs((await spoken('mine', 'own:ben')).tone - 2 * PIPER_TONE) < 12);
    assert.ok((await spoken('piper', 'letters', { text: 'Abc.' })).samples.length > SPEECH_RATE / 8);
  });

  it('speaks as fast as it is told', async () => {
    const usual = (await spoken('piper')).samples.length;
    for (const speed of [0.25, 2, 4]) {
      const { samples, tone } = await spoken('piper', undefined, { speed });
      assert.ok(Math.abs(usual / samples.length / speed - 1) < 0.2 && Math.abs(tone - PIPER_TONE) < 12, `${speed}: ${tone} Hz`);
    }
  });

  it('speaks other languages by the program espeak-ng, and says so where it is not installed', async () => {
    const isHere = (await speech.voices('espeak-ng')).length > 0;
    const german = spoken('de_DE-thorsten-medium', undefined, { text: 'Guten Tag, wie geht es?' });
    if (isHere) assert.ok((await german).samples.length > SPEECH_RATE / 4);
    else await assert.rejects(german, { kind: 'not_found', message: /espeak-ng must be on the PATH/ });
  });

  it('refuses what is not there with the pull, and what is damaged with its file', async () => {
    for (const [model, voice, says] of [
      ['en_GB-alba-medium', undefined, /quern pull en_GB-alba-medium/],
      ['piper', 'en_GB-alba-medium', /quern pull en_GB-alba-medium/],
      ['piper', 'nobody', /audio\/voices\?model=piper/],
      [join(dataDir, 'nothing.onnx'), undefined, /check the path/i],
    ] as const)
      await assert.rejects(spoken(model, voice), (error: Failure) => {
        assert.ok(error.kind === 'not_found' && says.test(error.message), error.message);
        return true;
      });
    const damaged = join(dataDir, 'models/damaged/bad.onnx');
    installPiper(damaged);
    writeFileSync(`${damaged}.json`, '{"audio": {"sample_rate": 7}, "phoneme_id_map": {"a": [1]}}');
    await assert.rejects(spoken('damaged'), { kind: 'invalid', message: /bad\.onnx\.json.*audio\.sample_rate/ });
    assert.equal((await speech.voices('piper')).length, 5);
    installPiper(damaged);
    installKokoro(join(dataDir, 'models/tmp'), EXPORTS['with durations']!);
    writeFileSync(damaged, readFileSync(join(dataDir, 'models/tmp/onnx/model_quantized.onnx')));
    await assert.rejects(spoken('damaged'), { kind: 'invalid', message: /no voice of Piper/ });
  });
});

describe('flite', () => {
  const dataDir = emptyDataDir();
  let speech: SpeechOut;
  let close: () => Promise<void>;
  before(async () => {
    ({ speech, close } = await stage('here', dataDir));
  });
  after(() => close());

  it('speaks in each of its voices, and under every id of kokoro', async () => {
    const lengths = new Set<number>();
    for (const { id, model } of (await speech.voices()).filter((voice) => voice.model !== 'espeak-ng')) {
      const { engine, chunks } = await speech.speak({ ...request, text: 'Hello there.', model, voice: id }, never);
      const { samples, words } = await whole(chunks);
      assert.equal(engine, 'flite');
      assert.ok(samples.length > SPEECH_RATE / 3 && Math.max(...samples) > 0.05 && words.length === 2, id);
      if (model === 'flite') lengths.add(samples.length);
    }
    assert.equal(lengths.size, 4);
  });

  it('keeps the last word of the longest text', async () => {
    const text = `${'word and other, '.repeat(255).slice(0, 4090)} end`;
    const { words, samples } = await whole((await speech.speak({ ...request, text, speed: 4 }, never)).chunks);
    assert.equal(words.at(-1)!.word, 'end');
    assert.ok(words.at(-1)!.end > samples.length / SPEECH_RATE - 1);
  });
});

describe('espeak-ng', () => {
  const dataDir = emptyDataDir();
  let speech: SpeechOut;
  let close: () => Promise<void>;
  let isHere = false;
  before(async () => {
    ({ speech, close } = await stage('here', dataDir));
    isHere = (await speech.voices('espeak-ng')).length > 0;
  });
  after(() => close());

  it('speaks other languages where the program is installed, and says so where it is not', async () => {
    const german = { text: 'Guten Tag. Wie geht es Ihnen?', model: 'espeak-ng', voice: 'de', speed: 1 };
    if (!isHere) {
      await assert.rejects(speech.speak(german, never), { kind: 'not_found', message: /espeak-ng on the PATH/ });
      return;
    }
    const { engine, chunks } = await speech.speak(german, never);
    const usual = (await whole(chunks)).samples;
    assert.ok(engine === 'espeak-ng' && usual.length > SPEECH_RATE && Math.max(...usual) > 0.05);
    const fast = (await whole((await speech.speak({ ...german, speed: 4 }, never)).chunks)).samples;
    assert.ok(fast.length < usual.length / 2);
    const chinese = { ...german, voice: 'cmn', text: '你好。今天天气很好，我们去公园吧！' };
    assert.ok((await whole((await speech.speak(chinese, never)).chunks)).samples.length > SPEECH_RATE);
    await assert.rejects(speech.speak({ ...german, voice: 'de; rm' }, never), { code: 'VoiceNotFound' });
  });
});
