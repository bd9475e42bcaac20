import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { NativeScheduler } from '../../../../native/contract.js';
import type { AdapterUse, RestoredState, SavedState } from '../../contracts/language.js';
import { adaptedTag, type RestoreBody, type SaveBody } from '../wire.js';
import type { HostAdapters } from './adapters.js';
import type { OpenBody } from './load.js';

/** Generations whose tokens wait to be saved. */
const REMEMBERED_LIMIT = 64;

/** Tokens of a generation, as its sequence holds them. */
interface RememberedGeneration {
  readonly prompt: Int32Array;
  readonly generated: number[];
  readonly adapters: readonly AdapterUse[];
}

/** Counts changes of what a state's bytes are, so that states from before are not taken for such. */
const STATE_FORMAT = 2;

/**
 * 16 hex digits of what decides whether a KV state fits: the engine's version, the file, the formats of the cache, the streams of its buffer where the
 * state depends on them (`NativeScheduler.stateStreams`), and the context where keys are turned by its length.
 */
export function stateTag(
  { path, plan, isLongRope }: Pick<OpenBody, 'path' | 'plan' | 'isLongRope'>,
  llamaTag: string,
  streams: number,
): string {
  const { size, mtimeMs } = statSync(path);
  const context = isLongRope ? [plan.contextSize, plan.kvCells, plan.slots, plan.unifiedKv] : null;
  const facts = [STATE_FORMAT, streams, context, llamaTag, size, mtimeMs, plan.cacheTypeK, plan.cacheTypeV, plan.flashAttention];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
}

/** The states of a model in its host process: remembers the tokens of generations that will be saved. */
export class HostStates {
  readonly #engine: NativeScheduler;
  readonly #adapters: HostAdapters;
  readonly #tag: string;
  readonly #remembered = new Map<string, RememberedGeneration>();

  constructor(engine: NativeScheduler, adapters: HostAdapters, tag: string) {
    this.#engine = engine;
    this.#adapters = adapters;
    this.#tag = tag;
  }

  /** Begins to remember a generation; the list that is given back takes its tokens. Beyond the limit the oldest is forgotten. */
  remember(name: string, prompt: Int32Array, adapters: readonly AdapterUse[]): number[] {
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined && this.#remembered.size >= REMEMBERED_LIMIT) this.#remembered.delete(oldest);
    const generated: number[] = [];
    this.#remembered.set(name, { prompt, generated, adapters });
    return generated;
  }

  async save({ name, file, keep }: SaveBody): Promise<SavedState | null> {
    const remembered = this.#remembered.get(name);
    this.#remembered.delete(name);
    if (!remembered) return null;
    const { prompt, generated, adapters } = remembered;
    const tokens = new Int32Array(prompt.length + generated.length);
    tokens.set(prompt);
    tokens.set(generated, prompt.length);
    const held = await this.#adapters.hold(adapters);
    return this.#engine.saveState(tokens, prompt.length, file, this.#number(adapters), keep, held).finally(held.release);
  }

  async restore({ file, keep, adapters }: RestoreBody): Promise<RestoredState> {
    const held = await this.#adapters.hold(adapters);
    return this.#engine.restoreState(file, this.#number(adapters), keep, held).finally(held.release);
  }

  drop(file: string): boolean {
    return this.#engine.dropState(file);
  }

  #number(adapters: readonly AdapterUse[]): bigint {
    return BigInt(`0x${adaptedTag(this.#tag, adapters)}`);
  }
}
