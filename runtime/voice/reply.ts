import type { KeptByReader } from '../chat/turn.js';
import { ToolCallGatherer } from '../completions/collect.js';
import type { CollectedToolCall } from '../completions/contract.js';
import type { SpeechOut } from '../speech/contract.js';
import { SPEECH_RATE } from '../speech/contract.js';
import { CallFilter } from './call-filter.js';
import type { EndedTurn } from './chat-turn.js';
import { Changes, type Clock, sinceMs } from './clock.js';
import type { ServerMessage, TurnTimings, VoicePeer } from './contract.js';
import { fillerOf } from './languages.js';
import { PacedAudio, SpokenText } from './pace.js';
import { type Phrase, PhraseSplitter } from './phrases.js';
import type { VoiceSettings } from './settings.js';

/** Phrases that may wait to be spoken; the model waits beyond. */
const MOST_WAITING = 64;

/** What an answer is made of. */
export interface ReplyParts {
  readonly settings: VoiceSettings;
  /** That is spoken, as ISO 639-1. */
  readonly language: string;
  readonly speech: Pick<SpeechOut, 'speak'>;
  readonly peer: VoicePeer;
  readonly clock: Clock;
  /** What the user said. */
  readonly asked: string;
  /** Clock time at which the user stopped speaking. */
  readonly askedMs: number;
  readonly timings: TurnTimings;
  open(signal: AbortSignal): Promise<KeptByReader>;
  send(message: ServerMessage): void;
  /** The client has taken nothing for a long time. */
  stalled(): void;
}

/** One answer: from the model's first token to the last sound that is heard of it. What it sends ends at once when it is paused or cut. */
export class Reply {
  readonly #parts: ReplyParts;
  readonly #abort = new AbortController();
  readonly #pace: PacedAudio;
  readonly #spoken: SpokenText;
  readonly #phrases: (Phrase | undefined)[] = [];
  readonly #heardAll: Promise<void>;
  readonly #changes = new Changes();
  /** What the model said, without calls. */
  #answer = '';
  #turn: KeptByReader | undefined;
  /** Messages that wait while the answer is paused. */
  #held: ServerMessage[] | undefined;
  #phraseIndex = 0;
  #isOver = false;
  #isCut = false;
  /** What of the answer went into the history; known at its end. */
  #heard: string | undefined;
  #isFilled = false;

  constructor(parts: ReplyParts) {
    this.#parts = parts;
    this.#spoken = new SpokenText(parts.settings.speed);
    let finished: () => void = () => undefined;
    this.#heardAll = new Promise((resolve) => (finished = resolve));
    const port = {
      send: (content: string | Uint8Array) => this.#deliver(content),
      get bufferedBytes() {
        return parts.peer.bufferedBytes;
      },
    };
    this.#pace = new PacedAudio(port, parts.clock, { finished, stalled: parts.stalled });
  }

