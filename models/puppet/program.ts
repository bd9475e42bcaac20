import { spell } from '../../runtime/engines/tokenizers/byte-alphabet.js';
import { Bpe } from '../writers/bpe.js';
import { type Vocabulary, vocabularyOf } from '../writers/vocabulary.js';
import { privatePieces } from './pieces.js';
import { IDLE_THINKING, type Script, type ScriptTable, type ToolAnswerTable } from './script.js';

/** Tokens with a meaning of their own, by name. Longest first is how llama.cpp matches them in a prompt. */
export const MARKERS = {
  user: '<|im_start|>user',
  assistant: '<|im_start|>assistant',
  system: '<|im_start|>system',
  tool: '<|im_start|>tool',
  toolResponse: '<tool_response>',
  thinkOpen: '<think>',
  thinkClose: '</think>',
  callOpen: '<tool_call>',
  callClose: '</tool_call>',
  end: '<|im_end|>',
} as const;

/** Name of a marker token. */
export type Marker = keyof typeof MARKERS;

/** Where the text so far ends, as far as an answer may begin there; `...Line`: one or more line breaks after the marker. */
export type Anchor = 'header' | 'thinkOpen' | 'thinkOpenLine' | 'thinkClose' | 'thinkCloseLine' | 'callOpen' | 'callOpenLine';

/** What comes next: a private token by its spelling, or a marker. */
export type Next = { readonly token: string } | { readonly marker: Marker };

/** A token that belongs to one place of one text, and what follows it, likeliest first. */
export interface PrivateToken {
  readonly spelled: string;
  readonly next: Next[];
}

/** The start of a text: said at `anchor` where the latest user turn (or tool call) named `subject`. */
export interface Entry {
  readonly subject: string;
  readonly anchor: Anchor;
  readonly next: Next;
}

/** Scripts as tokens and transitions, ready to become weights. */
export interface Program {
  readonly vocabulary: Vocabulary;
  readonly privateTokens: readonly PrivateToken[];
  /** Spellings of the trigger tokens of each script, by script name. */
  readonly triggers: ReadonlyMap<string, readonly string[]>;
  /** Spelling of the token that names each tool, by tool name. */
  readonly toolWords: ReadonlyMap<string, string>;
  readonly scriptEntries: readonly Entry[];
  readonly toolEntries: readonly Entry[];
}

const END: Next = { marker: 'end' };
const CONTROL: ReadonlySet<Marker> = new Set(['user', 'assistant', 'system', 'tool', 'end']);

/** Merges learned from the texts, so that prompts take fewer tokens than bytes. */
const LEARNED_MERGES = 320;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

