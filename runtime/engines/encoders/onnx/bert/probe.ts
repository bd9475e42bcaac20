import { type Constant, ConstantReader, countOf } from '../../../onnx/constants.js';
import type { Graph, GraphNode } from '../../../onnx/graph.js';
import { view } from './number-views.js';
import { kindOf, OPERATIONS } from './operations.js';
import { type Fact, known } from './value-facts.js';

/** Numbers of a constant that are read before anybody knows that it is a weight: of floats few, since only small ones steer a graph. */
const FLOATS_READ = 16;
const INTEGERS_READ = 2 ** 20;
/** Numbers that are worked out from shapes, all together; those of an encoder are some thousands. */
const COMPUTED_LIMIT = 2 ** 24;

/** Element types that a conversion keeps floats in. */
const isFloat = (element: unknown): boolean => typeof element === 'number' && kindOf(element) === 'float';

/** What each input of an encoder holds at a token, when one text alone goes through, which has no padding. */
const INPUTS: Readonly<Record<string, (at: number, probe: ProbeText) => number>> = {
  // Never a padding token: those are among the first of every vocabulary.
  input_ids: (at, { seed }) => 10 + ((at * 5 + seed) % 13),
  attention_mask: () => 1,
  token_type_ids: (at) => at % 2,
  position_ids: (at, { firstPosition }) => firstPosition + at,
};

/** A text in numbers, as long as is asked for. */
export interface ProbeText {
  readonly length: number;
  readonly firstPosition: number;
  /** Varies the words. */
  readonly seed: number;
}

/** A graph with what is known of all its values when one text of a certain length goes through it. */
export class Probe {
  readonly text: ProbeText;
  readonly #facts = new Map<string, Fact>();
  readonly #producers = new Map<string, GraphNode>();
  readonly #inputs: ReadonlySet<string>;
  readonly #graph: Graph;
  readonly #reader: ConstantReader;
  #room = COMPUTED_LIMIT;

  constructor(graph: Graph, text: ProbeText) {
    this.#graph = graph;
    this.#inputs = new Set(graph.inputs.map(({ name }) => name));
    this.text = text;
    this.#reader = new ConstantReader(graph.path);
    for (const constant of graph.constants.values()) this.#facts.set(constant.name, this.#constantFact(constant));
    for (const { name } of graph.inputs) {
      const value = Object.hasOwn(INPUTS, name) ? INPUTS[name] : undefined;
      const numbers = value && Array.from({ length: text.length }, (_, at) => value(at, text));
      if (numbers) this.#facts.set(name, known(view([1, text.length], numbers), 'int'));
    }
    for (const node of graph.nodes) this.#follow(node);
  }

  /** Inputs that no encoder takes. */
  get strangeInputs(): string[] {
    return [...this.#inputs].filter((name) => !Object.hasOwn(INPUTS, name));
  }

  /** Version of the standard operations. */
  get opset(): number {
    return this.#graph.opset;
  }

  fact(value: string): Fact | undefined {
    return this.#facts.get(value);
  }

  constant(value: string): Constant | undefined {
    return this.#graph.constants.get(value);
  }

  isInput(value: string, name: string): boolean {
    return value === name && this.#inputs.has(name);
  }

  /** The node that makes a value; undefined for inputs and constants. */
  producer(value: string): GraphNode | undefined {
    return this.#producers.get(value);
  }

  /** The value itself behind what changes nothing of it: another name, another precision, a layer that only training has. */
  seen(value: string): string {
    for (let at = value; ; ) {
      const node = this.#producers.get(at);
      if (!node || node.outputs[0] !== at) return at;
      const source = node.inputs[0] ?? '';
      const changesNothing =
        node.op === 'Identity' ||
        // A third input may turn on what training does.
        (node.op === 'Dropout' && node.inputs.length < 3) ||
        (node.op === 'Cast' && (isFloat(node.attributes.get('to')) || this.#inputs.has(source)));
      if (!changesNothing) return at;
      at = source;
    }
  }

  #follow(node: GraphNode): void {
    for (const input of node.inputs) if (!this.#isMade(input)) throw new RangeError(`"${input}" is used before it is made`);
    for (const output of node.outputs) {
      if (output === '') continue;
      if (this.#isTaken(output, node)) throw new RangeError(`"${output}" is made twice`);
      this.#producers.set(output, node);
    }
    const operation = Object.hasOwn(OPERATIONS, node.op) ? OPERATIONS[node.op] : undefined;
    const found = operation?.(
      node.inputs.map((name) => this.#facts.get(name)),
      node,
      { opset: this.#graph.opset, numbersIn: (value) => this.#reader.numbers(value as Constant) },
    );
    for (const [at, fact] of (found === undefined ? [] : Array.isArray(found) ? (found as Fact[]) : [found as Fact]).entries())
      if (node.outputs[at]) this.#keep(node.outputs[at], fact);
  }

  #keep(output: string, fact: Fact): void {
    // The numbers of a constant are read when they are asked for, and count where they are used.
    const isComputed = Object.getOwnPropertyDescriptor(fact, 'view')?.get === undefined;
    this.#room -= isComputed ? (fact.view?.numbers.length ?? 0) : 0;
    if (this.#room < 0) throw new RangeError(`it computes more than ${COMPUTED_LIMIT} numbers from its shapes`);
    this.#facts.set(output, fact);
  }

  /** Whether a value is there when a node takes it: nobody follows a graph that goes round in circles. */
  #isMade(value: string): boolean {
    return value === '' || this.#producers.has(value) || this.#inputs.has(value) || this.#graph.constants.has(value);
  }

  /** Whether the name of an output stands for another value: what is checked would be one, and what is computed the other. */
  #isTaken(output: string, { op }: GraphNode): boolean {
    const isOwn = op === 'Constant' && !this.#producers.has(output) && !this.#inputs.has(output);
    return this.#isMade(output) && !isOwn;
  }

  #constantFact(constant: Constant): Fact {
    const kind = kindOf(constant.element);
    const { dims } = constant;
    if (countOf(constant) > (kind === 'float' ? FLOATS_READ : INTEGERS_READ)) return { dims, kind };
    const reader = this.#reader;
    let numbers: ArrayLike<number> | undefined;
    return {
      dims,
      kind,
      get view() {
        numbers ??= reader.numbers(constant);
        return view(dims, numbers);
      },
    };
  }
}
