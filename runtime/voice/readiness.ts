import type { Chat } from '../chat/chat.js';
import type { SpeechInService, SpeechOutService } from '../speech/contract.js';
import type { VoiceSettings } from './settings.js';

/** What readiness is made of. */
interface ReadinessParts {
  readonly namespace: string;
  readonly project: string;
  readonly chat: Pick<Chat, 'hold' | 'model'>;
  readonly speech: Pick<SpeechOutService, 'keepVoice'>;
  readonly transcription: Pick<SpeechInService, 'keepTranscriber'>;
  /** Has the language model read what every turn begins with. */
  readonly rehearse: (signal: AbortSignal) => Promise<void>;
  /** Told of what cannot be loaded. */
  readonly failed: (error: unknown) => void;
}

/** Keeps the models of a conversation loaded, so that its first turn is as fast as its second, also after a long silence. */
export class Readiness {
  readonly #parts: ReadinessParts;
  readonly #abort = new AbortController();
  #releases: (() => void)[] = [];
  #round = 0;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Loads the models that the settings name, then lets go of those before. */
  prepare({ sttModel, ttsModel, ttsVoice, llmModel }: VoiceSettings): void {
    const { speech, transcription, failed } = this.#parts;
    const { signal } = this.#abort;
    const before = this.#releases;
    this.#releases = [];
    this.#round += 1;
    const round = this.#round;
    const keep = async (loading: Promise<(() => void) | undefined>): Promise<void> => {
      const release = await loading;
      if (!release) return;
      if (signal.aborted || this.#round !== round) release();
      else this.#releases.push(release);
    };
    const loads = [
      speech.keepVoice(ttsModel, ttsVoice, signal),
      transcription.keepTranscriber(sttModel, signal),
      this.#holdLanguage(llmModel, signal),
    ];
    const loaded = loads.map((loading) =>
      keep(loading).catch((error: unknown) => {
        if (!signal.aborted) failed(error);
      }),
    );
    void Promise.all(loaded).then(() => {
      for (const release of before) release();
    });
  }

  /** Lets go of all of them. */
  close(): void {
    this.#abort.abort();
    for (const release of this.#releases) release();
    this.#releases = [];
  }

  async #holdLanguage(name: string | undefined, signal: AbortSignal): Promise<(() => void) | undefined> {
    const { chat, namespace, project, rehearse } = this.#parts;
    const release = await chat.hold(chat.model(namespace, project, name), signal);
    // Elsewhere a rehearsal costs money, and its effect is not known.
    if (!release) return undefined;
    try {
      await rehearse(signal);
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }
}
