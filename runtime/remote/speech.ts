import { Failure } from '../../schemas/errors.js';
import { isObject } from '../base/json.js';
import { printableUrl } from '../net/address.js';
import { type Bases, RoundRobin, RUNTIME_TIMEOUT_MS, runtimeBase } from '../net/ask/bases.js';
import { brokenAnswerFailure, readErrorBody, statusFailure, type Upstream, unreachableFailure } from '../net/ask/failures.js';
import { postToOne, urlBelow } from '../net/ask/json.js';
import type { Outbound } from '../net/outbound.js';
import type { OutboundReply } from '../net/reply.js';
import type { SpeakRequest, SpeechOutService, Spoken, SpokenChunk, SpokenWord, Voice } from '../speech/contract.js';

/** An hour of speech in base64, and its events. */
const RESPONSE_BYTES = 512 * 1024 * 1024;
/** One event has a second of speech. */
const EVENT_CHARS = 1024 * 1024;
const ERROR_BYTES = 64 * 1024;
const SPEECH = '/v1/audio/speech';
/** How a runtime says that a text holds nothing that can be said. */
const NOTHING_TO_SAY = 'NothingToSay';

/** An event of a runtime's answer. */
interface SpeechEvent {
  readonly type: 'audio' | 'done' | 'error';
  /** PCM of 16 bits in base64. */
  readonly data?: string;
  readonly words?: readonly SpokenWord[];
  readonly detail?: string;
}

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
