import type {
  IndexLoad,
  NativeTextIndex,
  TextAnswer,
  TextClause,
  TextIndexStats,
  TextQueryOptions,
  TextSearchOptions,
} from './contract.js';
import { raised, settled } from './raised.js';

/** The C++ object with our failures. */
export class TextIndex implements NativeTextIndex {
  readonly #native: NativeTextIndex;

  constructor(native: NativeTextIndex) {
    this.#native = native;
  }

  add(ids: Uint32Array, texts: string[]): Promise<void> {
    return settled(() => this.#native.add(ids, texts));
  }

  remove(ids: Uint32Array): Promise<number> {
    return settled(() => this.#native.remove(ids));
  }

  search(query: string, k: number, options?: TextSearchOptions): Promise<TextAnswer> {
    return settled(() => this.#native.search(query, k, options));
  }

  terms(query: string, options?: TextQueryOptions): TextClause[] {
    return raised(() => this.#native.terms(query, options));
  }

  save(path: string, generation: bigint): Promise<void> {
    return settled(() => this.#native.save(path, generation));
  }

  load(path: string, generation: bigint): Promise<IndexLoad> {
    return settled(() => this.#native.load(path, generation));
  }

  stats(): TextIndexStats {
    return raised(() => this.#native.stats());
  }

  async close(): Promise<void> {
    await this.#native.close();
  }
}