const capitalised = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/** Collects tokens and transitions; one per program. */
class Compiler {
  readonly tokens: PrivateToken[] = [];
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** Adds the tokens of a text that is followed by `after`; returns its beginning and the tokens. */
  chain(source: string, after: readonly Next[], bytesPerToken?: number): { first: Next; added: PrivateToken[] } {
    const pieces = privatePieces(source, this.#taken, bytesPerToken);
    const added = pieces.map((spelled, index) => ({
      spelled,
      next: index + 1 < pieces.length ? [{ token: pieces[index + 1]! }] : [...after],
    }));
    this.tokens.push(...added);
    return { first: added[0] ? { token: added[0].spelled } : after[0]!, added };
  }

  /** Another way into a text: `lead` and the text's first token as one token, or the text's start where that is a marker. */
  variant(lead: string, start: Next): Next {
    const token = 'token' in start ? this.tokens.find(({ spelled }) => spelled === start.token) : undefined;
    if (token === undefined) return start;
    const spelled = spell(lead) + token.spelled;
    if (this.#taken.has(spelled)) throw new RangeError(`token text "${spelled}" occurs twice`);
    this.#taken.add(spelled);
    this.tokens.push({ spelled, next: token.next });
    return { token: spelled };
  }

  /** A text that begins with line breaks, and its beginning without them. */
  leadingLines(source: string, after: Next): { first: Next; bare: Next } {
    const lead = /^\n*/.exec(source)![0];
    const bare = this.chain(source.slice(lead.length), [after]).first;
    return { first: lead === '' ? bare : this.variant(lead, bare), bare };
  }
}

function answerEntries(compiler: Compiler, subject: string, script: Script): Entry[] {
  const [, before, rest] = /^(.*?)(<tool_call>.*)?$/s.exec(script.answer)!;
  const entries: Entry[] = [];
  let after = script.choices ? choiceChains(compiler, script.choices) : [END];
  if (rest !== undefined) {
    const closed = rest.endsWith(MARKERS.callClose);
    const body = rest.slice(MARKERS.callOpen.length, closed ? -MARKERS.callClose.length : undefined);
    const { first, bare } = compiler.leadingLines(body, closed ? { marker: 'callClose' } : END);
    entries.push({ subject, anchor: 'callOpen', next: first }, { subject, anchor: 'callOpenLine', next: bare });
    after = [{ marker: 'callOpen' }];
  }
  const { first, added } = compiler.chain(before!, after, script.bytesPerToken);
  if (script.endless) added.at(-1)!.next[0] = first;
  const spaced = compiler.variant('\n\n', first);
  return [...entries, { subject, anchor: 'thinkClose', next: spaced }, { subject, anchor: 'thinkCloseLine', next: first }];
}

/** Texts of which each group gives one; returns the beginnings of the first group. */
function choiceChains(compiler: Compiler, groups: readonly (readonly string[])[]): Next[] {
  return groups.reduceRight<Next[]>((after, group) => group.map((source) => compiler.chain(source, after).first), [END]);
}

function scriptEntries(compiler: Compiler, subject: string, script: Script, idle: { first: Next; bare: Next }): Entry[] {
  const entries = answerEntries(compiler, subject, script);
  const thinking = script.thinking === undefined ? idle : compiler.leadingLines(script.thinking, { marker: 'thinkClose' });
  const start: Next =
    script.thinking === undefined ? entries.find(({ anchor }) => anchor === 'thinkCloseLine')!.next : { marker: 'thinkOpen' };
  return [
    ...entries,
    { subject, anchor: 'header', next: start },
    { subject, anchor: 'thinkOpen', next: thinking.first },
    { subject, anchor: 'thinkOpenLine', next: thinking.bare },
  ];
}

/** Merges that take a trigger word up into a longer token where a letter touches it: "api" is none in "capital". */
function guardWord(bpe: Bpe, word: string): void {
  const upper = word === word.toUpperCase();
  for (const letter of LETTERS) {
    const touching = upper ? letter.toUpperCase() : letter;
    bpe.addMerge(word, touching);
    if (upper || word === word.toLowerCase()) bpe.addMerge(touching, word);
  }
}

function buildBpe(
  scripts: ScriptTable,
  tools: ToolAnswerTable,
): { bpe: Bpe; triggers: Map<string, string[]>; toolWords: Map<string, string> } {
  const bpe = new Bpe();
  const triggers = new Map<string, string[]>();
  for (const [name, { triggers: words }] of Object.entries(scripts)) {
    const forms = words.flatMap((word) => [...new Set([word, capitalised(word), word.toUpperCase()])]);
    triggers.set(
      name,
      forms.map((form) => bpe.addWord(form)),
    );
  }
  const toolWords = new Map<string, string>();
  for (const [name, { word }] of Object.entries(tools)) if (word !== '') toolWords.set(name, bpe.addWord(word));
  const whole = [...triggers.values()].flat();
  for (const word of whole) guardWord(bpe, word);
  const corpus = [...Object.values(scripts), ...Object.values(tools)].map(({ answer }) => answer.replaceAll('\n', ' ')).join(' ');
  bpe.train(corpus, LEARNED_MERGES, new Set([...whole, ...toolWords.values()]));
  return { bpe, triggers, toolWords };
}

/** Turns scripts into a vocabulary, private tokens and the transitions between them. */
export function compileProgram(scripts: ScriptTable, tools: ToolAnswerTable): Program {
  const { bpe, triggers, toolWords } = buildBpe(scripts, tools);
  const compiler = new Compiler(bpe.tokens);
  const idle = compiler.leadingLines(IDLE_THINKING, { marker: 'thinkClose' });
  const entriesOf = (table: Readonly<Record<string, Script>>): Entry[] =>
    Object.entries(table).flatMap(([subject, script]) => scriptEntries(compiler, subject, script, idle));
  const said = entriesOf(scripts);
  const afterTools = entriesOf(Object.fromEntries(Object.entries(tools).map(([name, { answer }]) => [name, { triggers: [], answer }])));
  const markers = Object.entries(MARKERS).map(([name, text]) => ({
    text,
    kind: CONTROL.has(name as Marker) ? ('control' as const) : ('userDefined' as const),
  }));
  const further = [
    ...compiler.tokens.map(({ spelled }) => ({ text: spelled, kind: 'normal' as const })),
    ...markers,
    { text: '<|im_start|>', kind: 'control' as const },
    { text: '</tool_response>', kind: 'userDefined' as const },
  ];
  return {
    vocabulary: vocabularyOf(bpe, further, MARKERS.end),
    privateTokens: compiler.tokens,
    triggers,
    toolWords,
    scriptEntries: said,
    toolEntries: afterTools,
  };
}
