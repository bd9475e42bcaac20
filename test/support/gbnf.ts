type Node =
  | { kind: 'text'; text: string }
  | { kind: 'class'; negated: boolean; ranges: [number, number][] }
  | { kind: 'rule'; name: string }
  | { kind: 'sequence'; items: Node[] }
  | { kind: 'choice'; items: Node[] }
  | { kind: 'repeat'; item: Node; min: number; max: number };

/** Reads GBNF as llama.cpp writes it down; throws on anything else. */
class Reader {
  at = 0;
  constructor(readonly source: string) {}

  fail(why: string): never {
    throw new Error(`${why} at ${this.at}: ${this.source.slice(this.at, this.at + 40)}`);
  }

  space(): void {
    while (this.source[this.at] === ' ' || this.source[this.at] === '\t') this.at += 1;
  }

  choice(): Node {
    const items = [this.sequence()];
    for (this.space(); this.source[this.at] === '|'; this.space()) {
      this.at += 1;
      items.push(this.sequence());
    }
    return items.length === 1 ? items[0]! : { kind: 'choice', items };
  }

  sequence(): Node {
    const items: Node[] = [];
    for (this.space(); this.at < this.source.length && !'|)'.includes(this.source[this.at]!); this.space()) items.push(this.repeated());
    return { kind: 'sequence', items };
  }

  repeated(): Node {
    const item = this.atom();
    const rest = this.source.slice(this.at);
    const sign = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] }[rest[0] ?? ''];
    if (sign) {
      this.at += 1;
      return { kind: 'repeat', item, min: sign[0]!, max: sign[1]! };
    }
    const count = /^\{(\d+)(,(\d*))?\}/.exec(rest);
    if (!count) return item;
    this.at += count[0].length;
    const min = Number(count[1]);
    return { kind: 'repeat', item, min, max: count[2] === undefined ? min : count[3] ? Number(count[3]) : Infinity };
  }

  atom(): Node {
    const char = this.source[this.at];
    if (char === '"') return this.text();
    if (char === '[') return this.characters();
    if (char === '(') {
      this.at += 1;
      const inner = this.choice();
      this.space();
      if (this.source[this.at] !== ')') this.fail('open group');
      this.at += 1;
      return inner;
    }
    const name = /^[a-zA-Z0-9-]+/.exec(this.source.slice(this.at))?.[0];
    if (!name) this.fail('unexpected character');
    this.at += name.length;
    return { kind: 'rule', name };
  }

  char(): number {
    const point = this.source.codePointAt(this.at) ?? this.fail('end of input');
    this.at += point > 0xffff ? 2 : 1;
    if (point !== 0x5c) return point;
    const kind = this.source[this.at]!;
    this.at += 1;
    const simple: Record<string, number> = { n: 10, r: 13, t: 9, '\\': 0x5c, '"': 0x22, '[': 0x5b, ']': 0x5d };
    if (kind in simple) return simple[kind]!;
    const width = { x: 2, u: 4, U: 8 }[kind] ?? this.fail(`unknown escape ${kind}`);
    const value = Number.parseInt(this.source.slice(this.at, this.at + width), 16);
    this.at += width;
    return value;
  }

  text(): Node {
    this.at += 1;
    let text = '';
    while (this.source[this.at] !== '"') text += String.fromCodePoint(this.char());
    this.at += 1;
    return { kind: 'text', text };
  }

  characters(): Node {
    this.at += 1;
    const negated = this.source[this.at] === '^';
    if (negated) this.at += 1;
    const ranges: [number, number][] = [];
    while (this.source[this.at] !== ']') {
      const from = this.char();
      let to = from;
      if (this.source[this.at] === '-' && this.source[this.at + 1] !== ']') {
        this.at += 1;
        to = this.char();
      }
      ranges.push([from, to]);
    }
    this.at += 1;
    return { kind: 'class', negated, ranges };
  }
}

/** A grammar that texts can be held against, for tests without an engine. */
export class Gbnf {
  readonly #rules = new Map<string, Node>();
  #text = '';
  #memo = new Map<string, number[]>();

