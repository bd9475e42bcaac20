/** The messages of a conversation as a tree: siblings are branches, and one path from a root to a leaf is shown. */
import type { Message } from '$schemas/core/conversations';

/** Stands for the parent of the first messages. */
export const ROOT = '';

export class Tree {
  readonly #messages = new Map<string, Message>();
  /** The messages below each one, in the order in which they came. */
  readonly #below = new Map<string, string[]>();

  get size(): number {
    return this.#messages.size;
  }

  get(id: string): Message | undefined {
    return this.#messages.get(id);
  }

  /** Adds a message, or puts it in the place of the one with its id. */
  put(message: Message): void {
    if (!this.#messages.has(message.id)) {
      const parent = message.parent ?? ROOT;
      const siblings = this.#below.get(parent);
      if (siblings) siblings.push(message.id);
      else this.#below.set(parent, [message.id]);
    }
    this.#messages.set(message.id, message);
  }

  /** Takes a message and all below it away. */
  remove(id: string): void {
    const doomed = [id];
    for (let next = doomed.pop(); next !== undefined; next = doomed.pop()) {
      doomed.push(...(this.#below.get(next) ?? []));
      this.#below.delete(next);
      const parent = this.#messages.get(next)?.parent ?? ROOT;
      this.#messages.delete(next);
      const siblings = this.#below.get(parent);
      if (siblings)
        this.#below.set(
          parent,
          siblings.filter((one) => one !== next),
        );
    }
  }

  /** The messages from the root to this one. */
  pathTo(id: string | null): Message[] {
    const path: Message[] = [];
    for (let at = id === null ? undefined : this.#messages.get(id); at; at = at.parent === null ? undefined : this.#messages.get(at.parent))
      path.push(at);
    return path.reverse();
  }

  /** The ids of the messages beside this one, itself among them. */
  siblings(id: string): readonly string[] {
    return this.#below.get(this.#messages.get(id)?.parent ?? ROOT) ?? [id];
  }

  /** The end of the newest branch below a message; with `ROOT` that of the whole tree, null where it is empty. */
  leafBelow(id: string): string | null {
    let at = id;
    for (let below = this.#below.get(at); below && below.length > 0; below = this.#below.get(at)) at = below.at(-1)!;
    return at === ROOT ? null : at;
  }
}
