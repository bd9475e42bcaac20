/**
 * What screen readers say though nobody went to it. They speak words that come into a place which they know already; a place that comes
 * together with its words is silent, and so is one behind a modal dialog. `ui/Toasts.svelte`, which the page and each open dialog have, is that place.
 */
import { untrack } from 'svelte';

interface Said {
  readonly id: number;
  readonly text: string;
}

const KEPT = 3;

class Announcer {
  /** The last sentences, the newest at the end. */
  said = $state.raw<readonly Said[]>([]);

  say(text: string): void {
    const before = untrack(() => this.said);
    if (text.trim() !== '') this.said = [...before.slice(1 - KEPT), { id: (before.at(-1)?.id ?? 0) + 1, text }];
  }
}

export const announcer = new Announcer();

/** An element that comes with words which are to be spoken, such as a status that stands there only now and then. */
export function spoken(node: HTMLElement): void {
  announcer.say(node.textContent);
}
