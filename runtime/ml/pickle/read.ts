import { breathe } from '../../base/loop.js';
import { OP, REFUSED } from './opcodes.js';
import {
  Bytes,
  floatOf,
  integerOf,
  longOf,
  MAX_DEPTH,
  MAX_FILE_BYTES,
  MAX_NUMBER_CHARACTERS,
  MAX_VALUES,
  notPlain,
  type Plain,
  unescaped,
} from './values.js';

/** Opcodes between two looks at the clock. */
const STEPS_PER_LOOK = 2000;
/** Values that are put into a list or dict, or counted, between two looks at the clock. */
const VALUES_PER_LOOK = 2000;
/** Longest text as protocol 0 writes it, in bytes. */
const MAX_LINE_BYTES = 100_000;
/** Most members of one dict: it grows, and is listed, at once. */
const MAX_MEMBERS = 60_000;
/** Writers number what they remember without gaps; V8 keeps lists with gaps of up to this as they are. */
const MAX_MEMO_GAP = 1000;
const NEWEST_PROTOCOL = 5;

/**
 * Reads a pickle of plain data in protocols 0 to 5; tuples come as lists, bytes as views of `bytes`. It is a stack machine for the opcodes of
 * plain data only: any other, first of all those that call Python code, throws `invalid` with its name and place, and so does a file that is
 * cut off, has a value inside itself, or exceeds a limit of `plain.ts` (threat T12). Works in turns.
 */
export async function readPickle(bytes: Uint8Array): Promise<Plain> {
  if (bytes.length > MAX_FILE_BYTES) throw notPlain(`it has ${bytes.length} bytes; ${MAX_FILE_BYTES} are allowed`);
  const machine = new Machine(new Bytes(bytes));
  for (;;) {
    if (machine.run(STEPS_PER_LOOK)) break;
    await breathe();
  }
  await measure(machine.result);
  return machine.result;
}

type Dict = Record<string, unknown>;

/** Values that one opcode puts into a list or a dict, as far as they are not in it yet. */
interface Filling {
  readonly target: unknown[] | Dict;
  readonly values: readonly unknown[];
  done: number;
  /** Place of the opcode. */
  readonly at: number;
}

