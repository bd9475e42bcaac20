import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';
import { SENTENCES } from '../support/speech/sentences.js';
import { wordErrors } from '../support/speech/word-errors.js';

const KIT = join(import.meta.dirname, '..', '..', 'speech-kit');
const KOKORO = join(KIT, 'models--onnx-community--Kokoro-82M-v1.0-ONNX');
const WHISPER = join(KIT, 'models--Systran--faster-whisper-tiny.en');

describe('what is spoken, heard again', {
  skip: existsSync(KOKORO) && existsSync(WHISPER) ? false : 'build/speech-kit lacks weights: run scripts/speech-kit.mjs --all',
}, () => {
  let daemon: DaemonUnderTest;
  before(async () => {
    daemon = await startDaemon({ env: { HF_HUB_CACHE: KIT, HF_HUB_OFFLINE: '1' } });
  });
  after(() => daemon.end('SIGKILL'));

  const heard = async (body: object): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    const spoken = await fetch(`${daemon.runtime}/v1/audio/speech`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...body, response_format: 'wav' }),
    });
    const form = new FormData();
    form.set('file', new Blob([await spoken.arrayBuffer()]), 'speech.wav');
    form.set('model', 'tiny.en');
    const answer = await fetch(`${daemon.runtime}/v1/audio/transcriptions`, { method: 'POST', body: form });
    assert.equal(answer.status, 200, await answer.clone().text());
    return ((await answer.json()) as { text: string }).text;
  };

  for (const [model, voice, count, most] of [
    ['flite', 'slt', 10, 0.12],
    ['kokoro', 'af_heart', 3, 0.12],
    // Its lengths and pitch are drawn anew each time.
    ['piper', 'en_US-joe-medium', 5, 0.25],
  ] as const)
    it(`is what was said: ${model}`, { timeout: 240_000 }, async () => {
      let [errors, words] = [0, 0];
      for (const sentence of SENTENCES.slice(0, count)) {
        const counted = wordErrors(sentence, await heard({ input: sentence, model, voice }));
        errors += counted.wrong;
        words += counted.words;
      }
      assert.ok(errors / words <= most, `${errors} of ${words} words are wrong`);
    });
});
