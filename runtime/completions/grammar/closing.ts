import { type GrammarNode, grammarTree } from './gbnf.js';

/** Characters of a grammar; one that is larger takes too long to read, and its texts are not followed. */
const MAX_GRAMMAR = 32 * 1024;
/** Frames looked at for one character; a text that can be read in more ways is not followed. */
const MAX_FRAMES = 2_000;
/** Rounds in which the shortest texts of rules are found; rules that stand behind so many others have none. */
const MAX_ROUNDS = 24;
/** Characters of a shortest text. */
const MAX_LEAST = 4_096;
/** Taken, in this order, where any character will do. */
const USUAL = [...'a0 x'].map((one) => one.codePointAt(0)!);

/** What is still to be read: a node, then the next frame; null = the end. */
interface Frame {
  readonly node: GrammarNode;
  /** Of a repetition how often it was read, of a literal how many of its UTF-16 units. */
  readonly count: number;
  readonly next: Frame | null;
}

/** Grammars read lately, since each answer of a schema has the same; the oldest goes first. */
const recent = new Map<string, Map<string, GrammarNode> | undefined>();
const MAX_RECENT = 16;

function rulesOf(grammar: string): Map<string, GrammarNode> | undefined {
  if (recent.has(grammar)) return recent.get(grammar);
  const rules = grammar.length > MAX_GRAMMAR ? undefined : grammarTree(grammar);
  const known = rules && findLeast(rules) ? rules : undefined;
  recent.set(grammar, known);
  if (recent.size > MAX_RECENT) recent.delete(recent.keys().next().value!);
  return known;
}

/** Follows a text by the grammar that holds it, and knows the shortest text that makes it whole. */
export class Closing {
  readonly #rules: Map<string, GrammarNode> | undefined;
  /** What may come next; undefined for a text that cannot be followed. */
  #open: Frame[] | undefined = [];
  #isWhole = false;
  #frames = new Map<Frame | null, Map<GrammarNode, Map<number, Frame>>>();

  /** `grammar` is one that `GrammarRules` wrote. */
  constructor(grammar: string) {
    this.#rules = rulesOf(grammar);
    const root = this.#rules?.get('root');
    if (root) this.#expand([this.#frame(root, 0, null)]);
    else this.#open = undefined;
  }

