import { log } from '../base/log.js';
import type { SpeechIn } from '../speech/contract.js';
import { separatorOf } from '../speech/transcription/text.js';
import type { Clock } from './clock.js';
import type { Said, VoiceFrame } from './contract.js';
import { Ear } from './ear.js';
import { requiredSilence } from './end-of-utterance.js';
import type { VoiceSettings } from './settings.js';

/** What a recogniser writes for sounds that are no words. */
const ANNOTATION = /\[[^\]]{0,80}\]|\([^)]{0,80}\)|\*[^*]{0,80}\*|[♪♫]+/g;

/** A transcript without what stands for music, noise and silence in it. */
export function spokenWords(transcript: string): string {
  const text = transcript.replace(ANNOTATION, ' ').replace(/\s+/g, ' ').trim();
  return /[\p{L}\p{N}]/u.test(text) ? text : '';
}

/** A pause of this length may be the end: the words are asked for, so that they are there when it is. In seconds. */
const PROBE_S = 0.2;
/** More speech takes long to write down; nothing is asked for before the pause is long enough for an end. In seconds. */
const MOST_PROBED_S = 10;

/** What a `Listening` tells. */
interface ListeningEvents {
  /** Somebody began to speak. */
  began(): void;
  /** Nobody has spoken for a while, or what began was a noise. */
  nothing(): void;
  /** What was said so far, while it is not sure that it is complete. */
  draft(text: string): void;
  /** An utterance is complete. */
  ended(utterance: Utterance): void;
}

/** A complete utterance on its way to text. */
export interface Utterance {
  /** Clock time of its last sound. */
  readonly spokenMs: number;
  /** Rejects as `SpeechIn.transcribe` does. */
  readonly said: Promise<Said>;
  /** Nobody wants the words any more. */
  drop(): void;
}

/** What a `Listening` is made of. */
interface ListeningParts {
  readonly transcription: Pick<SpeechIn, 'transcribe'>;
  readonly clock: Clock;
  readonly settings: () => VoiceSettings;
  readonly events: ListeningEvents;
}

/**
 * Finds utterances in what the microphone hears. The words are asked for as soon as somebody pauses: they tell how long the pause must be, and are
 * there when it is.
 */
export class Listening {
  readonly #parts: ListeningParts;
  readonly #ear = new Ear();
  /** An utterance that seemed complete, until it is certain that it was. */
  #before: Float32Array | undefined;
  #spokenMs = 0;
  #draft: Draft | undefined;
  #stall: { cancel(): void } | undefined;

  constructor(parts: ListeningParts) {
    this.#parts = parts;
  }

  /** Whether somebody is in the middle of an utterance. */
  get isInUtterance(): boolean {
    return this.#ear.hasBegun;
  }