class Machine {
  readonly #bytes: Bytes;
  #stack: unknown[] = [];
  /** The stacks below each mark. */
  readonly #below: unknown[][] = [];
  readonly #memo: unknown[] = [];
  #filling: Filling | undefined;
  /** Members that were put into dicts. */
  readonly #members = new Map<object, number>();
  #steps = 0;
  result: Plain = null;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
  }

  /** Does so many steps at most, or a part of a long one; true when the pickle is at its end. */
  run(steps: number): boolean {
    if (this.#filling) this.#fill(this.#filling);
    for (let step = 0; step < steps && !this.#filling; step += 1) {
      this.#steps += 1;
      // Each value takes at most a step to make, one to remember and one to put away.
      if (this.#steps > 3 * MAX_VALUES) throw notPlain(`it has more than ${MAX_VALUES} values`);
      const at = this.#bytes.at;
      const op = this.#bytes.byte();
      if (op === OP.stop) return this.#stop(at);
      if (!this.#scalar(op, at) && !this.#container(op, at) && !this.#remember(op, at)) throw refusedAt(op, at);
    }
    return false;
  }

  #stop(at: number): true {
    if (this.#stack.length !== 1 || this.#below.length > 0) throw notPlain(`${this.#stack.length} values are left at its end, byte ${at}`);
    if (this.#bytes.left > 0) throw notPlain(`${this.#bytes.left} bytes follow its end at byte ${at}`);
    this.result = this.#stack[0] as Plain;
    return true;
  }

  #scalar(op: number, at: number): boolean {
    const value = this.#scalarOf(op, at);
    if (value === undefined) return false;
    this.#stack.push(value);
    return true;
  }

  #scalarOf(op: number, at: number): Plain | undefined {
    const bytes = this.#bytes;
    switch (op) {
      case OP.none: return null;
      case OP.newTrue: return true;
      case OP.newFalse: return false;
      case OP.binInt: return bytes.int32();
      case OP.binInt1: return bytes.count(1);
      case OP.binInt2: return bytes.count(2);
      case OP.binFloat: return bytes.double();
      case OP.long1: return longOf(bytes.take(bytes.count(1)), at);
      case OP.long4: return longOf(bytes.take(bytes.count(4)), at);
      case OP.int: return truthOr(bytes.line(MAX_NUMBER_CHARACTERS), at);
      case OP.long: return integerOf(bytes.line(MAX_NUMBER_CHARACTERS), at);
      case OP.float: return floatOf(bytes.line(MAX_NUMBER_CHARACTERS), at);
      case OP.unicode: return unescaped(bytes.line(MAX_LINE_BYTES), at);
      case OP.shortBinUnicode: return bytes.text(bytes.count(1));
      case OP.binUnicode: return bytes.text(bytes.count(4));
      case OP.binUnicode8: return bytes.text(bytes.count(8));
      case OP.shortBinBytes: return bytes.take(bytes.count(1));
      case OP.binBytes: return bytes.take(bytes.count(4));
      case OP.binBytes8: return bytes.take(bytes.count(8));
      default: return undefined;
    }
  } // biome-ignore format: one opcode a line

  #container(op: number, at: number): boolean {
    const stack = this.#stack;
    switch (op) {
      case OP.mark: this.#below.push(stack); this.#stack = []; return true;
      case OP.emptyList: case OP.emptyTuple: stack.push([]); return true;
      case OP.emptyDict: stack.push(dict()); return true;
      case OP.tuple1: case OP.tuple2: case OP.tuple3: return this.#tupleOf(op - OP.tuple1 + 1, at);
      case OP.list: case OP.tuple: return this.#push(this.#sinceMark(at));
      case OP.dict: { const values = this.#sinceMark(at); this.#push(dict()); return this.#set(values, at); }
      case OP.append: return this.#append([this.#pop(at)], at);
      case OP.appends: return this.#append(this.#sinceMark(at), at);
      case OP.setItem: { const value = this.#pop(at); return this.#set([this.#pop(at), value], at); }
      case OP.setItems: return this.#set(this.#sinceMark(at), at);
      default: return false;
    }
  } // biome-ignore format: one opcode a line

  #remember(op: number, at: number): boolean {
    const bytes = this.#bytes;
    switch (op) {
      case OP.proto: return checkProtocol(bytes.count(1), at);
      case OP.frame: return bytes.count(8) <= bytes.left || endedEarly(at);
      case OP.memoize: return this.#put(this.#memo.length, at);
      case OP.put: return this.#put(Number(integerOf(bytes.line(MAX_NUMBER_CHARACTERS), at)), at);
      case OP.binPut: return this.#put(bytes.count(1), at);
      case OP.longBinPut: return this.#put(bytes.count(4), at);
      case OP.get: return this.#get(Number(integerOf(bytes.line(MAX_NUMBER_CHARACTERS), at)), at);
      case OP.binGet: return this.#get(bytes.count(1), at);
      case OP.longBinGet: return this.#get(bytes.count(4), at);
      default: return false;
    }
  } // biome-ignore format: one opcode a line

  #push(value: unknown): true {
    this.#stack.push(value);
    return true;
  }

  #pop(at: number): unknown {
    if (this.#stack.length === 0) throw notPlain(`a value is missing at byte ${at}`);
    return this.#stack.pop();
  }

  #sinceMark(at: number): unknown[] {
    const below = this.#below.pop();
    if (below === undefined) throw notPlain(`a mark is missing at byte ${at}`);
    const values = this.#stack;
    this.#stack = below;
    return values;
  }

  #tupleOf(count: number, at: number): true {
    if (this.#stack.length < count) throw notPlain(`a value is missing at byte ${at}`);
    return this.#push(this.#stack.splice(-count));
  }

  #append(values: readonly unknown[], at: number): true {
    const list = this.#stack.at(-1);
    if (!Array.isArray(list)) throw notPlain(`there is no list to add to at byte ${at}`);
    return this.#fill({ target: list, values, done: 0, at });
  }

  #set(pairs: readonly unknown[], at: number): true {
    const target = this.#stack.at(-1);
    if (!isDict(target)) throw notPlain(`there is no dict to add to at byte ${at}`);
    if (pairs.length % 2 !== 0) throw notPlain(`a key has no value at byte ${at}`);
    const members = (this.#members.get(target) ?? 0) + pairs.length / 2;
    if (members > MAX_MEMBERS) throw notPlain(`the dict at byte ${at} has more than ${MAX_MEMBERS} members`);
    this.#members.set(target, members);
    return this.#fill({ target, values: pairs, done: 0, at });
  }

  #fill(filling: Filling): true {
    const { target, values, at } = filling;
    const until = Math.min(values.length, filling.done + VALUES_PER_LOOK);
    if (Array.isArray(target)) for (let i = filling.done; i < until; i += 1) target.push(values[i]);
    else
      for (let i = filling.done; i < until; i += 2) {
        const key = values[i];
        if (typeof key !== 'string') throw notPlain(`a dict at byte ${at} has a key that is no text`);
        target[key] = values[i + 1];
      }
    filling.done = until;
    this.#filling = until < values.length ? filling : undefined;
    return true;
  }

  #put(place: number, at: number): true {
    if (this.#stack.length === 0) throw notPlain(`a value is missing at byte ${at}`);
    if (place < 0 || place > this.#memo.length + MAX_MEMO_GAP || place > 3 * MAX_VALUES)
      throw notPlain(`value ${place}, remembered at byte ${at}, is far beyond the ${this.#memo.length} before it`);
    this.#memo[place] = this.#stack.at(-1);
    return true;
  }

  #get(place: number, at: number): true {
    if (!(place in this.#memo)) throw notPlain(`value ${place}, wanted at byte ${at}, is not there`);
    return this.#push(this.#memo[place]);
  }
}

/** Without a prototype, so that a key such as `__proto__` is one like any other. */
function dict(): Dict {
  return Object.create(null) as Dict;
}

function isDict(value: unknown): value is Dict {
  return isContainer(value) && !Array.isArray(value);
}

/** Protocol 0 writes True and False as integers with a leading zero. */
function truthOr(line: string, at: number): Plain {
  return line === '01' ? true : line === '00' ? false : integerOf(line, at);
}

function checkProtocol(protocol: number, at: number): true {
  if (protocol > NEWEST_PROTOCOL) throw notPlain(`protocol ${protocol}, at byte ${at}, is unknown`);
  return true;
}

function endedEarly(at: number): never {
  throw notPlain(`the frame at byte ${at} is longer than the file`);
}

function refusedAt(op: number, at: number): Error {
  const name = REFUSED[op] ?? `0x${op.toString(16).padStart(2, '0')}`;
  return notPlain(`opcode ${name} at byte ${at} is not allowed, since only plain data is read and no code is ever run`);
}

/** Throws for what is too deep, which a value inside itself always is, and for too many values, however they are shared. */
async function measure(top: unknown): Promise<void> {
  let values = 1;
  let seen = 0;
  const rest: [value: unknown, depth: number][] = [[top, 0]];
  for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
    const [value, depth] = one;
    seen += 1;
    if (seen % VALUES_PER_LOOK === 0) await breathe();
    if (!isContainer(value)) continue;
    if (depth === MAX_DEPTH) throw notPlain(`it is nested deeper than ${MAX_DEPTH} levels, or a value holds itself`);
    const members = Array.isArray(value) ? (value as unknown[]) : Object.values(value);
    values += members.length;
    if (values > MAX_VALUES) throw notPlain(`it has more than ${MAX_VALUES} values`);
    for (const member of members) {
      if (isContainer(member)) rest.push([member, depth + 1]);
      seen += 1;
      if (seen % VALUES_PER_LOOK === 0) await breathe();
    }
  }
}

function isContainer(value: unknown): value is object {
  return value !== null && typeof value === 'object' && !(value instanceof Uint8Array);
}
