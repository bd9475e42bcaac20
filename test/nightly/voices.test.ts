import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Models } from '../../runtime/models/residency/models.js';
import { LocalSpeech } from '../../runtime/speech/speak.js';
import { whole } from '../support/speech/sound.js';
import { assertApart } from '../support/speech/voice-print.js';

const KIT = join(import.meta.dirname, '..', '..', 'speech-kit');
const VOICES = 'af_heart af_bella af_nicole af_sarah af_sky am_adam am_michael bf_emma bf_isabella bm_george bm_lewis'.split(' ');

describe('the voices of Kokoro', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quern-voices-'));
  const models = new Models({ dataDir, places: { hub: KIT } });
  const speech = new LocalSpeech(models);
  after(async () => {
    await models.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('are eleven, each known again in another sentence', async () => {
    const { signal } = new AbortController();
    const spoken = async (voice: string, text: string): Promise<Float32Array> => {
      // Loaded once; flite is no stand-in under a repository's name.
      const { chunks } = await speech.speak({ text, model: 'onnx-community/Kokoro-82M-v1.0-ONNX', voice, speed: 1 }, signal);
      return (await whole(chunks)).samples;
    };
    await assertApart(VOICES, spoken, 1);
  });
});
