import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../../runtime/services/services.js';
import { SPEECH_RATE, type SpeechOut } from '../../runtime/speech/contract.js';
import type { SpeechSocketMessage, SpeechSocketQuery } from '../../schemas/generated/universal/speech.js';
import { check } from '../../schemas/validate.js';
import type { SocketRoute } from '../http/dispatch.js';
import { failureOf, logFailure } from '../http/errors.js';
import type { SocketListener, SocketPeer } from '../http/transport.js';
import { encoding } from './speech.js';

/** What may wait in the daemon for a peer: two seconds of speech, after which it is told no more until it takes some. */
const WAITING_BYTES = 96 * 1024;
const LOOK_MS = 10;
/** A peer that takes nothing for so long is given up. */
const STALL_MS = 10_000;
/** How a WebSocket ends whose peer is too slow: "policy violation". */
const TOO_SLOW = 1008;

/**
 * Sends when the peer has taken enough of what was sent before. Resolves to false when nothing more is wanted: `signal` is aborted, or the peer has taken
 * nothing for 10 s, and is closed.
 */
export async function sendPaced(peer: SocketPeer, content: string | Uint8Array, signal: AbortSignal): Promise<boolean> {
  let least = peer.bufferedBytes;
  let stalledAt = performance.now() + STALL_MS;
  while (!signal.aborted && peer.bufferedBytes > WAITING_BYTES) {
    if (peer.bufferedBytes < least) {
      least = peer.bufferedBytes;
      stalledAt = performance.now() + STALL_MS;
    } else if (performance.now() > stalledAt) {
      peer.close(TOO_SLOW, 'too slow: nothing was taken for 10 s');
      return false;
    }
    await sleep(LOOK_MS);
  }
  return !signal.aborted && peer.send(content);
}

/** Characters that may wait to be spoken; a peer that sends more gets an error for what is too much. */
const WAITING_CHARS = 64 * 1024;
/** Samples of one message: a fifth of a second. */
const MESSAGE_SAMPLES = SPEECH_RATE / 5;
const PATH = '/v1/audio/speech/stream';

/** What a socket's address says of the voice. */
type SpokenQuery = Required<Pick<SpeechSocketQuery, 'model'>> & Pick<SpeechSocketQuery, 'voice'>;

/** Speaks text as it comes, one message after the other: bytes of PCM, then `done`; a failure is an `error`, and the socket lives on. */
class SpeechSocket implements SocketListener {
  readonly #speech: SpeechOut;
  readonly #query: SpokenQuery;
  readonly #gone = new AbortController();
  #peer!: SocketPeer;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  #isEnding = false;

  constructor(speech: SpeechOut, query: SpokenQuery) {
    this.#speech = speech;
    this.#query = query;
  }

  open(peer: SocketPeer): void {
    this.#peer = peer;
  }

  closed(): void {
    this.#gone.abort(new DOMException('The client closed the socket.', 'AbortError'));
  }

  message(content: string | Uint8Array): void {
    // Nothing follows what was called final.
    if (this.#isEnding) return;
    let asked: Required<SpeechSocketMessage>;
    try {
      if (typeof content !== 'string') throw new SyntaxError();
      asked = check('universal/speech#SpeechSocketMessage', JSON.parse(content));
    } catch (error) {
      this.#send({
        type: 'error',
        message: error instanceof SyntaxError ? 'Send JSON such as {"text": "Hello."}.' : failureOf(error).message,
      });
      return;
    }
    const { text, final, speed } = asked;
    const isBlank = text.trim() === '';
    if (isBlank && !final) return;
    if (this.#waiting + text.length > WAITING_CHARS) {
      this.#send({ type: 'error', message: `More than ${WAITING_CHARS} characters wait to be spoken; wait for some of them.` });
      return;
    }
    this.#isEnding = final;
    this.#waiting += text.length;
    this.#last = this.#last
      .then(() => (isBlank ? undefined : this.#speak(text, speed)))
      .then(() => {
        this.#waiting -= text.length;
        if (!final) return;
        if (isBlank) this.#send({ type: 'closed' });
        this.#peer.close(1000, 'all is spoken');
      });
  }

  #send(message: object): void {
    if (!this.#gone.signal.aborted) this.#peer.send(JSON.stringify(message));
  }

  /** Never rejects. */
  async #speak(text: string, speed: number): Promise<void> {
    const { signal } = this.#gone;
    const { model, voice: named } = this.#query;
    const encoder = (await encoding()).openEncoder('pcm');
    try {
      signal.throwIfAborted();
      const { chunks, engine, voice } = await this.#speech.speak({ model, voice: named, text, speed }, signal);
      let sent = 0;
      for await (const { samples } of chunks) {
        for (let at = 0; at < samples.length; at += MESSAGE_SAMPLES) {
          const bytes = await encoder.push(samples.subarray(at, at + MESSAGE_SAMPLES));
          if (!(await sendPaced(this.#peer, bytes, signal))) return;
        }
        sent += samples.length;
      }
      this.#send({ type: 'done', duration: sent / SPEECH_RATE, x_speech: { engine, voice } });
    } catch (error) {
      if (signal.aborted) return;
      const failure = failureOf(error);
      logFailure(failure, { id: '', method: 'GET', path: PATH });
      // The sentence that clients of the reference system know, and what was wrong.
      this.#send({ type: 'error', message: 'Speech synthesis failed', code: failure.code, detail: failure.message });
    } finally {
      encoder.close();
    }
  }
}

/** Text to speech over a WebSocket. */
export const speechSockets: SocketRoute<{ readonly here: Pick<Services, 'speech'> }>[] = [
  {
    path: PATH,
    access: 'users',
    query: 'universal/speech#SpeechSocketQuery',
    open: ({ here }, { query }) => new SpeechSocket(here.speech, query as SpokenQuery),
  },
];
