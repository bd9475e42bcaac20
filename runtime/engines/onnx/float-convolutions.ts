import { closeSync, fstatSync, openSync } from 'node:fs';
import {
  bytesField,
  integerField,
  messageField,
  type ProtoField,
  ProtoFile,
  type ProtoParts,
  packedField,
  textField,
} from '../../formats/onnx/protobuf.js';
import { type Constant, ConstantReader, countOf } from './constants.js';
import { type Graph, type GraphNode, readGraph } from './graph.js';

/** Fields of the messages of onnx.proto that are written anew. */
const MODEL = { graph: 7 };
const GRAPH = { node: 1, initializer: 5 };
const NODE = { input: 1, output: 2, op: 4, attribute: 5 };
const TENSOR = { dims: 1, type: 2, name: 8, raw: 9 };
const FLOAT = 1;
/** No field of a graph that can be opened is larger. */
const FIELD_BYTES = 2 ** 31;
/** Larger weights belong to short rows in the models of today: in floats they would take much memory and save little time. */
const MOST_WEIGHTS = 2 ** 20;
/** From the whole numbers of a bias back to its floats. */
const BIAS_STEPS: readonly (readonly string[])[] = [['Reshape'], ['Cast'], ['Floor', 'Round'], ['Div']];

/** A convolution of bytes with the operations that make floats of it, and what does the same in floats. */
interface Convolution {
  /** Its first operation: its attributes stay. */
  readonly node: GraphNode;
  /** Its last operation, in whose place the new one stands. */
  readonly last: GraphNode;
  readonly input: string;
  readonly weights: Constant;
  readonly zeroPoint: Constant;
  readonly scale: Constant;
  /** Name of the constant, in floats. */
  readonly bias: string | undefined;
}

/**
 * The bytes of an ONNX file whose convolutions of bytes (`DynamicQuantizeLinear`, `ConvInteger`, a bias, a scale) are convolutions of floats; undefined where
 * it has none. ONNX Runtime takes about twice as long for those of bytes on processors with AVX-512. Weights take four times their bytes, so
 * that the largest stay as they are, as does what is not understood. For files that `inspectGraph` has found to be sound and that keep their weights within; throws RangeError for others.
 */
export function withFloatConvolutions(path: string): Buffer | undefined {
  const graph = readGraph(path);
  // Graphs in graphs may use what a convolution leaves out.
  if (graph.nodes.some(({ op }) => op === 'If' || op === 'Loop' || op === 'Scan')) return undefined;
  const uses = new Uses(graph);
  const found = graph.nodes.flatMap((node) => uses.convolution(node) ?? []);
  if (found.length === 0) return undefined;
  for (const { last, input, bias } of found) uses.replace(last, [input, ...(bias === undefined ? [] : [bias])]);
  const descriptor = openSync(path, 'r');
  try {
    return new Rewriting(new ProtoFile(descriptor, fstatSync(descriptor).size), path, graph, uses, found).bytes();
  } finally {
    closeSync(descriptor);
  }
}

/** Who makes the values of a graph, and who uses them. */
class Uses {
  readonly #graph: Graph;
  readonly #makers = new Map<string, GraphNode>();
  readonly #users = new Map<string, GraphNode[]>();
  readonly #counts = new Map<string, number>();
  readonly #gone = new Set<GraphNode>();

  constructor(graph: Graph) {
    this.#graph = graph;
    for (const node of graph.nodes) {
      for (const name of node.outputs) this.#makers.set(name, node);
      for (const name of node.inputs) {
        this.#count(name, 1);
        const users = this.#users.get(name);
        if (users) users.push(node);
        else this.#users.set(name, [node]);
      }
    }
    for (const { name } of graph.outputs) this.#count(name, 1);
  }

  /** Whether a value of the graph as it is to be is used. */
  isUsed(name: string): boolean {
    return (this.#counts.get(name) ?? 0) > 0;
  }

  /** Whether an operation is left out of the graph as it is to be. */
  isGone(node: GraphNode): boolean {
    return this.#gone.has(node);
  }

  /** Gives an operation other inputs, and leaves out what only the old ones needed. */
  replace(node: GraphNode, inputs: readonly string[]): void {
    for (const name of inputs) this.#count(name, 1);
    this.#release(node);
  }

  #release({ inputs }: GraphNode): void {
    const waiting = [...inputs];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      this.#count(name, -1);
      const maker = this.#makers.get(name);
      if (!maker || this.#gone.has(maker) || maker.outputs.some((output) => this.isUsed(output))) continue;
      this.#gone.add(maker);
      waiting.push(...maker.inputs);
    }
  }

  /** What an operation is the beginning of; undefined where that is no convolution of bytes as quantising tools write it. */
  convolution(node: GraphNode): Convolution | undefined {
    if (node.op !== 'ConvInteger') return undefined;
    const { constants } = this.#graph;
    const [bytes = '', weightName = '', , zeroName = ''] = node.inputs;
    const quantised = this.#makers.get(bytes);
    let next = this.#onlyUser(node);
    const sum = next?.op === 'Add' ? next : undefined;
    if (sum) next = this.#onlyUser(sum);
    const last = next?.op === 'Cast' ? this.#onlyUser(next) : undefined;
    if (quantised?.op !== 'DynamicQuantizeLinear' || last?.op !== 'Mul') return undefined;
    const scales = this.#makers.get(otherInput(last, next!));
    const scale = scales?.op === 'Mul' ? scales.inputs.map((name) => constants.get(name)).find((one) => one !== undefined) : undefined;
    const [weights, zeroPoint] = [constants.get(weightName), constants.get(zeroName)];
    if (!scales?.inputs.includes(quantised.outputs[1]!) || !isOne(scale) || !isOne(zeroPoint) || !weights) return undefined;
    if (countOf(weights) > MOST_WEIGHTS) return undefined;
    const bias = sum && this.#biasOf(otherInput(sum, node));
    if (sum && bias === undefined) return undefined;
    return { node, last, input: quantised.inputs[0]!, weights, zeroPoint, scale, bias };
  }

