import type { Subscriptions } from './billing/subscriptions.js';

const EVERY_MS = 3600 * 1000;

/** What forgets the records whose time is over. */
interface Sweeper {
  sweep(): Promise<void>;
}

/** What is done at the start and each hour: old records go, and the processor is asked for what may have changed unheard. */
export class Chores {
  readonly #sweepers: Readonly<Record<string, Sweeper>>;
  readonly #subscriptions: Subscriptions | undefined;
  readonly #print: (line: string) => void;
  readonly #timer: NodeJS.Timeout;
  #round: Promise<void>;
  #isOver = false;

  constructor(sweepers: Readonly<Record<string, Sweeper>>, subscriptions: Subscriptions | undefined, print: (line: string) => void) {
    this.#sweepers = sweepers;
    this.#subscriptions = subscriptions;
    this.#print = print;
    this.#round = this.#run();
    this.#timer = setInterval(() => {
      this.#round = this.#round.then(() => this.#run());
    }, EVERY_MS);
    this.#timer.unref();
  }

  /** Begins no more, and waits for what is under way; of the processor no more is asked. */
  async end(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#timer);
    await this.#round;
  }

  async #run(): Promise<void> {
    const all: [string, () => Promise<void>][] = Object.entries(this.#sweepers).map(([name, sweeper]) => [name, () => sweeper.sweep()]);
    if (this.#subscriptions) all.push(['the payment processor', () => this.#subscriptions!.reconcile(() => this.#isOver)]);
    for (const [name, chore] of all)
      await chore().catch((error: Error) => this.#print(`accounts: ${name}: ${error.message}; tried again in an hour`));
  }
}
