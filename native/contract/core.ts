import type { NativeTextIndex, TextIndexOptions } from './text.js';
import type { NativeVectorIndex, VectorIndexOptions } from './vectors.js';

/** The addon `quern_core.node`: nothing in it parses foreign formats or may end the process, so it runs inside the daemon. */
export interface CoreAddon {
  /** Sync. An empty index. Throws Failure('invalid') with the setting that is wrong. */
  openTextIndex(options: TextIndexOptions): NativeTextIndex;
  /** Sync. An empty index. Throws Failure('invalid') with the setting that is wrong. */
  openVectorIndex(options: VectorIndexOptions): NativeVectorIndex;
}
