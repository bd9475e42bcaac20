import { Failure } from '../../../schemas/errors.js';
import type { Options } from '../../../schemas/generated/universal/ollama.js';

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

const shown = (value: string): string => (value.includes('\n') || value.includes('"') ? `"""${value}"""` : `"${value}"`);

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
    ...(template ? [`TEMPLATE ${shown(template)}`] : []),
    ...(system ? [`SYSTEM ${shown(system)}`] : []),
    ...Object.entries(parameters ?? {}).flatMap(([name, value]) =>
      many(value).map((one) => `PARAMETER ${name} ${typeof one === 'string' ? shown(one) : one}`),
    ),
    ...(messages ?? []).map(({ role, content }) => `MESSAGE ${role} ${shown(content ?? '')}`),
    ...many(license).map((text) => `LICENSE ${shown(text)}`),
  ];
  return `${lines.join('\n')}\n`;
}
