import { NumberQueue } from '../../runtime/base/number-queue.js';
import type { LongTranscribeRequest, SpeechIn, TranscriptSegment } from '../../runtime/speech/contract.js';
import { LISTEN_RATE } from '../../runtime/speech/decode/contract.js';
import { PcmStream } from '../../runtime/speech/decode/pcm.js';
import { textOf } from '../../runtime/speech/transcription/text.js';
import type { TranscriptionSocketQuery } from '../../schemas/generated/universal/transcriptions.js';
import type { SocketRoute } from '../http/dispatch.js';
import { failureOf, logFailure } from '../http/errors.js';
import type { SocketListener, SocketPeer } from '../http/transport.js';
import { languageOf, type TranscriptionsContext } from './transcriptions.js';

const PATH = '/v1/audio/transcriptions/stream';
/** Seconds of audio that may wait to be heard; a peer that sends more is too fast for the model. */
const WAITING_S = 300;
/** A piece is cut at its quietest 20 ms in this last part of it, in seconds, so that no word is cut. */
const CUT_S = 0.6;
const FRAME = LISTEN_RATE / 50;
/** Of what was said before, for the model to go on in the same spelling. */
const PROMPT_CHARACTERS = 200;
const FATAL = 1011;
const NO_SPEECH = 'No speech detected';

/** How many of the samples belong to the piece: up to the quietest place near its end. */
function cutOf(samples: Float32Array): number {
  const from = Math.max(FRAME, samples.length - CUT_S * LISTEN_RATE);
  let [best, least] = [samples.length, Number.POSITIVE_INFINITY];
  for (let end = samples.length; end >= from; end -= FRAME) {
    let squares = 0;
    for (let at = end - FRAME; at < end; at += 1) squares += samples[at]! ** 2;
    if (squares < least) [best, least] = [end, squares];
  }
  return best;
}

/** Writes down PCM as it comes, a piece of some seconds at a time. */
class TranscriptionSocket implements SocketListener {
  readonly #speech: SpeechIn;
  readonly #query: Required<Pick<TranscriptionSocketQuery, 'model' | 'word_timestamps' | 'chunk_interval'>>;
  readonly #gone = new AbortController();
  readonly #pcm = new PcmStream();
  readonly #queue = new NumberQueue((length) => new Float32Array(length));
  #language: string | undefined;
  #peer!: SocketPeer;
  #said = '';
  #heardS = 0;
  #isEnding = false;
  #isHearing = false;

  constructor(speech: SpeechIn, query: TranscriptionSocketQuery) {
    this.#speech = speech;
    this.#query = {
      model: query.model ?? 'base',
      word_timestamps: query.word_timestamps ?? false,
      chunk_interval: query.chunk_interval ?? 2,
    };
    this.#language = languageOf(query.language);
  }

  open(peer: SocketPeer): void {
    this.#peer = peer;
  }

  closed(): void {
    this.#gone.abort(new DOMException('The client closed the socket.', 'AbortError'));
  }

  stopping(): void {
    this.#fatal('The daemon stops; connect again later.');
  }

  message(content: string | Uint8Array): void {
    // Nothing follows what was called the end.
    if (this.#isEnding) return;
    if (typeof content === 'string') {
      if (content.trim().toUpperCase() !== 'END') {
        this.#send({ type: 'error', message: 'Send 16-bit PCM of 16 kHz, mono, as binary messages, and END as text after the last one.' });
        return;
      }
      this.#isEnding = true;
    } else {
      this.#queue.add(this.#pcm.push(content));
      if (this.#queue.length > WAITING_S * LISTEN_RATE) {
        this.#fatal(`${WAITING_S} s of audio wait to be heard, the most that may; send it more slowly, or name a smaller model.`);
        return;
      }
    }
    if (!this.#isHearing) void this.#hearAll();
  }

  /** Hears what waits, piece by piece. Never rejects. */
  async #hearAll(): Promise<void> {
    this.#isHearing = true;
    try {
      const interval = Math.round(this.#query.chunk_interval * LISTEN_RATE);
      while (!this.#gone.signal.aborted && (this.#isEnding || this.#queue.length >= interval)) {
        const isLast = this.#isEnding && this.#queue.length <= interval;
        const piece = this.#queue.peek(Math.min(interval, this.#queue.length));
        const samples = piece.slice(0, isLast ? piece.length : cutOf(piece));
        this.#queue.drop(samples.length);
        await this.#hear(samples, isLast);
        if (!isLast) continue;
        this.#send({ type: 'done' });
        this.#peer.close(1000, 'all is written down');
        return;
      }
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      const failure = failureOf(error);
      logFailure(failure, { id: '', method: 'GET', path: PATH });
      this.#fatal(failure.message);
    } finally {
      this.#isHearing = false;
    }
  }

  async #hear(samples: Float32Array, isFinal: boolean): Promise<void> {
    const { model, word_timestamps: words } = this.#query;
    const language = this.#language;
    const request: LongTranscribeRequest = {
      // Audio that comes in pieces is heard only where somebody speaks in it.
      samples: (async function* () {
        yield samples;
      })(),
      model,
      words,
      prompt: this.#said.slice(-PROMPT_CHARACTERS),
      task: 'transcribe',
      ...(language === undefined ? {} : { language }),
    };
    const heard = await this.#speech.transcribe(request, this.#gone.signal);
    const segments: TranscriptSegment[] = [];
    for await (const segment of heard.segments) segments.push(segment);
    const text = textOf(segments, heard.language);
    const duration = samples.length / LISTEN_RATE;
    const offset = this.#heardS;
    this.#heardS += duration;
    // The next pieces are in the same language, and hearing for it costs as much as hearing.
    if (text !== '') this.#language = heard.language;
    this.#said = `${this.#said} ${text}`.slice(-PROMPT_CHARACTERS);
    const found = segments.flatMap((segment) => segment.words ?? []);
    const moved = found.map(({ word, start, end, probability }) => ({ word, start: start + offset, end: end + offset, probability }));
    this.#send({
      type: 'segment',
      text,
      duration,
      is_final: isFinal,
      ...(words ? { words: moved } : {}),
      ...(text === '' ? { warning: NO_SPEECH } : {}),
    });
  }

  #send(message: object): void {
    if (!this.#gone.signal.aborted) this.#peer.send(JSON.stringify(message));
  }

  #fatal(message: string): void {
    if (this.#gone.signal.aborted) return;
    this.#isEnding = true;
    this.#send({ type: 'error', message });
    this.#gone.abort();
    this.#peer.close(FATAL, 'see the error before');
  }
}

/** Speech to text over a WebSocket. */
export const transcriptionSockets: SocketRoute<{ readonly here: TranscriptionsContext }>[] = [
  {
    path: PATH,
    access: 'users',
    query: 'universal/transcriptions#TranscriptionSocketQuery',
    open: ({ here }, { query }) => new TranscriptionSocket(here.transcription, query as TranscriptionSocketQuery),
  },
];
