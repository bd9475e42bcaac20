import type { GraphNode } from '../../../onnx/graph.js';
import { every } from './number-views.js';
import type { Probe } from './probe.js';

/** What a pattern has found so far, by the names that it gives. */
export type Found = Readonly<Record<string, unknown>>;

/** Looks whether a value of a graph is made in a certain way; the names found, undefined where it is not. */
export type Pattern = (value: string, found: Found, at: Place) => Found | undefined;

/** Numbers in graphs are compared to this part of themselves: 16-bit floats have eleven bits. */
const TOLERANCE = 1e-3;
/** Steps that a value lies deeper when it follows another: more than patterns have in themselves. */
const FOLLOWED = 100;
/** Operations whose inputs may stand in any order. */
const COMMUTATIVE = new Set(['Add', 'Mul']);

/** Whether two numbers are the same but for rounding. */
export const near = (a: number, b: number): boolean => Math.abs(a - b) <= TOLERANCE * Math.abs(b);

/** The value that did not fit, and how deep below the first one it lies. */
interface Miss {
  readonly value: string;
  readonly depth: number;
}

/** Where a pattern is tried, and how far patterns came before they failed. */
export class Place {
  readonly probe: Probe;
  #depth = 0;
  #miss: Miss | undefined;

  constructor(probe: Probe) {
    this.probe = probe;
  }

  /** The first value that did not fit, of those that lie deepest; nothing of what fitted in another way. */
  get missed(): string | undefined {
    return this.#miss?.value;
  }

  /** Matches what lies some steps below the present value. */
  deeper(match: () => Found | undefined, steps = 1): Found | undefined {
    this.#depth += steps;
    try {
      return match();
    } finally {
      this.#depth -= steps;
    }
  }

  /** The first of several ways that fits. */
  first(ways: readonly (() => Found | undefined)[]): Found | undefined {
    const before = this.#miss;
    for (const way of ways) {
      const result = way();
      if (!result) continue;
      this.#miss = before;
      return result;
    }
    return undefined;
  }

  miss(value: string): undefined {
    if (this.#depth > (this.#miss?.depth ?? -1)) this.#miss = { value: this.probe.seen(value), depth: this.#depth };
    return undefined;
  }
}

/** Gives what is found under a name; fails where the name already stands for something else. */
export function bind(found: Found, name: string, value: unknown): Found | undefined {
  if (found[name] === undefined) return { ...found, [name]: value };
  return found[name] === value ? found : undefined;
}

/** Any value, under a name; the same value wherever the name stands. */
export const bound =
  (name: string): Pattern =>
  (value, found, at) =>
    bind(found, name, at.probe.seen(value)) ?? at.miss(value);

/** Any value. */
export const anything: Pattern = (_value, found) => found;

/** The first pattern that fits. */
export const either =
  (...patterns: readonly Pattern[]): Pattern =>
  (value, found, at) =>
    at.first(patterns.map((pattern) => () => pattern(value, found, at)));

/** All patterns, one after the other. */
export const all =
  (...patterns: readonly Pattern[]): Pattern =>
  (value, found, at) =>
    patterns.reduce<Found | undefined>((sofar, pattern) => sofar && pattern(value, sofar, at), found);

/** A pattern, and then another one at a value that the first has named. */
export const follow =
  (first: Pattern, name: string, next: Pattern): Pattern =>
  (value, found, at) => {
    const result = first(value, found, at);
    return result && at.deeper(() => next(result[name] as string, result, at), FOLLOWED);
  };

/** A pattern that also gives a name something. */
export const naming =
  (name: string, given: unknown, pattern: Pattern): Pattern =>
  (value, found, at) => {
    const result = pattern(value, found, at);
    return result && bind(result, name, given);
  };

/** What an operation's attributes must be; its node as found, and what is named so far. */
export type Check = (node: GraphNode, found: Found, at: Place) => Found | boolean | undefined;

/** The first output of an operation whose inputs fit, all of them, and whose attributes pass. */
export function op(name: string, inputs: readonly Pattern[], check: Check = () => true): Pattern {
  return (value, found, at) => {
    const own = at.probe.seen(value);
    const node = at.probe.producer(own);
    if (node?.op !== name || node.outputs[0] !== own || node.inputs.length !== inputs.length) return at.miss(own);
    const checked = check(node, found, at);
    if (checked === false || checked === undefined) return at.miss(own);
    const start = checked === true ? found : checked;
    const inOrder = (order: readonly string[]): Found | undefined =>
      inputs.reduce<Found | undefined>((sofar, pattern, index) => sofar && pattern(order[index]!, sofar, at), start);
    const orders = COMMUTATIVE.has(name) ? [node.inputs, node.inputs.toReversed()] : [node.inputs];
    return at.deeper(() => at.first(orders.map((order) => () => inOrder(order))));
  };
}

/** The one number that a value is. */
function scalarOf(value: string, { probe }: Place): number | undefined {
  const fact = probe.fact(probe.seen(value));
  return fact?.view && fact.dims.every((dim) => dim === 1) ? fact.view.numbers[fact.view.offset] : undefined;
}

/** A number. */
export const number =
  (wanted: number): Pattern =>
  (value, found, at) => {
    const own = scalarOf(value, at);
    return own !== undefined && near(own, wanted) ? found : at.miss(value);
  };

/** Any one number, as `take` keeps it. */
export const scalar =
  (take: (own: number, found: Found) => Found | undefined): Pattern =>
  (value, found, at) => {
    const own = scalarOf(value, at);
    return (own === undefined ? undefined : take(own, found)) ?? at.miss(value);
  };

/** Numbers that are all as a test wants them, whatever their shape. */
export const known =
  (test: (value: number) => boolean): Pattern =>
  (value, found, at) => {
    const seen = at.probe.fact(value)?.view;
    return seen && every(seen, test) ? found : at.miss(value);
  };

/** A pattern for a value of a certain shape; what `dims` gives is bound, as by `bind`, where it does not fail. */
export const shaped =
  (dims: (own: readonly number[], found: Found, probe: Probe) => Found | undefined, pattern: Pattern): Pattern =>
  (value, found, at) => {
    const fact = at.probe.fact(at.probe.seen(value));
    const start = fact && dims(fact.dims, found, at.probe);
    return start ? pattern(value, start, at) : at.miss(value);
  };
