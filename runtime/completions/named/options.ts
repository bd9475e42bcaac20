import { Failure } from '../../../schemas/errors.js';
import type { Options } from '../../../schemas/generated/universal/ollama.js';
import type { LanguageOptions, Sampling } from '../../engines/contracts/language.js';
import { UNTIL_CONTEXT_ENDS } from '../budget.js';

/** What Ollama's options say of a completion. */
interface OptionParts {
  readonly sampling: Sampling;
  readonly loading: LanguageOptions;
}

/** Ollama's names of settings that work the same here. */
const SAMPLING = {
  temperature: 'temperature',
  top_k: 'top_k',
  top_p: 'top_p',
  min_p: 'min_p',
  seed: 'seed',
  stop: 'stop',
  num_predict: 'max_tokens',
  repeat_penalty: 'repeat_penalty',
  presence_penalty: 'presence_penalty',
  frequency_penalty: 'frequency_penalty',
} as const satisfies Partial<Record<keyof Options, keyof Sampling>>;

const LOADING = {
  num_ctx: 'n_ctx',
  num_batch: 'n_batch',
  num_gpu: 'n_gpu_layers',
  num_thread: 'n_threads',
  use_mmap: 'use_mmap',
  use_mlock: 'use_mlock',
} as const satisfies Partial<Record<keyof Options, keyof LanguageOptions>>;

/** Settings that would change the text and that this engine does not have, each with the value that leaves it alone. */
const LACKING: { readonly [Name in keyof Options]?: { readonly off: number; readonly instead: string } } = {
  mirostat: { off: 0, instead: 'temperature, top_p and min_p' },
  typical_p: { off: 1, instead: 'top_p or min_p' },
  tfs_z: { off: 1, instead: 'top_p or min_p' },
};

/** Names that clients know and that are passed over: they are about memory or speed, or belong to a sampler that is lacking. */
const PASSED_OVER = [
  'num_keep',
  'repeat_last_n',
  'main_gpu',
  'low_vram',
  'numa',
  'f16_kv',
  'vocab_only',
  'logits_all',
  'num_gqa',
  'mirostat_eta',
  'mirostat_tau',
  'penalize_newline',
] as const;
const KNOWN: ReadonlySet<string> = new Set([...Object.keys({ ...SAMPLING, ...LOADING, ...LACKING }), ...PASSED_OVER]);

/** Throws `bad_request` (code `InvalidModelfile`) for a parameter of a model that nobody knows. */
export function checkParameterNames(parameters: Options): void {
  const unknown = Object.keys(parameters).find((name) => !KNOWN.has(name));
  if (unknown !== undefined)
    throw new Failure('bad_request', `unknown parameter '${unknown.slice(0, 100)}'; known are ${[...KNOWN].join(', ')}.`, {
      code: 'InvalidModelfile',
    });
}

/** What stands for nothing being said. */
const AUTO: Partial<Record<keyof Options, number>> = { num_thread: 0 };

/**
 * Ollama's options as a completion takes them. Throws `invalid` for a sampler that this engine lacks and that is switched on; options that say nothing
 * about the answer, and unknown ones, are passed over as Ollama passes over those it does not know.
 */
export function optionParts(options: Options): OptionParts {
  for (const [name, { off, instead }] of Object.entries(LACKING)) {
    const value = options[name as keyof Options];
    if (value === undefined || value === null || value === off) continue;
    const msg = `options.${name} is ${String(value)}, and this engine has no such sampler`;
    throw new Failure('invalid', `${msg}; leave it out or set it to ${off}, and use ${instead} instead.`, {
      code: 'OptionUnsupported',
      errors: [{ type: 'value_error', loc: ['body', 'options', name], msg, input: value }],
    });
  }
  const sampling: Sampling = renamed(SAMPLING, options);
  if (sampling.max_tokens !== undefined && sampling.max_tokens <= 0) sampling.max_tokens = UNTIL_CONTEXT_ENDS;
  if (typeof sampling.stop === 'string') sampling.stop = [sampling.stop];
  return { sampling, loading: renamed(LOADING, options) };
}

function renamed(names: Readonly<Record<string, string>>, options: Options): object {
  const given = Object.entries(names).map(([name, own]) => [own, options[name as keyof Options], AUTO[name as keyof Options]]);
  return Object.fromEntries(given.filter(([, value, auto]) => value !== undefined && value !== null && value !== auto));
}
