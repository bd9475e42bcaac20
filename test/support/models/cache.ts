import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type GgufFile, writeGguf } from '../../../models/writers/gguf-writer.js';
import { puppetModel } from '../../../models/puppet/puppet.js';
import { PUPPET_CONTEXT, PUPPET_SCRIPTS, PUPPET_TOOL_ANSWERS } from '../../../models/puppet/puppet-scripts.js';
import { RANDOM_MODELS, randomLlama } from './random-llama.js';

/** Part of the file names below: raise it when a generator changes what it writes. */
const REVISION = 1;

/** Where test models are kept between runs: `build/test-models`. */
export const TEST_MODELS_FOLDER = join(import.meta.dirname, '..', '..', '..', 'test-models');

/**
 * The path of a generated model, written on first use. Safe between processes: each writes its own temporary
 * file and renames it, so that the final name always holds a whole file; the contents do not depend on who wins.
 */
export function cachedModel(name: string, make: () => GgufFile): string {
  const path = join(TEST_MODELS_FOLDER, `${name}-${REVISION}.gguf`);
  if (existsSync(path)) return path;
  mkdirSync(TEST_MODELS_FOLDER, { recursive: true });
  const unfinished = `${path}.${process.pid}.part`;
  try {
    writeGguf(unfinished, make());
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
  return path;
}

/** A random model of under 1 MB, for tests of loading and scheduling; its text means nothing. */
export const tinyPath = (): string => cachedModel('tiny', () => randomLlama(RANDOM_MODELS.tiny));

/** A random model of 54 million parameters, Q8_0, 57 MB, for benchmarks. */
export const benchPath = (): string => cachedModel('bench54m', () => randomLlama(RANDOM_MODELS.bench54m));

/** The puppet: answers exactly as `PUPPET_SCRIPTS` says. */
export const puppetPath = (): string =>
  cachedModel('puppet', () =>
    puppetModel({
      name: 'puppet',
      description: 'Hand-set weights that answer exactly by trigger word, for tests',
      scripts: PUPPET_SCRIPTS,
      toolAnswers: PUPPET_TOOL_ANSWERS,
      contextLength: PUPPET_CONTEXT,
    }),
  );