  /** Takes the next piece of the text. */
  push(text: string): void {
    for (const character of text) {
      if (!this.#open) return;
      const frames: (Frame | null)[] = [];
      for (const frame of this.#open) this.#read(frame, character, frames);
      this.#expand(frames);
    }
  }

  /** The shortest text that makes the text whole; undefined where that is not known. */
  get text(): string | undefined {
    if (this.#isWhole) return '';
    let best: Frame | undefined;
    let least = MAX_LEAST;
    for (const frame of this.#open ?? []) {
      const length = leastOf(frame, least);
      if (length >= least) continue;
      least = length;
      best = frame;
    }
    let text = '';
    for (let frame: Frame | null = best ?? null; frame !== null; frame = frame.next) text += this.#restOf(frame);
    return best && text;
  }

  /** The shortest text of a frame, without those behind it. */
  #restOf({ node, count }: Frame): string {
    if (node.kind === 'literal') return node.text.slice(count);
    return node.kind === 'repetition' ? this.#textOf(node.node).repeat(Math.max(0, node.min - count)) : this.#textOf(node);
  }

  #textOf(node: GrammarNode): string {
    switch (node.kind) {
      case 'literal':
        return node.text;
      case 'characters':
        return usualOf(node) ?? '';
      case 'sequence':
        return node.nodes.map((one) => this.#textOf(one)).join('');
      case 'alternatives':
        return node.choice ? this.#textOf(node.choice) : '';
      case 'repetition':
        return node.min === 0 ? '' : this.#textOf(node.node).repeat(node.min);
      case 'rule':
        return this.#textOf(this.#rules!.get(node.name)!);
    }
  }

  /** Adds what comes behind a character where the frame takes it. */
  #read({ node, count, next }: Frame, character: string, frames: (Frame | null)[]): void {
    if (node.kind === 'literal') {
      if (!node.text.startsWith(character, count)) return;
      const read = count + character.length;
      frames.push(read === node.text.length ? next : this.#frame(node, read, next));
    } else if (node.kind === 'characters' && takes(node, character.codePointAt(0)!)) frames.push(next);
  }

  #frame(node: GrammarNode, count: number, next: Frame | null): Frame {
    const byNode = entry(this.#frames, next, () => new Map<GrammarNode, Map<number, Frame>>());
    const byCount = entry(byNode, node, () => new Map<number, Frame>());
    return entry(byCount, count, () => ({ node, count, next }));
  }

  /** From frames to the characters with which they may begin. */
  #expand(frames: readonly (Frame | null)[]): void {
    const open: Frame[] = [];
    const seen = new Set<Frame | null>();
    const rest = [...frames];
    this.#isWhole = false;
    while (rest.length > 0) {
      const frame = rest.pop()!;
      if (seen.has(frame)) continue;
      seen.add(frame);
      if (frame === null) this.#isWhole = true;
      else if (frame.node.kind === 'characters' || (frame.node.kind === 'literal' && frame.node.text !== '')) open.push(frame);
      else rest.push(...this.#inside(frame));
      if (seen.size > MAX_FRAMES) {
        this.#open = undefined;
        this.#isWhole = false;
        return;
      }
    }
    this.#open = open.length === 0 && !this.#isWhole ? undefined : open;
    // Frames that are still needed hold each other.
    this.#frames = new Map();
  }

  #inside({ node, count, next }: Frame): (Frame | null)[] {
    switch (node.kind) {
      case 'sequence': {
        let frame = next;
        for (let at = node.nodes.length - 1; at >= 0; at -= 1) frame = this.#frame(node.nodes[at]!, 0, frame);
        return [frame];
      }
      case 'alternatives':
        return node.nodes.map((one) => this.#frame(one, 0, next));
      case 'rule':
        return [this.#frame(this.#rules!.get(node.name)!, 0, next)];
      case 'repetition': {
        const again = node.max === Number.POSITIVE_INFINITY ? Math.min(count + 1, node.min) : count + 1;
        const frames: (Frame | null)[] = count >= node.min ? [next] : [];
        if (count < node.max) frames.push(this.#frame(node.node, 0, this.#frame(node, again, next)));
        return frames;
      }
      // An empty text.
      case 'literal':
        return [next];
      default:
        return [];
    }
  }
}

type Characters = Extract<GrammarNode, { kind: 'characters' }>;

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function takes({ ranges, negated }: Characters, code: number): boolean {
  return ranges.some(([from, to]) => code >= from && code <= to) !== negated;
}

/** A character that a class takes, one that people use where it can be. */
function usualOf(node: Characters): string | undefined {
  const code = [...USUAL, ...node.ranges.map(([from]) => from)].find((one) => takes(node, one));
  return code === undefined ? undefined : String.fromCodePoint(code);
}

/** Characters of the shortest text of a frame and those behind it; not counted further than `most`. */
function leastOf(first: Frame, most: number): number {
  let length = 0;
  for (let frame: Frame | null = first; frame !== null && length < most; frame = frame.next) {
    const { node, count } = frame;
    const { least = Number.POSITIVE_INFINITY } = node;
    if (node.kind === 'repetition') length += count >= node.min ? 0 : (node.node.least ?? Number.POSITIVE_INFINITY) * (node.min - count);
    else length += node.kind === 'literal' ? least - count : least;
  }
  return length;
}

/** Finds the shortest text of each rule and what it is made of; false where the root has none. */
function findLeast(rules: ReadonlyMap<string, GrammarNode>): boolean {
  // Rules stand before those that they need.
  const backwards = [...rules.values()].reverse();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    let isChanged = false;
    for (const node of backwards) isChanged = shorten(node, rules) || isChanged;
    if (!isChanged) break;
  }
  return rules.get('root')?.least !== undefined;
}

/** Finds a shorter text of a node than was known, by what is known of its parts. */
function shorten(node: GrammarNode, rules: ReadonlyMap<string, GrammarNode>): boolean {
  if (node.least !== undefined && (node.kind === 'literal' || node.kind === 'characters')) return false;
  let isChanged = false;
  if (node.kind === 'sequence' || node.kind === 'alternatives') for (const one of node.nodes) isChanged = shorten(one, rules) || isChanged;
  if (node.kind === 'repetition') isChanged = shorten(node.node, rules);
  const least = shortest(node, rules);
  if (least >= (node.least ?? MAX_LEAST)) return isChanged;
  node.least = least;
  if (node.kind === 'alternatives') node.choice = node.nodes.find((one) => one.least === least)!;
  return true;
}

function shortest(node: GrammarNode, rules: ReadonlyMap<string, GrammarNode>): number {
  switch (node.kind) {
    case 'literal':
      return node.text.length;
    case 'characters':
      return usualOf(node)?.length ?? Number.POSITIVE_INFINITY;
    case 'sequence':
      return node.nodes.reduce((sum, { least = Number.POSITIVE_INFINITY }) => sum + least, 0);
    case 'alternatives':
      return node.nodes.reduce((best, { least = Number.POSITIVE_INFINITY }) => Math.min(best, least), Number.POSITIVE_INFINITY);
    case 'rule':
      return rules.get(node.name)?.least ?? Number.POSITIVE_INFINITY;
    case 'repetition':
      return node.min === 0 ? 0 : (node.node.least ?? Number.POSITIVE_INFINITY) * node.min;
  }
}
