import { randomUUID } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { Transcription as Answer } from '../../schemas/generated/universal/transcriptions.js';
import { isObject } from '../base/json.js';
import type { Heard, Stretch } from '../engines/contracts/transcribing.js';
import { printableUrl } from '../net/address.js';
import { type Bases, RoundRobin, RUNTIME_TIMEOUT_MS, runtimeBase, sameBaseFirst } from '../net/ask/bases.js';
import { brokenAnswerFailure, readErrorBody, statusFailure, type Upstream, unreachableFailure } from '../net/ask/failures.js';
import { postToOne, urlBelow } from '../net/ask/json.js';
import type { Outbound } from '../net/outbound.js';
import type { OutboundReply } from '../net/reply.js';
import { wavFile } from '../speech/codecs/wav.js';
import type {
  LongTranscribeRequest,
  SpeakRequest,
  SpeechInService,
  SpeechOutService,
  Spoken,
  SpokenChunk,
  SpokenWord,
  TranscribeRequest,
  Transcribing,
  Voice,
} from '../speech/contract.js';
import { LISTEN_RATE } from '../speech/decode/contract.js';
import { transcribeBy } from '../speech/transcription/transcription.js';

/** How a runtime says that a text holds nothing that can be said. */
const NOTHING_TO_SAY = 'NothingToSay';

/** One event has a second of speech. */
const EVENT_CHARS = 1024 * 1024;
const ERROR_BYTES = 64 * 1024;
const SPEECH = '/v1/audio/speech';

/** An hour of speech in base64, and its events. */
const RESPONSE_BYTES = 512 * 1024 * 1024;

/** Asks universal runtimes over HTTP, in turn, and the next where one does not answer. What they refuse is refused with their words. */
export class RemoteSpeech implements SpeechOutService {
  readonly #outbound: Outbound;
  readonly #bases: Bases;

  constructor(outbound: Outbound, urls: readonly string[]) {
    this.#outbound = outbound;
    this.#bases = new RoundRobin(urls.map(runtimeBase));
  }

  async voices(model?: string): Promise<readonly Voice[]> {
    const call = {
      path: '/v1/audio/voices',
      ...(model !== undefined && { query: { model } }),
      method: 'GET',
      body: undefined,
      model: model ?? 'audio',
      ours: true,
      timeoutMs: RUNTIME_TIMEOUT_MS,
      retries: 1,
    } as const;
    const { answer } = await postToOne(this.#outbound, this.#bases, call, AbortSignal.timeout(RUNTIME_TIMEOUT_MS));
    const data = (answer as { data?: Voice[] }).data ?? [];
    return data.map(({ id, name, language, model: of }) => ({ id, name, language, model: of }));
  }

  async speak({ text, model, voice, speed }: SpeakRequest, signal: AbortSignal): Promise<Spoken> {
    const body = JSON.stringify({ input: text, model, voice, speed, stream: true });
    const asked = await this.#asked(body, model, signal).catch((error: unknown) => {
      if (error instanceof Failure && error.code === NOTHING_TO_SAY) return undefined;
      throw error;
    });
    if (!asked) return { engine: model, voice: voice ?? '', chunks: silence() };
    const { reply, upstream } = asked;
    return {
      engine: reply.header('x-speech-engine') ?? model,
      voice: reply.header('x-speech-voice') ?? voice ?? '',
      chunks: chunksOf(reply, upstream, signal),
    };
  }

  /** Tells whether the voice is there; the runtime loads it at the first text. */
  async keepVoice(model: string): Promise<() => void> {
    await this.voices(model);
    return () => {};
  }

  async speaker(): Promise<string> {
    return 'the remote runtime speaks';
  }

  /** The first answer of a runtime; another is asked where one cannot be reached or has no room. */
  async #asked(body: string, model: string, signal: AbortSignal): Promise<{ reply: OutboundReply; upstream: Upstream }> {
    const tried = new Set<string>();
    for (;;) {
      signal.throwIfAborted();
      const base = this.#bases.pick(tried);
      tried.add(base);
      const url = urlBelow(base, SPEECH);
      const upstream: Upstream = {
        name: model,
        model,
        base: printableUrl(url),
        apiKey: undefined,
        ours: true,
        setting: this.#bases.setting,
      };
      const limits = { headersMs: RUNTIME_TIMEOUT_MS, idleMs: RUNTIME_TIMEOUT_MS, totalMs: 3_600_000, responseBytes: RESPONSE_BYTES };
      const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
      let failure: Failure;
      try {
        const reply = await this.#outbound.request({ url, policy: 'operator', method: 'POST', headers, body, limits, signal });
        if (reply.status === 200) {
          this.#bases.worked(base);
          return { reply, upstream };
        }
        failure = await refusalOf(reply, upstream);
        if (reply.status < 500 && reply.status !== 429) throw failure;
      } catch (error) {
        if (signal.aborted || !(error instanceof Failure)) throw error;
        if (error.status < 500 && error.kind !== 'too_many') throw error;
        failure = unreachableFailure(error, upstream);
      }
      this.#bases.failed(base);
      if (tried.size >= this.#bases.count) throw failure;
    }
  }
}

async function* silence(): AsyncGenerator<SpokenChunk, void, undefined> {}

async function* chunksOf(reply: OutboundReply, upstream: Upstream, signal: AbortSignal): AsyncGenerator<SpokenChunk, void, undefined> {
  let isDone = false;
  try {
    for await (const event of eventsOf(reply, upstream)) {
      if (event.type === 'error')
        throw new Failure('model_failed', `${upstream.base} could not go on: ${event.detail ?? 'speech synthesis failed'}`);
      isDone ||= event.type === 'done';
      if (event.data === undefined) continue;
      const bytes = Buffer.from(event.data, 'base64');
      const samples = new Float32Array(bytes.length >> 1);
      for (let index = 0; index < samples.length; index += 1) samples[index] = bytes.readInt16LE(2 * index) / 32768;
      yield { samples, ...(event.words && { words: event.words }) };
    }
  } catch (error) {
    if (signal.aborted) throw error;
    throw error instanceof Failure && error.code !== 'ConnectionLost' ? error : brokenAnswerFailure(error, upstream);
  }
  if (!isDone) throw brokenAnswerFailure(new Failure('unavailable', 'The answer ended early.', { code: 'ConnectionLost' }), upstream);
}

/** An event of a runtime's answer. */
interface SpeechEvent {
  readonly type: 'audio' | 'done' | 'error';
  /** PCM of 16 bits in base64. */
  readonly data?: string;
  readonly words?: readonly SpokenWord[];
  readonly detail?: string;
}

async function* eventsOf(reply: OutboundReply, { base }: Upstream): AsyncGenerator<SpeechEvent, void, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of reply.chunks()) {
    text += decoder.decode(bytes, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop()!;
    if (text.length > EVENT_CHARS) throw new Failure('model_failed', `${base} sent an event of more than ${EVENT_CHARS} characters.`);
    for (const frame of frames) {
      if (!frame.startsWith('data: ')) continue;
      const event: unknown = JSON.parse(frame.slice('data: '.length));
      if (isObject(event)) yield event as unknown as SpeechEvent;
    }
  }
}

async function refusalOf(reply: OutboundReply, upstream: Upstream): Promise<Failure> {
  const text = await reply.text(ERROR_BYTES).catch(() => '');
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // The status says enough.
  }
  return statusFailure(reply.status, readErrorBody(body), upstream);
}

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
