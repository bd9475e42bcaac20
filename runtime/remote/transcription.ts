import { randomUUID } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { Transcription as Answer } from '../../schemas/generated/universal/transcriptions.js';
import { isObject } from '../base/json.js';
import type { Heard, Stretch } from '../engines/contracts/transcribing.js';
import { type Bases, RoundRobin, RUNTIME_TIMEOUT_MS, runtimeBase, sameBaseFirst } from '../net/ask/bases.js';
import { postToOne } from '../net/ask/json.js';
import type { Outbound } from '../net/outbound.js';
import { wavFile } from '../speech/codecs/wav.js';
import type { LongTranscribeRequest, SpeechInService, TranscribeRequest, Transcribing } from '../speech/contract.js';
import { LISTEN_RATE } from '../speech/decode/contract.js';
import { transcribeBy } from '../speech/transcription/transcription.js';

/** For a runtime that has no room or whose engine died. */
const RETRIES = 1;

/** Asks universal runtimes over HTTP, in turn, and the next where one does not answer. Audio is cut here, so that no request is long. */
export class RemoteTranscription implements SpeechInService {
  readonly #outbound: Outbound;
  readonly #bases: RoundRobin;

  constructor(outbound: Outbound, urls: readonly string[]) {
    this.#outbound = outbound;
    this.#bases = new RoundRobin(urls.map(runtimeBase));
  }

  transcribe(request: TranscribeRequest | LongTranscribeRequest, signal: AbortSignal): Promise<Transcribing> {
    const bases = sameBaseFirst(this.#bases);
    const { model } = request;
    return transcribeBy({ hear: (stretch, stop) => this.#hear(bases, model, stretch, stop) }, request, signal, () => {});
  }

  /** A runtime loads a model when it is asked; a moment of silence asks it. What cannot be had is told when somebody speaks. */
  async keepTranscriber(): Promise<() => void> {
    return () => {};
  }

  async #hear(bases: Bases, model: string, stretch: Stretch, signal: AbortSignal): Promise<Heard> {
    const path = `/v1/audio/${stretch.translate ? 'translations' : 'transcriptions'}`;
    const { body, type } = formOf(model, stretch);
    const call = { path, body, model, headers: { 'content-type': type }, ours: true, timeoutMs: RUNTIME_TIMEOUT_MS, retries: RETRIES };
    const { base, answer } = await postToOne(this.#outbound, bases, call, signal);
    if (!isObject(answer) || typeof answer.language !== 'string' || !Array.isArray(answer.segments))
      throw new Failure('model_failed', `${base} answered nothing usable: its transcript has no language or no segments.`, {
        code: 'BadTranscript',
      });
    const { language, segments = [] } = answer as unknown as Answer;
    return {
      language: language!,
      segments: segments.map(({ start, end, text, words, avg_logprob, no_speech_prob }) => ({
        start,
        end,
        text,
        meanLogProbability: avg_logprob,
        noSpeechProbability: no_speech_prob,
        words: words?.map((word) => ({ probability: 0, ...word })) ?? null,
      })),
    };
  }
}

/** A stretch as the form that a runtime takes. */
function formOf(model: string, { samples, language, prompt, temperature, words }: Stretch): { body: Buffer; type: string } {
  const boundary = `quern-${randomUUID()}`;
  const fields: [name: string, value: string][] = [
    ['model', model],
    ['language', language],
    ['prompt', prompt],
    ['temperature', String(temperature)],
    ['response_format', 'verbose_json'],
    ['timestamp_granularities[]', words ? 'word' : ''],
  ];
  const texts = fields
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="stretch.wav"\r\nContent-Type: audio/wav\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(texts.join('') + file), wavFile(samples, LISTEN_RATE), Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { body, type: `multipart/form-data; boundary=${boundary}` };
}
