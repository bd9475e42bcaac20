/** Short messages at the edge of the page. Good news goes by itself; a failure stays until it is dismissed. */
import { announcer } from './announce.svelte';
import { ApiError, isAbort, sentence } from './api';

export interface Toast {
  readonly id: number;
  readonly kind: 'good' | 'bad';
  readonly text: string;
}

const GOOD_MS = 5_000;

class Toasts {
  list = $state<readonly Toast[]>([]);
  #last = 0;

  good(text: string): void {
    const id = this.#add('good', text);
    setTimeout(() => this.dismiss(id), GOOD_MS);
  }

  /** Tells of a failure. A request that the reader cancelled is none, and a dialog asks for a key that was refused. */
  bad(error: unknown): void {
    if (!isAbort(error) && !(error instanceof ApiError && error.status === 401)) this.#add('bad', sentence(error));
  }

  dismiss(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  #add(kind: Toast['kind'], text: string): number {
    this.#last += 1;
    announcer.say(text);
    if (!this.list.some((toast) => toast.text === text)) this.list = [...this.list.slice(-4), { id: this.#last, kind, text }];
    return this.#last;
  }
}

export const toasts = new Toasts();
