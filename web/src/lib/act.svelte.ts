/** What a dialog does when the reader agrees: whether it goes on, and why it failed. */
import { untrack } from 'svelte';
import { sentence } from './api';
import { toasts } from './toasts.svelte';

export class Act {
  isBusy = $state(false);
  problem = $state('');
  #openings = 0;

  /** `subject` says what the dialog is about, or whether it is open: when that changes, what went on before neither closes the dialog nor keeps it busy. */
  constructor(subject: () => unknown) {
    $effect.pre(() => {
      subject();
      untrack(() => {
        this.#openings += 1;
        [this.isBusy, this.problem] = [false, ''];
      });
    });
  }

  /** Does the work, then `done`. Work that outlives its dialog goes on without `done`, and a toast tells of its failure. */
  async run(work: () => Promise<unknown>, done: () => void): Promise<void> {
    const opening = this.#openings;
    const isOpen = (): boolean => opening === this.#openings;
    [this.isBusy, this.problem] = [true, ''];
    try {
      await work();
      if (isOpen()) done();
    } catch (error) {
      if (isOpen()) this.problem = sentence(error);
      else toasts.bad(error);
    }
    if (isOpen()) this.isBusy = false;
  }
}
