import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createTransport, dispatch, type Listener } from '../../gateway/http/index.js';
import { transcriptionEndpoints } from '../../gateway/universal/transcriptions.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import { RemoteTranscription } from '../../runtime/remote/speech.js';
import type { LongTranscribeRequest, SpeechInService, TranscribeRequest, TranscriptSegment } from '../../runtime/speech/contract.js';
import { Transcription } from '../../runtime/speech/transcription/transcription.js';
import { Failure } from '../../schemas/errors.js';
import { emptyDataDir } from '../support/daemon.js';
import { writePuppetWhisper } from '../support/speech/puppet-whisper.js';
import { noise, silence, tone } from '../support/speech/sounds.js';
import { until } from '../support/until.js';

setLogLevel('error');
const dataDir = emptyDataDir();
const install = (name: string, language?: 'de'): void =>
  writePuppetWhisper(join(dataDir, 'models/Systran', `faster-whisper-${name}`), {
    words: [' So', ' it', ' is.'],
    seconds: 1,
    ...(language ? { language } : {}),
  });
install('tiny.en');
install('base', 'de');

/** Who is asked: the engines of this process, or the same over HTTP. */
const PLACES = ['here', 'elsewhere'] as const;

async function* pieces(...all: readonly Float32Array[]): AsyncGenerator<Float32Array, void, undefined> {
  yield* all;
}

/** Somebody who says the same again and again. */
async function* endless(): AsyncGenerator<Float32Array, void, undefined> {
  for (;;) yield Float32Array.from([...tone(2), ...silence(2.5)]);
}

for (const place of PLACES)
  describe(`speech in, ${place}`, () => {
    const models = new Models({ dataDir, places: { hub: join(dataDir, 'hub') } });
    const local = new Transcription(models, dataDir);
    const outbound = new Outbound();
    let listener: Listener | undefined;
    let speech: SpeechInService = local;

    before(async () => {
      if (place === 'here') return;
      const application = dispatch({
        endpoints: transcriptionEndpoints,
        context: { transcription: local },
        access: { bindHost: '127.0.0.1' },
      });
      listener = await createTransport('node').listen({ host: '127.0.0.1', port: 0, application });
      speech = new RemoteTranscription(outbound, [`http://127.0.0.1:${listener.port}`]);
    });
    after(async () => {
      await listener?.drain(100);
      await outbound.close();
      await models.close();
    });

    const heard = async (
      request: Partial<TranscribeRequest> | Partial<LongTranscribeRequest>,
      signal = new AbortController().signal,
    ): Promise<{ language: string; duration: number; segments: TranscriptSegment[] }> => {
      const asked = { samples: tone(2), model: 'tiny.en', task: 'transcribe', ...request } as TranscribeRequest;
      const transcribing = await speech.transcribe(asked, signal);
      const segments: TranscriptSegment[] = [];
      for await (const segment of transcribing.segments) segments.push(segment);
      return { language: transcribing.language, duration: transcribing.duration, segments };
    };
    const idle = (): Promise<void> => until(() => models.loaded().every(({ uses }) => uses === 0), 'no model is in use');

    it('writes down whole audio', async () => {
      const { language, duration, segments } = await heard({});
      assert.deepEqual([language, duration, segments.length], ['en', 2, 1]);
      const [{ id, start, end, text, words, avg_logprob, no_speech_prob }] = segments as [TranscriptSegment];
      assert.deepEqual({ id, start, end, text, words }, { id: 0, start: 0, end: 1, text: 'So it is.', words: null });
      assert.ok(avg_logprob <= 0 && no_speech_prob >= 0 && no_speech_prob < 1);
    });

    it('writes down pieces of any length, with times from their beginning', async () => {
      const samples = pieces(silence(4), silence(0), tone(1.23), silence(3.3), tone(2));
      const { duration, segments } = await heard({ samples, words: true });
      assert.ok(Math.abs(duration - 10.53) < 0.001, `${duration} s`);
      assert.deepEqual(
        segments.map(({ id }) => id),
        [0, 1],
      );
      const [first, second] = segments as [TranscriptSegment, TranscriptSegment];
      assert.ok(first.start > 3.4 && first.start < 4.2 && second.start > 7.5 && second.start < 8.7, JSON.stringify(segments));
      assert.equal(first.words!.map(({ word }) => word).join(' '), 'So it is.');
      let last = 0;
      for (const { start, end } of segments.flatMap((segment) => segment.words!)) {
        assert.ok(start >= last && end >= start && end <= duration, JSON.stringify(segments));
        last = end;
      }
    });

    it('tells the language that it hears', async () => {
      assert.equal((await heard({ model: 'base' })).language, 'de');
      assert.equal((await heard({ model: 'base', language: 'en' })).language, 'en');
      assert.equal((await heard({ model: 'base', task: 'translate' })).segments[0]!.text, 'So it is.');
    });

    it('hears nothing in silence and noise', async () => {
      for (const samples of [silence(30), noise(5, 0.1), silence(0)]) assert.deepEqual((await heard({ samples })).segments, []);
    });

    it('names the pull of a model that is not here', async () => {
      await assert.rejects(heard({ model: 'small' }), (error: unknown) => {
        assert.ok(error instanceof Failure);
        assert.equal(error.status, 404);
        assert.match(error.message, /quern pull whisper-small/);
        return true;
      });
      await assert.rejects(heard({ language: 'de' }), { kind: 'bad_request' });
    });

    it('gives the model back when the reader leaves, and when it is told to stop', async () => {
      const transcribing = await speech.transcribe(
        { samples: endless(), model: 'tiny.en', task: 'transcribe' },
        new AbortController().signal,
      );
      for await (const segment of transcribing.segments) if (segment.id === 2) break;
      await idle();
      const control = new AbortController();
      const stopped = heard({ samples: endless() }, control.signal);
      setTimeout(() => control.abort(new Error('enough')), 300);
      await assert.rejects(stopped, /enough/);
      await idle();
    });

    it('fails with what is wrong with the audio, and gives the model back', async () => {
      const broken = async function* (): AsyncGenerator<Float32Array, void, undefined> {
        yield tone(2);
        throw new Failure('bad_request', 'The file is damaged.');
      };
      await assert.rejects(heard({ samples: broken() }), { message: 'The file is damaged.' });
      await idle();
    });

    if (place === 'here')
      it('goes on in a new process when its own has died', async () => {
        const release = await speech.keepTranscriber('tiny.en', new AbortController().signal);
        let failure: unknown;
        const running = heard({ samples: endless() }).catch((error: unknown) => (failure = error));
        // Between two stretches its death harms nobody.
        for (let tries = 0; failure === undefined && tries < 400; tries += 1) {
          const pid = models.loaded().find(({ name }) => name === 'tiny.en')?.pid;
          if (pid !== undefined) process.kill(pid, 'SIGKILL');
          await new Promise((resolve) => setTimeout(resolve, 150));
        }
        await running;
        assert.ok(failure instanceof Failure && failure.kind === 'unavailable', String(failure));
        // A process that has died three times is left alone for a while.
        const again = (): Promise<number> =>
          heard({}).then(
            ({ segments }) => segments.length,
            (error: Failure) => (error.code === 'circuit_open' ? 0 : Promise.reject(error)),
          );
        await until(async () => (await again()) === 1, 'a new process hears');
        release();
        await idle();
      });
  });
