/** Files on their way to a dataset: a few at a time, each with its progress, and each can be cancelled and tried again. */

import { untrack } from 'svelte';
import type { UploadReply } from '$schemas/core/datasets';
import { ApiError, isAbort, sentence, upload } from '../../lib/api';
import { connection } from '../../lib/connection.svelte';
import { key } from '../../lib/key.svelte';
import type { PickedFile } from './dropped';

type UploadState = 'waiting' | 'sending' | 'stored' | 'known' | 'failed' | 'cancelled';

/** Requests at the same time: enough to hide the wait between two small files. */
const AT_ONCE = 3;

/** Stored files that are told of while others are still sent: a page that is closed then leaves at most these unread. */
const BATCH = 100;

/** A file that breaks its connection each time is at fault itself. */
const MOST_TRIES = 3;

/** Whether a failure says nothing of the file: the daemon is away, or wants a key. */
const isPassing = (error: unknown): boolean => error instanceof ApiError && (error.status === 0 || error.status === 401);

/** One file and how far it is. */
export class Upload {
  readonly path: string;
  readonly file: File;
  /** `known`: the dataset had these bytes already. */
  state = $state<UploadState>('waiting');
  /** What part of its bytes has left, 0 to 1. */
  part = $state(0);
  problem = $state('');
  tries = 0;
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
  readonly #onstored: () => void;
  readonly #onend: (hashes: readonly string[]) => void;
  #waiting: Upload[] = [];
  #stored: string[] = [];
  /** Ends the waiting for a daemon that answers. */
  #held: (() => void) | undefined;
  #isHeld = $state(false);
  /** How many are in each state. */
  counts = $state({ ...NONE });
  sending = $state.raw<readonly Upload[]>([]);
  failed = $state.raw<readonly Upload[]>([]);

  /** `path`: of the dataset's data endpoint. `onstored` is told of each file that came, `onend` of all when nothing is left to send, and of each hundred before. */
  constructor(path: string, onstored: () => void, onend: (hashes: readonly string[]) => void) {
    [this.#path, this.#onstored, this.#onend] = [path, onstored, onend];
  }

  // No derived values: they would end with the view that first asked for them, and the uploads do not.
  get isBusy(): boolean {
    return this.counts.waiting + this.counts.sending > 0;
  }

  /** Whether files wait for a daemon that answers, or for a key. */
  get isHeld(): boolean {
    return this.#isHeld;
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
    this.#goOn();
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
    while (!this.#isHeld && this.sending.length < AT_ONCE && this.#waiting.length > 0) void this.#send(this.#waiting.shift()!);
    const isBatch = this.#stored.length >= BATCH;
    if ((this.isBusy && !isBatch) || this.#stored.length === 0) return;
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
      if (!reply.skipped) {
        this.#stored.push(reply.hash);
        this.#onstored();
      }
      this.#move(one, reply.skipped ? 'known' : 'stored');
    } catch (error) {
      this.sending = this.sending.filter((other) => other !== one);
      one.tries += 1;
      if (!isAbort(error) && isPassing(error) && one.tries < MOST_TRIES) return this.#wait(one);
      one.problem = sentence(error);
      this.#move(one, isAbort(error) ? 'cancelled' : 'failed');
      if (one.state === 'failed') this.failed = [...this.failed, one];
    }
    this.sending = this.sending.filter((other) => other !== one);
    this.#next();
  }

  /** Keeps a file that met no daemon, or no right key, until there is one. */
  #wait(one: Upload): void {
    this.#move(one, 'waiting');
    one.part = 0;
    this.#waiting.unshift(one);
    this.#isHeld = true;
    if (this.#held !== undefined) return;
    this.#held = $effect.root(() => {
      const { returns } = connection;
      const wasLost = connection.isLost;
      $effect(() => {
        if ((wasLost ? connection.returns > returns : !key.isWanted) && !connection.isLost) untrack(() => this.#goOn());
      });
    });
  }

  #goOn(): void {
    this.#held?.();
    this.#held = undefined;
    this.#isHeld = false;
    this.#next();
  }

  #move(one: Upload, state: UploadState): void {
    this.counts[one.state] -= 1;
    this.counts[state] += 1;
    one.state = state;
  }
}
