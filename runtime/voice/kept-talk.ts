import type { Message } from '../../schemas/generated/common.js';
import { log } from '../base/log.js';
import type { EndedTurn } from './chat-turn.js';
import { messageOf, type SpokenTurn, type TalkRecord } from './contract.js';

/** What was said without an answer is kept at the latest when it is so much. */
const MOST_UNANSWERED = 16;

/** Keeps the turns of a session in a conversation, one after the other. What the user said and got no answer to goes before what they say next. */
export class KeptTalk {
  readonly #record: TalkRecord;
  readonly #kept: () => void;
  #unanswered: string[] = [];
  #saving: Promise<void> = Promise.resolve();

  /** `kept` is called when a turn is on disk. */
  constructor(record: TalkRecord, kept: () => void) {
    [this.#record, this.#kept] = [record, kept];
  }

  get id(): string {
    return this.#record.id;
  }

  /** What was said before, the turns of this session among it. */
  async earlier(): Promise<Message[]> {
    await this.#saving;
    return this.#record.earlier();
  }

  /** Takes a turn that is over. */
  take({ asked, heard, isCut }: EndedTurn, model: string | undefined, error?: unknown): void {
    if (asked !== '') this.#unanswered.push(asked);
    if (heard !== '' || error !== undefined)
      this.#keep({ heard, isCut, model, ...(error === undefined ? {} : { error: messageOf(error) }) });
    else if (this.#unanswered.length >= MOST_UNANSWERED) this.#keepUnanswered();
  }

  /** Keeps what had no answer; resolves when all is on disk. Never rejects. */
  close(): Promise<void> {
    this.#keepUnanswered();
    return this.#saving;
  }

  #keepUnanswered(): void {
    this.#keep({ heard: '', isCut: true, model: undefined });
  }

  #keep(answer: Omit<SpokenTurn, 'asked'>): void {
    const asked = this.#unanswered.join('\n');
    this.#unanswered = [];
    if (asked === '') return;
    this.#saving = this.#saving
      .then(() => this.#record.add({ asked, ...answer }))
      .then(this.#kept)
      .catch((cause: unknown) => log('warn', 'a spoken turn was not kept', { conversation: this.#record.id, cause }));
  }
}