  /** What was asked and heard so far, and where its time went. */
  get facts(): EndedTurn {
    const { asked, timings, clock, askedMs } = this.#parts;
    const heard = this.#heard ?? this.#spoken.until(this.#pace.heardS);
    const inferenceEvent = this.#turn?.eventId;
    return { asked, heard, isCut: this.#isCut, timings, sinceAskedMs: sinceMs(clock, askedMs), inferenceEvent };
  }

  /** How loud the answer sounds about now; see `PacedAudio`. */
  get loudness(): number {
    return this.#pace.loudness;
  }

  /** Answers, and resolves when all was heard and is in the history, or when it was cut. Throws what a model throws; what was heard is then kept. */
  async run(): Promise<void> {
    try {
      await Promise.all([this.#think(), this.#speak(), this.#abortedOr(this.#heardAll)]);
      if (!this.#isOver) await this.#finish(this.#answer.trim() || this.#spoken.text);
    } catch (error) {
      if (this.#isOver) return;
      await this.cut();
      throw error;
    }
  }

  /** Falls silent, and goes on thinking. */
  pause(): void {
    this.#pace.pause();
    this.#held ??= [];
  }

  /** Goes on where it was paused. */
  resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) this.#parts.send(message);
    this.#pace.resume();
  }

  /** Ends the answer. Resolves, when it is on disk, to what was heard and is in the history now: empty where nothing was. */
  async cut(): Promise<string> {
    if (this.#isOver) return '';
    const heard = this.#spoken.until(this.#pace.heardS);
    this.#isCut = true;
    await this.#finish(heard);
    return heard;
  }

  async #finish(heard: string): Promise<void> {
    this.#isOver = true;
    this.#heard = heard;
    this.#pace.close();
    this.#mark('end_ms');
    const turn = this.#turn;
    // The turn takes its place in the session before the generation ends.
    const kept = heard === '' ? undefined : turn?.keep({ role: 'assistant', content: heard });
    this.#abort.abort();
    this.#changes.tell();
    try {
      await kept;
    } finally {
      turn?.close();
    }
  }

  async #think(): Promise<void> {
    const { settings, open } = this.#parts;
    const { signal } = this.#abort;
    const turn = await open(signal);
    if (this.#isOver) {
      turn.close();
      return;
    }
    this.#turn = turn;
    const splitter = new PhraseSplitter({ sentencesOnly: settings.sentencesOnly });
    const filter = new CallFilter();
    const calls = new ToolCallGatherer();
    try {
      for await (const part of turn.parts) {
        if (this.#isOver) return;
        if (part.type === 'text') {
          this.#mark('first_token_ms');
          await this.#read(splitter, filter.push(part.text));
        } else if (part.type === 'tool_call') {
          const isFirst = calls.calls.length === 0;
          for (const call of calls.add(part)) this.#say(clientCall(call));
          if (isFirst) await this.#fill();
        } else if (part.type === 'event') {
          await this.#told(part.name, part.data, splitter);
        }
      }
    } catch (error) {
      if (this.#isOver) return;
      throw error;
    }
    for (const call of calls.end()) this.#say(clientCall(call));
    await this.#read(splitter, filter.end());
    const rest = splitter.end();
    for (const phrase of rest.slice(0, -1)) await this.#show(phrase);
    const last = rest.at(-1);
    this.#say({ type: 'llm_text', text: last?.text ?? '', is_final: true });
    if (last) await this.#enqueue(last);
    await this.#enqueue(undefined);
  }

  /** A tool of a server is asked: what was said so far is spoken meanwhile, and then the answer goes on. */
  async #told(name: string, data: Readonly<Record<string, unknown>>, splitter: PhraseSplitter): Promise<void> {
    const message = serverTool(name, data);
    if (!message) return;
    this.#say(message);
    if (name !== 'tool_call') return;
    for (const phrase of splitter.end()) await this.#show(phrase);
    if (this.#answer.trim() === '' && !this.#isFilled) await this.#fill();
  }

  async #fill(): Promise<void> {
    this.#isFilled = true;
    const text = fillerOf(this.#parts.language);
    if (text !== undefined) await this.#enqueue({ text, isCode: false });
  }

  async #read(splitter: PhraseSplitter, text: string): Promise<void> {
    this.#answer += text;
    for (const phrase of splitter.push(text)) await this.#show(phrase);
  }

  async #show(phrase: Phrase): Promise<void> {
    this.#say({ type: 'llm_text', text: phrase.text, is_final: false });
    await this.#enqueue(phrase);
  }

  async #enqueue(phrase: Phrase | undefined): Promise<void> {
    if (phrase) this.#mark('first_phrase_ms');
    while (!this.#isOver && this.#phrases.length >= MOST_WAITING) await this.#changes.next();
    this.#phrases.push(phrase);
    this.#changes.tell();
  }

  /** Speaks what `think` finds, phrase by phrase. */
  async #speak(): Promise<void> {
    for (;;) {
      while (!this.#isOver && this.#phrases.length === 0) await this.#changes.next();
      if (this.#isOver) return;
      const phrase = this.#phrases.shift();
      this.#changes.tell();
      if (!phrase) break;
      this.#spoken.begin(phrase.text);
      if (!phrase.isCode) await this.#speakPhrase(phrase.text);
      this.#spoken.complete();
    }
    this.#pace.end();
  }

  async #speakPhrase(text: string): Promise<void> {
    const { speech, settings } = this.#parts;
    const request = { text, model: settings.ttsModel, voice: settings.ttsVoice, speed: settings.speed };
    const { chunks } = await speech.speak(request, this.#abort.signal);
    const index = this.#phraseIndex;
    let length = 0;
    for await (const { samples, words } of chunks) {
      if (this.#isOver) return;
      // A text in which nothing can be said has no chunk.
      if (length === 0) this.#between({ type: 'tts_start', phrase_index: index });
      length += samples.length;
      this.#spoken.add(samples.length / SPEECH_RATE, words);
      this.#pace.audio(toPcm16(samples));
      await this.#pace.room();
    }
    if (length === 0) return;
    this.#phraseIndex += 1;
    this.#between({ type: 'tts_done', phrase_index: index, duration: length / SPEECH_RATE });
  }

  /** Sends a message at its place in the audio. */
  #between(message: ServerMessage): void {
    this.#pace.message(JSON.stringify(message));
  }

  #deliver(content: string | Uint8Array): void {
    if (this.#isOver) return;
    if (typeof content !== 'string') this.#mark('first_audio_ms');
    this.#parts.peer.send(content);
  }

  #say(message: ServerMessage): void {
    if (this.#isOver) return;
    if (this.#held) this.#held.push(message);
    else this.#parts.send(message);
  }

  #mark(name: keyof TurnTimings): void {
    const { timings, clock, askedMs } = this.#parts;
    timings[name] ??= sinceMs(clock, askedMs);
  }

  #abortedOr(promise: Promise<void>): Promise<void> {
    const { signal } = this.#abort;
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    return Promise.race([promise, aborted]);
  }
}

/** What the client hears of the calls of servers' tools. */
function serverTool(name: string, data: Readonly<Record<string, unknown>>): ServerMessage | undefined {
  const { result: _result, failed, name: _name, ...about } = data;
  const state = name === 'tool_call' ? 'running' : name === 'tool_waiting' ? 'waiting' : failed === true ? 'failed' : 'done';
  if (name === 'tool_progress') return undefined;
  return { type: 'server_tool', state, ...(about as { tool_call_id: string }) };
}

/** What the client hears of a call of its own. */
const clientCall = ({ id, function: { name, arguments: json } }: CollectedToolCall): ServerMessage => {
  return { type: 'tool_call', tool_call_id: id, function_name: name, arguments: json };
};

/** Samples as 16-bit PCM. */
function toPcm16(samples: Float32Array): Int16Array {
  const out = new Int16Array(samples.length);
  for (let index = 0; index < samples.length; index += 1) out[index] = Math.max(-1, Math.min(1, samples[index]!)) * 32767;
  return out;
}
