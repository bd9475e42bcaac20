/** Files on their way to a dataset: a few at a time, each with its progress, and each can be cancelled and tried again. */

import type { UploadReply } from '$schemas/core/datasets';
import { isAbort, sentence, upload } from '../../lib/api';
import type { PickedFile } from './dropped';

type UploadState = 'waiting' | 'sending' | 'stored' | 'known' | 'failed' | 'cancelled';

/** Requests at the same time: enough to hide the wait between two small files. */
const AT_ONCE = 3;

/** One file and how far it is. */
export class Upload {
  readonly path: string;
  readonly file: File;
  /** `known`: the dataset had these bytes already. */
  state = $state<UploadState>('waiting');
  /** What part of its bytes has left, 0 to 1. */
  part = $state(0);
  problem = $state('');
  readonly ending = new AbortController();

  constructor({ path, file }: PickedFile) {
    this.path = path;
    this.file = file;
  }
}

const NONE: Readonly<Record<UploadState, number>> = { waiting: 0, sending: 0, stored: 0, known: 0, failed: 0, cancelled: 0 };

/** The uploads of one dataset. They go on while the reader looks at other views. */
export class Uploads {
  readonly #path: string;
  readonly #onend: (hashes: readonly string[]) => void;
  #waiting: Upload[] = [];
  #stored: string[] = [];
  /** How many are in each state. */
  counts = $state({ ...NONE });
  sending = $state.raw<readonly Upload[]>([]);
  failed = $state.raw<readonly Upload[]>([]);

  /** `path`: of the dataset's data endpoint. `onend` is told what was stored each time that nothing is left to send. */
  constructor(path: string, onend: (hashes: readonly string[]) => void) {
    this.#path = path;
    this.#onend = onend;
  }

  // No derived values: they would end with the view that first asked for them, and the uploads do not.
  get isBusy(): boolean {
    return this.counts.waiting + this.counts.sending > 0;
  }

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  add(files: readonly PickedFile[]): void {
    if (!this.isBusy) this.forget();
    this.#waiting.push(...files.map((file) => new Upload(file)));
    this.counts.waiting += files.length;
    this.#next();
  }

  /** Ends one that is being sent; nothing of it stays at the daemon. */
  cancel(one: Upload): void {
    one.ending.abort();
  }

  cancelAll(): void {
    this.counts.cancelled += this.#waiting.length;
    this.counts.waiting = 0;
    this.#waiting = [];
    for (const one of this.sending) this.cancel(one);
  }

  /** Sends what failed again. */
  again(): void {
    const files = this.failed.map(({ path, file }) => ({ path, file }));
    this.counts.failed = 0;
    this.failed = [];
    this.add(files);
  }

  /** Drops what is told of uploads that have ended. */
  forget(): void {
    this.counts = { ...NONE };
    this.failed = [];
  }

  #next(): void {
    while (this.sending.length < AT_ONCE && this.#waiting.length > 0) void this.#send(this.#waiting.shift()!);
    if (this.isBusy || this.#stored.length === 0) return;
    const stored = this.#stored;
    this.#stored = [];
    this.#onend(stored);
  }

  async #send(one: Upload): Promise<void> {
    this.#move(one, 'sending');
    this.sending = [...this.sending, one];
    try {
      const form = new FormData();
      form.append('file', one.file, one.path);
      const reply = await upload<UploadReply>(`${this.#path}?auto_process=false`, form, (part) => (one.part = part), one.ending.signal);
      if (!reply.skipped) this.#stored.push(reply.hash);
      this.#move(one, reply.skipped ? 'known' : 'stored');
    } catch (error) {
      one.problem = sentence(error);
      this.#move(one, isAbort(error) ? 'cancelled' : 'failed');
      if (one.state === 'failed') this.failed = [...this.failed, one];
    }
    this.sending = this.sending.filter((other) => other !== one);
    this.#next();
  }

  #move(one: Upload, state: UploadState): void {
    this.counts[one.state] -= 1;
    this.counts[state] += 1;
    one.state = state;
  }
}