  #biasOf(name: string): string | undefined {
    let at = name;
    for (const ops of BIAS_STEPS) {
      const maker = this.#makers.get(at);
      if (!maker || !ops.includes(maker.op)) return undefined;
      at = maker.inputs[0]!;
    }
    return this.#graph.constants.get(at)?.element === FLOAT ? at : undefined;
  }

  #onlyUser({ outputs }: GraphNode): GraphNode | undefined {
    const users = this.#users.get(outputs[0]!) ?? [];
    return users.length === 1 && this.#counts.get(outputs[0]!) === 1 ? users[0] : undefined;
  }

  #count(name: string, by: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }
}

const otherInput = ({ inputs }: GraphNode, { outputs }: GraphNode): string => inputs.find((name) => name !== outputs[0]) ?? '';

const isOne = (constant: Constant | undefined): constant is Constant => constant !== undefined && countOf(constant) === 1;

const floatName = ({ name }: Constant): string => `${name}/float`;

/** Copies a graph's file, convolutions replaced. */
class Rewriting {
  readonly #file: ProtoFile;
  readonly #graph: Graph;
  readonly #uses: Uses;
  readonly #convolutions: ReadonlyMap<GraphNode, Convolution>;
  readonly #reader: ConstantReader;
  /** Weights that are there in floats. */
  readonly #written = new Set<string>();
  #nodes = 0;

  constructor(file: ProtoFile, path: string, graph: Graph, uses: Uses, found: readonly Convolution[]) {
    this.#file = file;
    this.#graph = graph;
    this.#uses = uses;
    this.#convolutions = new Map(found.map((one) => [one.last, one]));
    this.#reader = new ConstantReader(path);
  }

  bytes(): Buffer {
    const attributes = this.#attributes();
    const parts = [...this.#file.fields()].flatMap((field) =>
      field.number === MODEL.graph ? messageField(MODEL.graph, this.#graphParts(field, attributes)) : this.#copy(field),
    );
    return Buffer.concat(parts);
  }

  /** The attributes of each operation that is replaced, as they are. */
  #attributes(): ReadonlyMap<GraphNode, ProtoParts> {
    const wanted = new Set([...this.#convolutions.values()].map(({ node }) => node));
    const attributes = new Map<GraphNode, ProtoParts>();
    let index = 0;
    for (const field of this.#file.fields()) {
      if (field.number !== MODEL.graph) continue;
      for (const part of this.#fields(field)) {
        if (part.number !== GRAPH.node) continue;
        const node = this.#graph.nodes[index++]!;
        if (!wanted.has(node)) continue;
        const own = [...this.#fields(part)].filter(({ number }) => number === NODE.attribute);
        attributes.set(
          node,
          own.flatMap((one) => this.#copy(one)),
        );
      }
    }
    return attributes;
  }

  #graphParts(field: ProtoField, attributes: ReadonlyMap<GraphNode, ProtoParts>): ProtoParts {
    return [...this.#fields(field)].flatMap((part) => {
      if (part.number === GRAPH.initializer) return this.#uses.isUsed(this.#nameOf(part)) ? this.#copy(part) : [];
      if (part.number !== GRAPH.node) return this.#copy(part);
      const node = this.#graph.nodes[this.#nodes++]!;
      const convolution = this.#convolutions.get(node);
      if (convolution) return this.#floatParts(convolution, attributes.get(convolution.node) ?? []);
      return this.#uses.isGone(node) ? [] : this.#copy(part);
    });
  }

  #floatParts({ last, input, weights, zeroPoint, scale, bias }: Convolution, attributes: ProtoParts): ProtoParts {
    const name = floatName(weights);
    const inputs = [input, name, ...(bias === undefined ? [] : [bias])];
    const node = messageField(GRAPH.node, [
      ...inputs.flatMap((one) => textField(NODE.input, one)),
      ...textField(NODE.output, last.outputs[0]!),
      ...textField(NODE.op, 'Conv'),
      ...attributes,
    ]);
    if (this.#written.has(name)) return node;
    this.#written.add(name);
    const [zero, step] = [this.#reader.numbers(zeroPoint)[0]!, this.#reader.numbers(scale)[0]!];
    const whole = this.#reader.weights(weights);
    const values = new Float32Array(whole.length);
    for (let index = 0; index < whole.length; index += 1) values[index] = (whole[index]! - zero) * step;
    const tensor = [
      ...packedField(TENSOR.dims, weights.dims),
      ...integerField(TENSOR.type, FLOAT),
      ...textField(TENSOR.name, name),
      ...bytesField(TENSOR.raw, new Uint8Array(values.buffer)),
    ];
    return [...node, ...messageField(GRAPH.initializer, tensor)];
  }

  #nameOf(tensor: ProtoField): string {
    for (const part of this.#fields(tensor)) if (part.number === TENSOR.name) return this.#file.text(part, FIELD_BYTES);
    return '';
  }

  #fields(field: ProtoField): Generator<ProtoField> {
    return this.#file.fields(field.start, field.end);
  }

  #copy(field: ProtoField): ProtoParts {
    if (field.wire === 0) return integerField(field.number, field.signed);
    if (field.wire === 2) return bytesField(field.number, this.#file.bytes(field, FIELD_BYTES));
    throw new RangeError(`a graph has no field ${field.number} of the kind ${field.wire}`);
  }
}
