/** What can be paused: a response of uWebSockets.js, through which its request still comes. */
interface Pausable {
  pause(): void;
  resume(): void;
}

/**
 * Pauses a connection only when all of what was just read was taken, the end of its request perhaps among it: uWebSockets.js closes a connection that is resumed
 * behind its request and then quiet for ten seconds, answer or not. `isOpen` tells whether the response may still be touched.
 */
export class LatePause {
  readonly #response: Pausable;
  readonly #isOpen: () => boolean;
  #coming: NodeJS.Immediate | undefined;

  constructor(response: Pausable, isOpen: () => boolean) {
    this.#response = response;
    this.#isOpen = isOpen;
  }

  pause(): void {
    this.#coming ??= setImmediate(() => {
      this.#coming = undefined;
      if (this.#isOpen()) this.#response.pause();
    });
  }

  /** Undoes `pause`, whether it has taken effect or not. */
  resume(): void {
    if (this.#coming) clearImmediate(this.#coming);
    else if (this.#isOpen()) this.#response.resume();
    this.#coming = undefined;
  }
}
