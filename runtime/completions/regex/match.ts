import type { WorkLimit } from '../work-limit.js';
import { type Characters, includes, WORD_CHARACTERS } from './characters.js';
import type { Regex } from './syntax.js';

/** One step of a pattern; `next` and `other` are places in its program. */
type Instruction =
  | { op: 'set'; set: Characters; next: number }
  | { op: 'split'; next: number; other: number }
  | { op: 'start' | 'end'; next: number }
  | { op: 'boundary'; negated: boolean; next: number }
  | { op: 'look'; negated: boolean; program: Program; next: number }
  | { op: 'done' };

interface Program {
  readonly steps: Instruction[];
  readonly first: number;
  /** -1 = reads towards the beginning, as what looks behind does. */
  readonly direction: 1 | -1;
}

/** A regular expression without captures. */
export class Matcher {
  readonly #program: Program;

  /** Throws what `work` throws, for a pattern that is too large when its repetitions are written out. */
  constructor(regex: Regex, work: WorkLimit) {
    this.#program = program(regex, 1, work);
  }

  /** Whether the pattern is found in the text. Costs at most a tenth of a unit per instruction and character, but for looks that often succeed. */
  test(text: string, work: WorkLimit): boolean {
    work.spend(5 + text.length / 8);
    const search = new Search(
      Array.from(text, (char) => char.codePointAt(0)!),
      work,
    );
    return search.matches(this.#program, 0, search.points.length);
  }
}

function program(regex: Regex, direction: 1 | -1, work: WorkLimit): Program {
  const writer = new Writer(direction, work);
  const first = writer.write(regex, 0);
  return { steps: writer.steps, first, direction };
}

/** Writes a program from its end, so that each instruction knows what comes next. */
class Writer {
  readonly steps: Instruction[] = [{ op: 'done' }];

  constructor(
    readonly direction: 1 | -1,
    readonly work: WorkLimit,
  ) {}

  add(step: Instruction): number {
    this.work.spend();
    return this.steps.push(step) - 1;
  }

  /** The place where `regex` begins, when `next` comes after it. */
  write(regex: Regex, next: number): number {
    switch (regex.kind) {
      case 'set':
        return this.add({ op: 'set', set: regex.set, next });
      case 'sequence': {
        const items = this.direction === 1 ? [...regex.items].reverse() : regex.items;
        return items.reduce((after, item) => this.write(item, after), next);
      }
      case 'choice':
        return regex.items.map((item) => this.write(item, next)).reduce((a, b) => this.add({ op: 'split', next: a, other: b }));
      case 'repeat':
        return this.#repeat(regex, next);
      case 'boundary':
        return this.add({ op: 'boundary', negated: regex.negated, next });
      case 'look':
        return this.add({ op: 'look', negated: regex.negated, program: program(regex.item, regex.behind ? -1 : 1, this.work), next });
      default:
        return this.add({ op: regex.kind, next });
    }
  }

  #repeat({ item, min, max }: Regex & { kind: 'repeat' }, next: number): number {
    let at = next;
    if (max === Infinity) {
      const loop = { op: 'split' as const, next: 0, other: next };
      at = this.add(loop);
      loop.next = this.write(item, at);
    } else {
      for (let optional = max - min; optional > 0; optional -= 1) at = this.add({ op: 'split', next: this.write(item, at), other: next });
    }
    for (let count = 0; count < min; count += 1) at = this.write(item, at);
    return at;
  }
}

/** One text against one program and those inside it. Each pair of an instruction and a place is visited once. */
class Search {
  readonly #visited = new Map<Program, Uint32Array>();
  readonly #looks = new Map<Program, Map<number, boolean>>();

  constructor(
    readonly points: readonly number[],
    readonly work: WorkLimit,
  ) {}

  #seen(program: Program): Uint32Array {
    let seen = this.#visited.get(program);
    if (!seen) {
      // Clearing memory is quick: a unit for a kilobyte.
      this.work.spend(Math.ceil((program.steps.length * (this.points.length + 1)) / 8_192));
      seen = new Uint32Array(Math.ceil((program.steps.length * (this.points.length + 1)) / 32));
      this.#visited.set(program, seen);
    }
    return seen;
  }

  /** Whether the program matches from one of the places on. What failed from one is not tried again, since it fails from every other too. */
  matches(program: Program, first: number, last = first): boolean {
    const seen = this.#seen(program);
    const width = this.points.length + 1;
    const stack: number[] = [];
    for (let start = last; start >= first; start -= 1) stack.push(program.first, start);
    while (stack.length > 0) {
      const at = stack.pop()!;
      const step = stack.pop()!;
      this.work.spend(0.1);
      const pair = step * width + at;
      if (seen[pair >> 5]! & (1 << (pair & 31))) continue;
      seen[pair >> 5]! |= 1 << (pair & 31);
      const instruction = program.steps[step]!;
      if (instruction.op === 'done') return true;
      const moved = this.#moved(instruction, program.direction, at);
      if (moved < 0) continue;
      if (instruction.op === 'split') stack.push(instruction.other, at);
      stack.push(instruction.next, moved);
    }
    return false;
  }

  /** The place behind an instruction; -1 where it does not match. */
  #moved(instruction: Exclude<Instruction, { op: 'done' }>, direction: 1 | -1, at: number): number {
    switch (instruction.op) {
      case 'set': {
        const point = this.points[direction === 1 ? at : at - 1];
        return point !== undefined && includes(instruction.set, point) ? at + direction : -1;
      }
      case 'split':
        return at;
      case 'start':
        return at === 0 ? at : -1;
      case 'end':
        return at === this.points.length ? at : -1;
      case 'boundary':
        return (this.#word(at - 1) !== this.#word(at)) !== instruction.negated ? at : -1;
      case 'look':
        return this.#look(instruction.program, at) !== instruction.negated ? at : -1;
    }
  }

  #word(at: number): boolean {
    const point = this.points[at];
    return point !== undefined && includes(WORD_CHARACTERS, point);
  }

  /** A look is asked at many places: what matched before may be visited again, so each place has its own answer and its own visits. */
  #look(program: Program, at: number): boolean {
    let known = this.#looks.get(program);
    if (!known) {
      known = new Map();
      this.#looks.set(program, known);
    }
    const answer = known.get(at);
    if (answer !== undefined) return answer;
    const found = this.matches(program, at);
    if (found) this.#visited.delete(program);
    known.set(at, found);
    return found;
  }
}
