import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { ServerMessage } from '../../../runtime/voice/contract.js';
import { frameOf } from './scripted-speech.js';

/** Milliseconds of one message of sound. */
const FRAME_MS = 20;
const PATIENCE_MS = 120_000;

/** What came over the socket, and when, in milliseconds of `performance.now`. */
interface Received {
  readonly atMs: number;
  readonly message?: ServerMessage;
  /** 24 kHz. */
  readonly audio?: Int16Array;
}

/** A client of the voice WebSocket. */
export class VoiceClient {
  readonly received: Received[] = [];
  readonly socket: WebSocket;
  /** Set when the connection is closed. */
  closed: { code: number; reason: string } | undefined;

  constructor(base: string, path: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(`${base.replace(/^http/, 'ws')}${path}`, { headers });
    this.socket.on('message', (content: Buffer, isBinary) => {
      const atMs = performance.now();
      if (isBinary) this.received.push({ atMs, audio: new Int16Array(new Uint8Array(content).buffer) });
      else this.received.push({ atMs, message: JSON.parse(content.toString()) as ServerMessage });
    });
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    this.socket.on('error', () => undefined);
  }

  /** Messages of one type. */
  messages<T extends ServerMessage['type']>(type: T): Extract<ServerMessage, { type: T }>[] {
    return this.received.flatMap(({ message }) => (message?.type === type ? [message as Extract<ServerMessage, { type: T }>] : []));
  }

  get states(): string[] {
    return this.messages('status').map(({ state }) => state);
  }

  /** The final transcripts. */
  get transcripts(): string[] {
    return this.messages('transcription').flatMap(({ text, is_final: isFinal }) => (isFinal ? [text] : []));
  }

  /** Seconds of audio that came. */
  get audioS(): number {
    return this.received.reduce((sum, { audio }) => sum + (audio?.length ?? 0), 0) / 24_000;
  }

  /** Waits until something holds. */
  async until(condition: () => boolean, what: string, limitMs = PATIENCE_MS): Promise<void> {
    const end = performance.now() + limitMs;
    while (!condition()) {
      if (performance.now() > end) {
        const seen = this.received.flatMap(({ message }) => (message ? [JSON.stringify(message)] : []));
        throw new Error(
          `${what} did not come within ${limitMs} ms; closed: ${JSON.stringify(this.closed)}; came: ${seen.slice(-30).join(' ')}`,
        );
      }
      await sleep(5);
    }
  }

  /** Waits until the last status is this one, after at least so many statuses. */
  state(state: string, after = 0, limitMs = PATIENCE_MS): Promise<void> {
    return this.until(() => this.states.length > after && this.states.at(-1) === state, `state ${state}`, limitMs);
  }

  async open(): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open');
  }

  say(message: Record<string, unknown>): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Sends PCM of 16 kHz at a multiple of its own pace. */
  async send(pcm: Int16Array, pace = 1): Promise<void> {
    const step = (16_000 * FRAME_MS) / 1000;
    const began = performance.now();
    for (let from = 0; from < pcm.length; from += step) {
      const piece = pcm.slice(from, from + step);
      this.socket.send(new Uint8Array(piece.buffer));
      const aheadMs = (from / 16 - (performance.now() - began) * pace) / pace;
      if (aheadMs > FRAME_MS) await sleep(aheadMs);
    }
  }

  /** Sends a tone of a loudness. */
  async sound(seconds: number, loudness: number, pace = 1): Promise<void> {
    const frame = new Int16Array(frameOf(loudness).buffer);
    const pcm = new Int16Array(Math.round(seconds * 50) * frame.length);
    for (let at = 0; at < pcm.length; at += frame.length) pcm.set(frame, at);
    await this.send(pcm, pace);
  }

  async end(): Promise<void> {
    if (this.closed) return;
    this.socket.close();
    await this.until(() => this.closed !== undefined, 'the end');
  }
}
