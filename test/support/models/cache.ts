import { join } from 'node:path';
import { puppetModel } from '../../../models/puppet/puppet.js';
import { f32 } from '../../../models/writers/gguf-values.js';
import { ensureGguf, type GgufFile } from '../../../models/writers/gguf-writer.js';
import { PUPPET_CONTEXT, PUPPET_SCRIPTS, PUPPET_TOOL_ANSWERS } from './puppet-scripts.js';
import { RANDOM_MODELS, randomLlama } from './random-llama.js';

/** Where test models are kept between runs: `build/test-models`. */
export const TEST_MODELS_FOLDER = join(import.meta.dirname, '..', '..', '..', 'test-models');

const CODE_FOLDERS = [import.meta.dirname, join(import.meta.dirname, '..', '..', '..', 'models')];

/** The path of a generated model, written on first use and after a change of the generators; safe between processes. */
export function cachedModel(name: string, make: () => GgufFile): string {
  const path = join(TEST_MODELS_FOLDER, `${name}.gguf`);
  ensureGguf(path, CODE_FOLDERS, make);
  return path;
}

/** A random model of under 1 MB, for tests of loading and scheduling; its text means nothing. */
export const tinyPath = (): string => cachedModel('tiny', () => randomLlama(RANDOM_MODELS.tiny));

/** A random model of 7 million parameters, Q8_0, 7 MB, whose matrices our own kernel takes. */
export const packedPath = (): string => cachedModel('packed', () => randomLlama(RANDOM_MODELS.packed));

/** A random model of 54 million parameters, Q8_0, 57 MB, for benchmarks. */
export const benchPath = (): string => cachedModel('bench54m', () => randomLlama(RANDOM_MODELS.bench54m));

function puppetFile(name: string, reach: number): GgufFile {
  const description = 'Hand-set weights that answer exactly by trigger word, for tests';
  const common = { scripts: PUPPET_SCRIPTS, toolAnswers: PUPPET_TOOL_ANSWERS, contextLength: PUPPET_CONTEXT };
  return puppetModel({ name, description, reach, ...common });
}

const puppet = (name: string, reach: number): string => cachedModel(name, () => puppetFile(name, reach));

/** The puppet: answers exactly as `PUPPET_SCRIPTS` says, over its whole context; keys must not be cached in a quantised type. */
export const puppetPath = (): string => puppet('puppet', PUPPET_CONTEXT);

/** The puppet, whose file recommends to take the most probable token. */
export const decidedPuppetPath = (): string =>
  cachedModel('decided-puppet', () => {
    const file = puppetFile('decided-puppet', PUPPET_CONTEXT);
    return { ...file, metadata: [...file.metadata, ['general.sampling.temp', f32(0)]] };
  });

/** A puppet for tests of quantised KV types (Q8_0, Q4_0): exact for prompts of up to 64 tokens. */
export const coarsePuppetPath = (): string => puppet('coarse-puppet', 64);
