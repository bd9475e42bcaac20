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
  const sampling: Sampling = renameOptions(SAMPLING, options);
  if (sampling.max_tokens !== undefined && sampling.max_tokens <= 0) sampling.max_tokens = UNTIL_CONTEXT_ENDS;
  if (typeof sampling.stop === 'string') sampling.stop = [sampling.stop];
  return { sampling, loading: renameOptions(LOADING, options) };
}

function renameOptions(names: Readonly<Record<string, string>>, options: Options): object {
  const given = Object.entries(names).map(([name, own]) => [own, options[name as keyof Options], AUTO[name as keyof Options]]);
  return Object.fromEntries(given.filter(([, value, auto]) => value !== undefined && value !== null && value !== auto));
}

/** What a model is made of, as a Modelfile or the JSON form of a request says. */
export interface ModelDefinition {
  from?: string | null;
  system?: string | null;
  template?: string | null;
  parameters?: Options | null;
  messages?: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[] | null;
  license?: string | readonly string[] | null;
  /** Paths, where it is an object as its values. */
  adapters?: readonly string[] | Readonly<Record<string, string>> | null;
}

const INSTRUCTIONS = ['FROM', 'PARAMETER', 'TEMPLATE', 'SYSTEM', 'ADAPTER', 'MESSAGE', 'LICENSE', 'REQUIRES'] as const;
const ROLES = ['system', 'user', 'assistant'];
/** Parameters whose values are text; `stop` may come several times. */
const TRUTH: Readonly<Record<string, boolean>> = { true: true, false: false };

/** A Modelfile that says more is none that somebody wrote. */
const MOST_INSTRUCTIONS = 2_000;

interface Instruction {
  readonly line: number;
  readonly name: string;
  readonly value: string;
}

const bad = (line: number, why: string): Failure =>
  new Failure('bad_request', `Modelfile line ${line}: ${why}.`, { code: 'InvalidModelfile' });

/** Splits a Modelfile into its instructions; a value in `"""` may have many lines, one in `"` is one text. */
function* instructions(text: string): Generator<Instruction> {
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = at + 1;
    const match = /^\s*(\S+)\s*(.*)$/.exec(lines[at]!);
    if (!match || match[1]!.startsWith('#')) continue;
    const [, name = '', rest = ''] = match;
    // MESSAGE and PARAMETER have a word before what may be quoted.
    const [, word = '', first = ''] = /^(?:message|parameter)$/i.test(name) ? /^(\S+\s+)?([\s\S]*)$/.exec(rest)! : ['', '', rest];
    if (!first.startsWith('"""')) {
      const quoted = /^"([\s\S]*)"\s*$/.exec(first);
      yield { line, name, value: word + (quoted ? quoted[1]! : first.trimEnd()) };
      continue;
    }
    const block = [first.slice(3)];
    while (!block.at(-1)!.includes('"""')) {
      at += 1;
      if (at >= lines.length) throw bad(line, `${name} begins with """ that never end`);
      block.push(lines[at]!);
    }
    const whole = block.join('\n');
    yield { line, name, value: word + whole.slice(0, whole.lastIndexOf('"""')) };
  }
}

function parameter(definition: ModelDefinition, { line, value }: Instruction): void {
  const [, name = '', given = ''] = /^(\S+)\s+([\s\S]+)$/.exec(value) ?? [];
  if (given === '') throw bad(line, `PARAMETER wants a name and a value, and has "${value.slice(0, 100)}"`);
  definition.parameters ??= {};
  const parameters = definition.parameters as Record<string, unknown>;
  if (name === 'stop') {
    parameters.stop ??= [];
    (parameters.stop as string[]).push(given);
  } else parameters[name] = TRUTH[given] ?? (Number.isFinite(Number(given)) ? Number(given) : given);
}

/** Reads a Modelfile. Throws `bad_request` (code `InvalidModelfile`) with the line for an instruction that is unknown or has no value. Parameters are not checked. */
export function parsedModelfile(text: string): ModelDefinition {
  const definition: ModelDefinition = {};
  const adapters: string[] = [];
  const license: string[] = [];
  const messages: { role: 'user'; content: string }[] = [];
  let count = 0;
  for (const one of instructions(text)) {
    const { line, value } = one;
    count += 1;
    if (count > MOST_INSTRUCTIONS) throw bad(line, `there are more than ${MOST_INSTRUCTIONS} instructions`);
    const name = one.name.toUpperCase();
    if (!INSTRUCTIONS.includes(name as (typeof INSTRUCTIONS)[number]))
      throw bad(line, `unknown instruction "${one.name.slice(0, 100)}"; known are ${INSTRUCTIONS.join(', ')}`);
    if (value.trim() === '' && name !== 'SYSTEM' && name !== 'TEMPLATE') throw bad(line, `${name} has no value`);
    if (name === 'FROM') definition.from = value;
    else if (name === 'SYSTEM') definition.system = value;
    else if (name === 'TEMPLATE') definition.template = value;
    else if (name === 'ADAPTER') adapters.push(value);
    else if (name === 'LICENSE') license.push(value);
    else if (name === 'PARAMETER') parameter(definition, one);
    else if (name === 'MESSAGE') {
      const [, role = '', content = ''] = /^(\S+)\s+([\s\S]*)$/.exec(value) ?? [];
      if (!ROLES.includes(role)) throw bad(line, `MESSAGE wants one of ${ROLES.join(', ')} and a text, and has "${value.slice(0, 100)}"`);
      messages.push({ role: role as 'user', content });
    }
  }
  if (messages.length > 0) definition.messages = messages;
  if (adapters.length > 0) definition.adapters = adapters;
  if (license.length > 0) definition.license = license;
  return definition;
}

const quoteValue = (value: string): string => (value.includes('\n') || value.includes('"') ? `"""${value}"""` : `"${value}"`);

/** Parameters as Ollama lists them: a name and a value a line. */
export function parameterLines(parameters: Options): string[] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name.padEnd(30)} ${typeof one === 'string' ? JSON.stringify(one) : String(one)}`),
  );
}

/** A definition as the text of a Modelfile, which `parsedModelfile` reads back. */
export function modelfileOf({ from, system, template, parameters, messages, license, adapters }: ModelDefinition): string {
  const many = (values: unknown): string[] => [values ?? []].flat() as string[];
  const lines = [
    `FROM ${from ?? ''}`,
    ...Object.values(adapters ?? {}).map((path) => `ADAPTER ${path}`),
    ...(template ? [`TEMPLATE ${quoteValue(template)}`] : []),
    ...(system ? [`SYSTEM ${quoteValue(system)}`] : []),
    ...Object.entries(parameters ?? {}).flatMap(([name, value]) =>
      many(value).map((one) => `PARAMETER ${name} ${typeof one === 'string' ? quoteValue(one) : one}`),
    ),
    ...(messages ?? []).map(({ role, content }) => `MESSAGE ${role} ${quoteValue(content ?? '')}`),
    ...many(license).map((text) => `LICENSE ${quoteValue(text)}`),
  ];
  return `${lines.join('\n')}\n`;
}
