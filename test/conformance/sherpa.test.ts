import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../runtime/base/log.js';
import { espeakData } from '../../runtime/formats/sherpa-folder.js';
import { Models } from '../../runtime/models/residency/models.js';
import { SPEECH_RATE } from '../../runtime/speech/contract.js';
import { LocalSpeech } from '../../runtime/speech/speak.js';
import { Transcription } from '../../runtime/speech/transcription/transcription.js';
import { emptyDataDir } from '../support/daemon.js';
import { toneOf, whole } from '../support/speech/sound.js';
import { tone } from '../support/speech/sounds.js';
import { installKitten, installMatcha, installSherpaVoice, MATCHA_TEXT, SHERPA_TONE } from '../support/speech/tiny-sherpa.js';
import { SHERPA_EARS, SHERPA_TEXT } from '../support/speech/tiny-sherpa-ears.js';

setLogLevel('error');
const never = new AbortController().signal;
/** Kinds that tell no times. */
const TIMELESS = ['Moonshine', 'streaming Paraformer'];
const isInstalled = (() => {
  try {
    return Boolean(createRequire(import.meta.url)('sherpa-onnx-node'));
  } catch {
    return false;
  }
})();

const HAS_ESPEAK = (() => {
  try {
    return espeakData(tmpdir(), { kind: 'kitten', metadata: new Map() }) !== undefined;
  } catch {
    return false;
  }
})();

describe('sherpa-onnx', { skip: isInstalled ? false : 'the optional package sherpa-onnx-node is not installed' }, () => {
  const dataDir = emptyDataDir();
  const models = new Models({ dataDir, places: { hub: join(dataDir, 'hub') } });
  const speech = new LocalSpeech(models);
  const ears = new Transcription(models, dataDir);
  before(() => installSherpaVoice(join(dataDir, 'models/someone/vits-two'), 2));
  after(() => models.close());
  const spoken = async (voice?: string, rest: object = {}) => {
    const asked = { text: 'Hello there, friend.', model: 'someone/vits-two', voice, speed: 1, ...rest };
    const { engine, chunks } = await speech.speak(asked, never);
    return { engine, ...(await whole(chunks)) };
  };
  const heard = async (model: string, rest: object = {}) => {
    const { segments, language } = await ears.transcribe({ samples: tone(2), model, task: 'transcribe', ...rest }, never);
    const all = [];
    for await (const segment of segments) all.push(segment);
    return { language, all };
  };

  it('speaks with the speakers of a model, at its own rate and at any speed', async () => {
    assert.deepEqual(
      (await speech.voices('someone/vits-two')).map(({ id, language }) => [id, language]),
      [
        ['0', 'en'],
        ['1', 'en'],
      ],
    );
    const usual = await spoken();
    assert.equal(usual.engine, 'sherpa');
    assert.ok(usual.samples.length > SPEECH_RATE / 2 && Math.abs(toneOf(usual.samples) - SHERPA_TONE) < 8);
    assert.ok(Math.abs(toneOf((await spoken('1')).samples) - 2 * SHERPA_TONE) < 12);
    for (const speed of [0.25, 2]) {
      const ratio = usual.samples.length / (await spoken('0', { speed })).samples.length / speed;
      assert.ok(Math.abs(ratio - 1) < 0.25, `speed ${speed}: ${ratio}`);
    }
    await assert.rejects(spoken('2'), { code: 'VoiceNotFound', message: /it has 0, 1/ });
  });

  it('speaks with Matcha and its vocoder', async () => {
    installMatcha(join(dataDir, 'models/someone/matcha'));
    const model = 'someone/matcha';
    assert.deepEqual(
      (await speech.voices(model)).map(({ id, language }) => [id, language]),
      [['0', 'zh']],
    );
    const usual = await spoken('0', { model, text: MATCHA_TEXT });
    assert.ok(usual.samples.length > SPEECH_RATE / 2 && Math.abs(toneOf(usual.samples) - SHERPA_TONE) < 8);
    const ratio = usual.samples.length / (await spoken('0', { model, text: MATCHA_TEXT, speed: 2 })).samples.length / 2;
    assert.ok(Math.abs(ratio - 1) < 0.25, `${ratio}`);
    await assert.rejects(spoken('1', { model, text: MATCHA_TEXT }), { code: 'VoiceNotFound' });
  });

  it('speaks with Kitten', { skip: HAS_ESPEAK ? false : 'the data of espeak-ng is not on this machine' }, async () => {
    installKitten(join(dataDir, 'models/someone/kitten'));
    const [low, high] = [await spoken('low', { model: 'someone/kitten' }), await spoken('high', { model: 'someone/kitten' })];
    assert.ok(low.samples.length > SPEECH_RATE / 2 && Math.abs(toneOf(low.samples) - SHERPA_TONE) < 8);
    assert.ok(Math.abs(toneOf(high.samples) - 2 * SHERPA_TONE) < 12);
  });

  for (const [kind, install] of Object.entries(SHERPA_EARS))
    it(`writes down speech with ${kind}`, async () => {
      const model = `ears/${kind.replaceAll(' ', '-')}`;
      install(join(dataDir, 'models', model));
      const { all, language } = await heard(model, { words: true });
      const isWhisper = kind === 'Whisper';
      assert.deepEqual([all.map(({ text }) => text.trim()), language], [[SHERPA_TEXT], isWhisper ? 'de' : 'en']);
      if (isWhisper) {
        assert.equal((await heard(model, { language: 'en', task: 'translate' })).language, 'en');
        await assert.rejects(heard(model, { language: 'fr' }), { kind: 'bad_request', message: /"fr"/ });
        return;
      }
      if (TIMELESS.includes(kind)) {
        assert.equal(all[0]!.words, null);
        return;
      }
      const words = all[0]!.words!;
      assert.deepEqual(
        words.map(({ word }) => word),
        SHERPA_TEXT.split(' '),
      );
      assert.ok(words[0]!.end <= words[1]!.start + 0.001 && words[1]!.end <= 2.5);
      await assert.rejects(heard(model, { task: 'translate' }), { kind: 'bad_request', message: /cannot translate/ });
    });

  it('refuses damaged graphs by their names, and outlives a model that ends its process', async () => {
    const damaged = join(dataDir, 'models/someone/damaged');
    installSherpaVoice(damaged, 1);
    writeFileSync(join(damaged, 'tokens.txt'), 'no such form\n');
    await assert.rejects(spoken('0', { model: 'someone/damaged' }), ({ kind }: { kind: string }) =>
      ['unavailable', 'model_failed'].includes(kind),
    );
    const other = join(dataDir, 'models/someone/other');
    installSherpaVoice(other, 1, 'fastspeech');
    await assert.rejects(spoken('0', { model: 'someone/other' }), {
      kind: 'invalid',
      message: /model\.onnx calls itself "fastspeech".*vits/,
    });
    await assert.rejects(heard('someone/other'), { kind: 'invalid', message: /"fastspeech"/ });
    writeFileSync(join(damaged, 'model.onnx'), 'no graph at all');
    await assert.rejects(spoken('0', { model: 'someone/damaged' }), { kind: 'invalid', message: /model\.onnx/ });
    assert.ok((await spoken()).samples.length > 0);
  });
});
