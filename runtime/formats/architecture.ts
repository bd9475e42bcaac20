import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Of `config.json` and its like; more is not read. */
export const CONFIG_BYTES = 1024 * 1024;

/** How transformers calls classes that write text, */
const WRITES = /(?:ForCausalLM|LMHeadModel|ChatGLMForConditionalGeneration)$/;
/** those that do so after an encoder, or as the part of a larger model that does, */
const CONDITIONAL = /ForConditionalGeneration$/;
/** those for other things, */
const OTHER = /For[A-Z]\w*$/;
/** and bare ones, mostly encoders, whose graph shows what they are: `BloomModel` may write. Names that follow no such rule say nothing. */
const BARE = /Model$/;

/**
 * The architecture that `config.json` of a folder names where it is none that generates text by itself; undefined where it says nothing against
 * it. Whether a bare one is such is for the caller to say: one that opens the graph will see.
 */
export async function otherArchitecture(folder: string, isBareOther: boolean): Promise<string | undefined> {
  const { architectures, text_config: text } = await configOf(folder);
  const names = Array.isArray(architectures) ? architectures.filter((name): name is string => typeof name === 'string') : [];
  // Models that see or hear keep the settings of their language model apart; those with an encoder of text have none.
  const isPart = typeof text === 'object' && text !== null;
  const writes = names.some((name) => WRITES.test(name) || (isPart && CONDITIONAL.test(name)));
  return writes ? undefined : names.find((name) => OTHER.test(name) || (isBareOther && BARE.test(name)));
}

/** Empty for a file that is no object: opening the model says what is wrong with it. */
async function configOf(folder: string): Promise<{ readonly architectures?: unknown; readonly text_config?: unknown }> {
  const path = join(folder, 'config.json');
  try {
    if ((await stat(path)).size > CONFIG_BYTES) return {};
    return (JSON.parse(await readFile(path, 'utf8')) as object | null) ?? {};
  } catch {
    return {};
  }
}