  /** Takes the next frame. `onsetS`: seconds of speech that begin an utterance, where it is not the usual. */
  hear({ samples }: VoiceFrame, isSpeech: boolean, onsetS?: number): void {
    const { clock, events } = this.#parts;
    const begins = this.#ear.hear({ samples, isSpeech }, onsetS);
    if (isSpeech && this.#ear.hasBegun) {
      this.#spokenMs = clock.nowMs();
      this.#dropDraft();
    }
    if (begins) events.began();
    if (this.#ear.isFull) this.#finish();
    else if (this.#ear.hasBegun && !isSpeech) this.#judge();
    else if (!this.#ear.hasBegun && this.#ear.quietS >= this.#parts.settings().maxSilence) {
      this.#ear.quietS = 0;
      events.nothing();
    }
  }

  /** Sound has come in. A client that then falls silent without sending silence has said what it wanted to. */
  touch(): void {
    const { clock, settings } = this.#parts;
    this.#stall?.cancel();
    const { turnDetection, maxSilence } = settings();
    if (turnDetection) this.#stall = clock.after(maxSilence * 1000, () => (this.#ear.holdsSpeech(false) ? this.#finish() : this.#giveUp()));
  }

  /** The client says that the utterance is complete. */
  end(): void {
    if (this.#ear.holdsSpeech(true)) this.#finish();
    else this.#giveUp();
  }

  /** The utterance that was complete is answered: what comes now is another one. */
  accept(): void {
    this.#before = undefined;
  }

  /** Forgets all that was heard. */
  clear(): void {
    this.#dropDraft();
    this.#stall?.cancel();
    this.#ear.clear();
    this.#before = undefined;
  }

  /** Decides whether a pause ends the utterance. */
  #judge(): void {
    const settings = this.#parts.settings();
    if (!settings.turnDetection) return;
    const { silenceS, speechS } = this.#ear;
    const pause = { silenceS, speechS, said: undefined };
    const { least } = requiredSilence(pause, settings);
    if (silenceS < least) {
      if (silenceS >= PROBE_S && speechS <= MOST_PROBED_S && this.#ear.holdsSpeech(false)) this.#draft ??= this.#ask();
      return;
    }
    if (!this.#ear.holdsSpeech(false)) {
      this.#giveUp();
      return;
    }
    this.#draft ??= this.#ask();
    const required = requiredSilence({ ...pause, said: this.#draft.known }, settings);
    if (silenceS >= required.most) this.#finish();
  }

  #finish(): void {
    const { settings, events } = this.#parts;
    this.#stall?.cancel();
    const draft = this.#draft ?? this.#ask();
    this.#draft = undefined;
    const samples = this.#samples();
    this.#ear.clear();
    this.#before = settings().bargeIn ? samples : undefined;
    events.ended({ spokenMs: this.#spokenMs, said: draft.said, drop: () => draft.drop() });
  }

  #giveUp(): void {
    const wasContinued = this.#before !== undefined && this.#ear.hasBegun;
    this.#stall?.cancel();
    this.#dropDraft();
    this.#ear.clear();
    // A noise behind an utterance: that one is answered after all.
    if (wasContinued) this.#finish();
    else this.#parts.events.nothing();
  }

  #ask(): Draft {
    const { transcription, settings, events } = this.#parts;
    const draft: Draft = new Draft(transcription, this.#samples(), settings(), ({ text }) => {
      if (this.#draft !== draft) return;
      if (text !== '') events.draft(text);
      this.#judge();
    });
    return draft;
  }

  #samples(): Float32Array {
    const now = this.#ear.samples();
    const before = this.#before;
    if (!before) return now;
    const all = new Float32Array(before.length + now.length);
    all.set(before);
    all.set(now, before.length);
    return all;
  }

  #dropDraft(): void {
    this.#draft?.drop();
    this.#draft = undefined;
  }
}

/** The words of an utterance that may go on. */
class Draft {
  readonly said: Promise<Said>;
  /** The same; absent until it is known. */
  known: Said | undefined;
  readonly #abort = new AbortController();

  constructor(transcription: ListeningParts['transcription'], samples: Float32Array, settings: VoiceSettings, heard: (said: Said) => void) {
    this.said = transcriptOf(transcription, samples, settings, this.#abort.signal);
    this.said.then(
      (said) => {
        this.known = said;
        heard(said);
      },
      // Whoever waits for the utterance is told.
      (error: unknown) => log('debug', 'an utterance was not transcribed', { error }),
    );
  }

  drop(): void {
    this.#abort.abort();
  }
}

async function transcriptOf(
  transcription: ListeningParts['transcription'],
  samples: Float32Array,
  { sttModel, language }: VoiceSettings,
  signal: AbortSignal,
): Promise<Said> {
  const request = { samples, model: sttModel, task: 'transcribe' as const, ...(language === 'auto' ? {} : { language }) };
  const heard = await transcription.transcribe(request, signal);
  let text = '';
  for await (const segment of heard.segments) text += `${segment.text}${separatorOf(heard.language)}`;
  return { text: spokenWords(text), language: language === 'auto' ? heard.language : language };
}