  constructor(source: string) {
    for (const line of source.split('\n')) {
      if (line.trim() === '') continue;
      const [name, body] = [line.slice(0, line.indexOf(' ::= ')), line.slice(line.indexOf(' ::= ') + 5)];
      const reader = new Reader(body);
      const node = reader.choice();
      if (reader.at < body.length) reader.fail('rest of rule');
      if (this.#rules.has(name)) throw new Error(`rule ${name} is there twice`);
      this.#rules.set(name, node);
    }
    for (const node of this.#rules.values()) this.#known(node);
  }

  #known(node: Node): void {
    if (node.kind === 'rule' && !this.#rules.has(node.name)) throw new Error(`rule ${node.name} is missing`);
    if (node.kind === 'sequence' || node.kind === 'choice') for (const item of node.items) this.#known(item);
    if (node.kind === 'repeat') this.#known(node.item);
  }

  /** True when the whole text is in the language of `root`. */
  accepts(text: string): boolean {
    this.#text = text;
    this.#memo = new Map();
    return this.#ends({ kind: 'rule', name: 'root' }, 0).includes(text.length);
  }

  #ends(node: Node, at: number): number[] {
    switch (node.kind) {
      case 'text':
        return this.#text.startsWith(node.text, at) ? [at + node.text.length] : [];
      case 'class': {
        const point = this.#text.codePointAt(at);
        if (point === undefined) return [];
        const inside = node.ranges.some(([from, to]) => point >= from && point <= to);
        return inside === node.negated ? [] : [at + (point > 0xffff ? 2 : 1)];
      }
      case 'rule': {
        const key = `${node.name}@${at}`;
        const known = this.#memo.get(key);
        if (known) return known;
        const ends = this.#ends(this.#rules.get(node.name)!, at);
        this.#memo.set(key, ends);
        return ends;
      }
      case 'choice':
        return [...new Set(node.items.flatMap((item) => this.#ends(item, at)))];
      case 'sequence':
        return node.items.reduce<number[]>((starts, item) => [...new Set(starts.flatMap((start) => this.#ends(item, start)))], [at]);
      case 'repeat':
        return this.#repeated(node, at);
    }
  }

  #repeated(node: Node & { kind: 'repeat' }, at: number): number[] {
    const ends = new Set<number>(node.min === 0 ? [at] : []);
    let starts = [at];
    for (let count = 1; count <= node.max && starts.length > 0; count += 1) {
      const next = [...new Set(starts.flatMap((start) => this.#ends(node.item, start)))];
      starts = count > node.min ? next.filter((end) => !ends.has(end)) : next;
      if (count >= node.min) for (const end of next) ends.add(end);
      if (next.every((end) => starts.includes(end) === false)) break;
    }
    return [...ends];
  }

  /** A text of the language, drawn with `random` (0 to 1); repetitions and recursion stay short. */
  sample(random: () => number): string {
    const sizes = this.#sizes();
    const size = (node: Node): number => {
      if (node.kind === 'rule') return sizes.get(node.name)!;
      if (node.kind === 'sequence') return Math.max(0, ...node.items.map(size));
      if (node.kind === 'choice') return Math.min(...node.items.map(size));
      return node.kind === 'repeat' && node.min > 0 ? size(node.item) : 0;
    };
    const write = (node: Node, depth: number): string => {
      switch (node.kind) {
        case 'text':
          return node.text;
        case 'class':
          return drawn(node, random);
        case 'rule':
          return write(this.#rules.get(node.name)!, depth + 1);
        case 'sequence':
          return node.items.map((item) => write(item, depth)).join('');
        case 'choice': {
          const least = Math.min(...node.items.map(size));
          const items = depth > DEEP ? node.items.filter((item) => size(item) === least) : node.items;
          return write(items[Math.floor(random() * items.length)]!, depth);
        }
        case 'repeat': {
          const more = depth > DEEP ? 0 : Math.floor(random() * (Math.min(node.max - node.min, MORE) + 1));
          return Array.from({ length: node.min + more }, () => write(node.item, depth)).join('');
        }
      }
    };
    return write({ kind: 'rule', name: 'root' }, 0);
  }

  /** How many rules lie inside one another in the shallowest text of each rule. */
  #sizes(): Map<string, number> {
    const sizes = new Map([...this.#rules.keys()].map((name) => [name, Infinity]));
    const of = (node: Node): number => {
      if (node.kind === 'rule') return 1 + sizes.get(node.name)!;
      if (node.kind === 'sequence') return Math.max(0, ...node.items.map(of));
      if (node.kind === 'choice') return Math.min(...node.items.map(of));
      return node.kind === 'repeat' && node.min > 0 ? of(node.item) : 0;
    };
    for (let changed = true; changed; ) {
      changed = false;
      for (const [name, node] of this.#rules) {
        const found = of(node);
        if (found < sizes.get(name)!) changed = Boolean(sizes.set(name, found));
      }
    }
    return sizes;
  }
}

/** Rules inside one another from which on a sample ends as soon as it can, and most repetitions beyond the least. */
const DEEP = 40;
const MORE = 3;

function drawn({ negated, ranges }: Node & { kind: 'class' }, random: () => number): string {
  if (negated) {
    const free = [...'aZ0 é世😀_~'].filter(
      (char) => !ranges.some(([from, to]) => char.codePointAt(0)! >= from && char.codePointAt(0)! <= to),
    );
    return free[Math.floor(random() * free.length)] ?? String.fromCodePoint(ranges.at(-1)![1] + 1);
  }
  const [from, to] = ranges[Math.floor(random() * ranges.length)]!;
  return String.fromCodePoint(from + Math.floor(random() * (to - from + 1)));
}
