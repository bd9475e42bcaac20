/** Whether the daemon answers. While it does not, it is asked again every few seconds, and views that care reload when it is back. */
const AGAIN_MS = 2_000;

class Connection {
  isLost = $state(false);
  /** Grows each time that what failed may succeed now, as the daemon is back or takes a new key or session: an effect that reads it runs again. */
  returns = $state(0);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Called when a request did not reach the daemon. */
  lost(): void {
    this.isLost = true;
    this.#timer ??= setTimeout(() => void this.#look(), AGAIN_MS);
  }

  /** Called when a request was answered. */
  found(): void {
    if (!this.isLost) return;
    this.isLost = false;
    this.returns += 1;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    const answer = await fetch('/health/liveness').catch(() => undefined);
    // The runtime's port has no such path, and answers all the same.
    if (answer) this.found();
    else this.lost();
  }
}

export const connection = new Connection();
