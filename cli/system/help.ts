import { OPTIONS, VERSION } from '../../gateway/daemon/options.js';
import { Failure } from '../../schemas/errors.js';
import { type Call, flagsOf, type RawVerb, type Run, usageOf, type Verb } from '../verb.js';

/** Prints the version. */
export const version: Run = async ({ out }) => ({ result: { version: VERSION }, show: () => out.line(`quern ${VERSION}`) });

/** Prints the commands and options, or how one command is used. */
export const help: Run = async ({ words, out, verbs }) => {
  const name = words.join(' ');
  if (name === '') return { result: verbs.map(describeVerb), show: () => out.line(overview(verbs)) };
  const family = verbs.filter((verb) => verb.name === name || verb.aliases?.includes(name) || verb.name.startsWith(`${name} `));
  if (family.length === 0) throw new Failure('bad_request', `unknown command "${name}": "quern help" lists them.`);
  return { result: family.map(describeVerb), show: () => out.line(family.map(page).join('\n\n')) };
};

const describeVerb = (verb: Verb | RawVerb) => ({
  name: verb.name,
  aliases: verb.aliases ?? [],
  usage: usageOf(verb),
  summary: verb.summary,
  flags: Object.entries(flagsOf(verb)).map(([name, { value, short, meaning }]) => ({
    name,
    value: value ?? null,
    short: short ?? null,
    meaning,
  })),
});

const alignColumns = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = 2 + Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}${second}`);
};

/** How one command is used. */
function page(verb: Verb | RawVerb): string {
  const flags = Object.entries(flagsOf(verb)).map(
    ([name, { value, short, meaning }]) => [`${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`, meaning] as const,
  );
  const also = verb.aliases ? [`also: ${verb.aliases.map((alias) => `quern ${alias}`).join(', ')}`] : [];
  return [
    `${usageOf(verb)}${flags.length > 0 ? ' [FLAGS]' : ''}`,
    `  ${verb.summary}`,
    ...also.map((text) => `  ${text}`),
    ...alignColumns(flags),
  ].join('\n');
}

function overview(verbs: Call['verbs']): string {
  const width = 2 + Math.max(...Object.values(OPTIONS).map(([variable]) => variable.length));
  const options = Object.entries(OPTIONS).map(([flag, [variable, meaning]]) => `  --${flag.padEnd(18)}${variable.padEnd(width)}${meaning}`);
  return [
    'quern: a local AI runtime in one daemon.',
    '',
    'Commands ("quern COMMAND --help" lists the flags of one)',
    ...alignColumns(verbs.map((verb) => [usageOf(verb), verb.summary])),
    '',
    'Commands ask the running daemon and start one where none runs. With --json they print JSON.',
    'Exit codes: 0 done, 1 failed, 2 wrongly used, 3 not found, 4 not allowed, 5 no daemon or no room, try again.',
    '',
    'The model cache is shared with other programs: HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE hold.',
    'HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY say which way leads to the model hub.',
    '',
    `${'Options'.padEnd(20)}  ${'environment'.padEnd(width)}meaning (default)`,
    ...options,
  ].join('\n');
}
