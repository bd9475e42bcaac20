import { OPTIONS, VERSION } from '../../gateway/daemon/options.js';
import { Failure } from '../../schemas/errors.js';
import { alignedRows, wrapped } from '../output.js';
import { type Call, flagsOf, type RawVerb, type Run, usageOf, type Verb } from '../verb.js';

/** Prints the version. */
export const version: Run = async ({ out }) => ({ result: { version: VERSION }, show: () => out.line(`quern ${VERSION}`) });

/** Prints the commands and options, or how one command is used. */
export const help: Run = async ({ words, out, verbs }) => {
  const name = words.join(' ');
  if (name === '') return { result: verbs.map(describeVerb), show: () => out.line(overview(verbs, out.width)) };
  const family = verbs.filter((verb) => verb.name === name || verb.aliases?.includes(name) || verb.name.startsWith(`${name} `));
  if (family.length === 0) throw new Failure('bad_request', `unknown command "${name}": "quern help" lists them.`);
  return { result: family.map(describeVerb), show: () => out.line(pages(family, out.width)) };
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

type FlagRow = readonly [string, string];

const flagRows = (verb: Verb | RawVerb): FlagRow[] =>
  Object.entries(flagsOf(verb)).map(
    ([name, { value, short, meaning }]) => [`${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`, meaning] as const,
  );

/** How the commands of a family are used: flags that all of them have stand once, behind them. */
function pages(family: Call['verbs'], columns: number): string {
  const rows = family.map(flagRows);
  const shared = family.length < 2 ? [] : rows[0]!.filter((row) => rows.every((others) => others.some((other) => isSame(row, other))));
  const texts = family.map((verb, index) => {
    const own = rows[index]!.filter((row) => !shared.some((other) => isSame(row, other)));
    return page(verb, own, columns);
  });
  const behind = shared.length > 0 ? [['Flags of all of them', ...alignedRows(shared, columns)].join('\n')] : [];
  return [...texts, ...behind].join('\n\n');
}

const isSame = ([form, meaning]: FlagRow, [otherForm, otherMeaning]: FlagRow): boolean => form === otherForm && meaning === otherMeaning;

function page(verb: Verb | RawVerb, flags: readonly FlagRow[], columns: number): string {
  const also = verb.aliases ? [`also: ${verb.aliases.map((alias) => `quern ${alias}`).join(', ')}`] : [];
  return [
    `${usageOf(verb)}${'isRaw' in verb ? '' : ' [FLAGS]'}`,
    ...[verb.summary, ...also].map((text) => wrapped(`  ${text}`, columns, 2)),
    ...(flags.length > 0 ? alignedRows(flags, columns) : []),
  ].join('\n');
}

/** What is to be known of all commands. */
const NOTES = [
  'Commands ask the running daemon and start one where none runs. With --json they print JSON.',
  'Exit codes: 0 done, 1 failed, 2 wrongly used, 3 not found, 4 not allowed, 5 no daemon or no room, try again.',
  '',
  'The model cache is shared with other programs: HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE hold.',
  'HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY say which way leads to the model hub.',
];

function overview(verbs: Call['verbs'], columns: number): string {
  const width = 2 + Math.max(...Object.values(OPTIONS).map(([variable]) => variable.length));
  const options = Object.entries(OPTIONS).map(
    ([flag, [variable, meaning]]) => [`--${flag.padEnd(18)}${variable}`.padEnd(18 + width), meaning] as const,
  );
  return [
    'quern: a local AI runtime in one daemon.',
    '',
    'Commands ("quern COMMAND --help" lists the flags of one)',
    ...alignedRows(
      verbs.map((verb) => [usageOf(verb), verb.summary]),
      columns,
    ),
    '',
    ...NOTES.map((text) => wrapped(text, columns)),
    '',
    `${'Options'.padEnd(20)}  ${'environment'.padEnd(width)}meaning (default)`,
    ...alignedRows(options, columns),
  ].join('\n');
}
