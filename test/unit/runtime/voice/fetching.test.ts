import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NeedModel } from '../../../../runtime/models/fetch/on-use.js';
import { fetchingSpeech } from '../../../../runtime/voice/voice.js';

const { signal } = new AbortController();

describe('the speech models of a conversation', () => {
  const wanted: [model: string, waitMs: number | undefined][] = [];
  const need: NeedModel = (model, { waitMs }, work) => {
    wanted.push([model, waitMs]);
    return work();
  };
  const services = {
    speech: { speak: async () => ({}), keepVoice: async () => () => undefined },
    transcription: { transcribe: async () => ({}), keepTranscriber: async () => () => undefined },
  } as unknown as Parameters<typeof fetchingSpeech>[2];
  const findVoice = (): Promise<unknown> => Promise.reject(new Error('another voice speaks in its place'));

  it('are fetched where the file names them: at the beginning with patience, in a turn without', async () => {
    const { speech, transcription } = fetchingSpeech({ need, findVoice }, { stt: { model: 'tiny' }, tts: { model: 'kokoro' } }, services);
    await transcription.keepTranscriber('tiny', signal);
    await transcription.transcribe({ model: 'tiny' } as Parameters<typeof transcription.transcribe>[0], signal);
    await speech.speak({ model: 'kokoro' } as Parameters<typeof speech.speak>[0], signal);
    assert.deepEqual(wanted.splice(0), [
      ['tiny', Number.POSITIVE_INFINITY],
      ['tiny', 0],
      ['kokoro', 0],
    ]);
    await speech.keepVoice('kokoro', undefined, signal);
    assert.deepEqual(wanted.splice(0), [
      ['kokoro', Number.POSITIVE_INFINITY],
      ['kokoro', Number.POSITIVE_INFINITY],
    ]);
  });

  it('are not where only the client does', async () => {
    for (const voice of [undefined, { stt: { model: 'base' as const } }]) {
      const { speech, transcription } = fetchingSpeech({ need, findVoice }, voice, services);
      await transcription.keepTranscriber('tiny', signal);
      await transcription.transcribe({ model: 'tiny' } as Parameters<typeof transcription.transcribe>[0], signal);
      await speech.keepVoice('kokoro', undefined, signal);
      await speech.speak({ model: 'kokoro' } as Parameters<typeof speech.speak>[0], signal);
    }
    assert.deepEqual(wanted, []);
  });
});
