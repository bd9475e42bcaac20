import type { Host } from '../../hosts/host.js';
import type { Life } from '../../hosts/supervisor.js';
import type { RestoredState, SavedState, SequenceStates } from '../contracts/states.js';
import type { RestoreBody, SaveBody } from './wire.js';

/** The KV states of a model from the daemon's side; knows which copies the present host holds in memory. */
export class ClientStates implements SequenceStates {
  readonly #ready: () => Promise<Life<unknown>>;
  /** Files of the copies in memory, by the host that holds them. */
  readonly #held = new Map<string, Host>();

  constructor(
    ready: () => Promise<Life<unknown>>,
    readonly tag: string,
  ) {
    this.#ready = ready;
  }

  async save(name: string, file: string, keep: boolean): Promise<SavedState | null> {
    const { host } = await this.#ready();
    const saved = await host.call<SavedState | null>('saveState', { name, file, keep } satisfies SaveBody);
    if (saved && keep) this.#held.set(file, host);
    return saved;
  }

  async restore(file: string, keep: boolean): Promise<RestoredState> {
    const { host } = await this.#ready();
    const restored = await host.call<RestoredState>('restoreState', { file, keep } satisfies RestoreBody);
    const isRead = restored.outcome === 'restored' || restored.outcome === 'present' || restored.outcome === 'unfit';
    if (isRead && keep) this.#held.set(file, host);
    return restored;
  }

  async drop(file: string): Promise<void> {
    const host = this.#held.get(file);
    this.#held.delete(file);
    if (host?.alive) await host.call('dropState', file);
  }

  holds(file: string): boolean {
    return this.#held.get(file)?.alive === true;
  }

  /** Forgets what a host held that has ended. */
  lost(host: Host): void {
    for (const [file, holder] of this.#held) if (holder === host) this.#held.delete(file);
  }
}
