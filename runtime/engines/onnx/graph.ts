import { closeSync, fstatSync, openSync } from 'node:fs';
import { type ProtoField, ProtoFile } from '../../formats/onnx/protobuf.js';
import { type Constant, readConstant } from './constants.js';

const NAME_LIMIT = 4096;
const LIST_LIMIT = 4096;
/** Fields of the messages of onnx.proto that say how a graph hangs together. */
const MODEL = { graph: 7, opset: 8 };
const OPSET = { domain: 1, version: 2 };
const GRAPH = { node: 1, initializer: 5, input: 11, output: 12 };
const NODE = { input: 1, output: 2, op: 4, attribute: 5, domain: 7 };
const ATTRIBUTE = { name: 1, float: 2, int: 3, text: 4, tensor: 5, ints: 8 };
const VALUE = { name: 1, type: 2 };
const TYPE = { tensor: 1 };
const TENSOR_TYPE = { element: 1, shape: 2 };
const SHAPE = { dim: 1 };
const DIM = { value: 1, name: 2 };

/** What a node says beside its inputs; kinds that no operation here reads are left out. */
export type Attribute = number | string | readonly number[] | Constant;

/** One operation of a graph. */
export interface GraphNode {
  /** Operations outside the standard have their domain before them: `com.microsoft.Gelu`. */
  readonly op: string;
  /** An empty name leaves an optional input out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, Attribute>;
}

/** An input or output; a dimension that varies is -1. */
export interface GraphSlot {
  readonly name: string;
  /** Number of the element type in onnx.proto. */
  readonly element: number;
  readonly dims: readonly number[];
}

/** A graph's operations, in the order of their use, and where its weights lie. */
export interface Graph {
  readonly path: string;
  /** Version of the standard operations. */
  readonly opset: number;
  readonly nodes: readonly GraphNode[];
  readonly constants: ReadonlyMap<string, Constant>;
  readonly inputs: readonly GraphSlot[];
  readonly outputs: readonly GraphSlot[];
}

/** Reads a graph without its weights. For files that `inspectGraph` has found to be sound; throws RangeError for others. */
export function readGraph(path: string): Graph {
  const descriptor = openSync(path, 'r');
  try {
    return new Reader(new ProtoFile(descriptor, fstatSync(descriptor).size)).graph(path);
  } finally {
    closeSync(descriptor);
  }
}

class Reader {
  readonly #file: ProtoFile;
  readonly #constants = new Map<string, Constant>();

  constructor(file: ProtoFile) {
    this.#file = file;
  }

  graph(path: string): Graph {
    let opset = 0;
    const nodes: GraphNode[] = [];
    const inputs: GraphSlot[] = [];
    const outputs: GraphSlot[] = [];
    for (const field of this.#file.fields()) {
      if (field.number === MODEL.opset) opset = this.#opset(field) ?? opset;
      if (field.number !== MODEL.graph) continue;
      for (const part of this.#fields(field)) {
        if (part.number === GRAPH.node) nodes.push(this.#node(part));
        else if (part.number === GRAPH.initializer) this.#keep(readConstant(this.#file, part));
        else if (part.number === GRAPH.input) inputs.push(this.#slot(part));
        else if (part.number === GRAPH.output) outputs.push(this.#slot(part));
      }
    }
    for (const { op, outputs: names, attributes } of nodes) {
      const value = attributes.get('value');
      if (op === 'Constant' && typeof value === 'object' && 'dims' in value) this.#keep({ ...value, name: names[0] ?? '' });
    }
    // Older files list their weights among the inputs.
    return { path, opset, nodes, constants: this.#constants, inputs: inputs.filter(({ name }) => !this.#constants.has(name)), outputs };
  }

  #keep(constant: Constant): void {
    this.#constants.set(constant.name, constant);
  }

  #fields(field: ProtoField): Generator<ProtoField> {
    return this.#file.fields(field.start, field.end);
  }

  #text(field: ProtoField): string {
    return this.#file.text(field, NAME_LIMIT);
  }

  /** The version of the standard's operations, nothing for those of others. */
  #opset(field: ProtoField): number | undefined {
    let domain = '';
    let version = 0;
    for (const part of this.#fields(field)) {
      if (part.number === OPSET.domain) domain = this.#text(part);
      else if (part.number === OPSET.version) version = part.value;
    }
    return domain === '' || domain === 'ai.onnx' ? version : undefined;
  }

  #node(field: ProtoField): GraphNode {
    const inputs: string[] = [];
    const outputs: string[] = [];
    const attributes = new Map<string, Attribute>();
    let op = '';
    let domain = '';
    for (const part of this.#fields(field)) {
      if (part.number === NODE.input) inputs.push(this.#text(part));
      else if (part.number === NODE.output) outputs.push(this.#text(part));
      else if (part.number === NODE.op) op = this.#text(part);
      else if (part.number === NODE.domain) domain = this.#text(part);
      else if (part.number === NODE.attribute) this.#attribute(part, attributes);
    }
    while (inputs.at(-1) === '') inputs.pop();
    return { op: domain === '' || domain === 'ai.onnx' ? op : `${domain}.${op}`, inputs, outputs, attributes };
  }

  #attribute(field: ProtoField, attributes: Map<string, Attribute>): void {
    let name = '';
    let value: Attribute | undefined;
    const list: number[] = [];
    for (const part of this.#fields(field)) {
      if (part.number === ATTRIBUTE.name) name = this.#text(part);
      else if (part.number === ATTRIBUTE.float && part.wire === 5) value = this.#file.bytes(part, 4).readFloatLE(0);
      else if (part.number === ATTRIBUTE.int) value = part.signed;
      else if (part.number === ATTRIBUTE.text) value = this.#text(part);
      else if (part.number === ATTRIBUTE.tensor) value = readConstant(this.#file, part);
      else if (part.number === ATTRIBUTE.ints) list.push(...this.#file.signedIntegers(part, LIST_LIMIT));
    }
    const found = list.length > 0 ? list : value;
    if (found !== undefined) attributes.set(name, found);
  }

  #slot(field: ProtoField): GraphSlot {
    let name = '';
    let element = 0;
    const dims: number[] = [];
    for (const part of this.#fields(field)) {
      if (part.number === VALUE.name) name = this.#text(part);
      if (part.number !== VALUE.type) continue;
      for (const type of this.#fields(part)) {
        if (type.number !== TYPE.tensor) continue;
        for (const of of this.#fields(type)) {
          if (of.number === TENSOR_TYPE.element) element = of.value;
          else if (of.number === TENSOR_TYPE.shape) dims.push(...this.#dims(of));
        }
      }
    }
    return { name, element, dims };
  }

  *#dims(field: ProtoField): Generator<number> {
    for (const dim of this.#fields(field)) {
      if (dim.number !== SHAPE.dim) continue;
      const value = [...this.#fields(dim)].find(({ number }) => number === DIM.value)?.signed;
      yield value !== undefined && value >= 0 ? value : -1;
    }
  }
}
