import type { TensorType } from '../../../../runtime/engines/onnx/contract.js';
import {
  bytesField,
  floatField,
  integerField,
  messageField,
  type ProtoParts,
  packedField,
  textField,
} from '../../../../runtime/formats/onnx/protobuf.js';

/** Numbers of the element types in onnx.proto. */
const ELEMENT_TYPES: Readonly<Record<TensorType, number>> = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9, float16: 10 };
/** Numbers of the attribute types in onnx.proto. */
const ATTRIBUTE_TYPES = { float: 1, int: 2, text: 3, tensor: 4, graph: 5, floats: 6, ints: 7, texts: 8 } as const;
/** Version of the file format that goes with opset 17. */
const IR_VERSION = 8;
const DEFAULT_OPSET = 17;
const EXTERNAL_LOCATION = 1;

/** A constant of a graph: its values, or where they lie in a file beside it. */
export interface OnnxTensor {
  readonly name: string;
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly values: Float32Array | Uint16Array | BigInt64Array | Int32Array | Uint8Array | Int8Array;
  /** The values are then not written; keys as in onnx.proto, such as `location`, `offset` and `length`. */
  readonly external?: Readonly<Record<string, string>>;
}

/** An attribute of a node; exactly one member, since numbers alone do not tell integers from floats. */
export type OnnxAttribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly text: string }
  | { readonly ints: readonly number[] }
  | { readonly floats: readonly number[] }
  | { readonly texts: readonly string[] }
  | { readonly tensor: OnnxTensor }
  | { readonly graph: OnnxGraph };

/** One operation; an empty input name leaves an optional input out. */
export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  /** Of operations outside the standard, such as `com.microsoft`. */
  readonly domain?: string;
}

/** An input or output; a dimension that varies has a name. */
export interface OnnxValue {
  readonly name: string;
  readonly type: TensorType;
  readonly dims: readonly (number | string)[];
}

/** A graph to be written; nodes in the order of their use. */
export interface OnnxGraph {
  readonly name?: string;
  readonly nodes: readonly OnnxNode[];
  readonly initializers: readonly OnnxTensor[];
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  /** Version of the standard operations; 17 where not given. */
  readonly opset?: number;
  /** Texts that some readers look for, such as a sampling rate. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** An ONNX file. Throws RangeError for values that do not fill their shape. */
export function writeOnnx(graph: OnnxGraph): Uint8Array {
  const domains = new Set(graph.nodes.map((node) => node.domain ?? ''));
  domains.add('');
  const opsets = [...domains].map((domain) => [
    ...textField(1, domain),
    ...integerField(2, domain === '' ? (graph.opset ?? DEFAULT_OPSET) : 1),
  ]);
  return Buffer.concat([
    ...integerField(1, IR_VERSION),
    ...textField(2, 'quern'),
    ...opsets.flatMap((opset) => messageField(8, opset)),
    ...messageField(7, graphParts(graph)),
    ...Object.entries(graph.metadata ?? {}).flatMap((entry) => messageField(14, entryParts(entry))),
  ]);
}

/** A constant of floats, such as weights. */
export function floats(name: string, dims: readonly number[], values: Float32Array | readonly number[]): OnnxTensor {
  return { name, type: 'float32', dims, values: Float32Array.from(values) };
}

/** A constant of 64-bit integers, such as a shape or axes; one dimension, none for a single number. */
export function integers(name: string, values: number | readonly number[]): OnnxTensor {
  const list = typeof values === 'number' ? [values] : values;
  return { name, type: 'int64', dims: typeof values === 'number' ? [] : [list.length], values: BigInt64Array.from(list, BigInt) };
}

function graphParts(graph: OnnxGraph): ProtoParts {
  return [
    ...graph.nodes.flatMap((node) => messageField(1, nodeParts(node))),
    ...textField(2, graph.name ?? 'graph'),
    ...graph.initializers.flatMap((tensor) => messageField(5, tensorParts(tensor))),
    ...graph.inputs.flatMap((value) => messageField(11, valueParts(value))),
    ...graph.outputs.flatMap((value) => messageField(12, valueParts(value))),
  ];
}

function nodeParts(node: OnnxNode): ProtoParts {
  return [
    ...node.inputs.flatMap((name) => textField(1, name)),
    ...node.outputs.flatMap((name) => textField(2, name)),
    ...textField(4, node.op),
    ...Object.entries(node.attributes ?? {}).flatMap(([name, value]) => messageField(5, attributeParts(name, value))),
    ...(node.domain === undefined ? [] : textField(7, node.domain)),
  ];
}

function attributeParts(name: string, value: OnnxAttribute): ProtoParts {
  const type = (kind: keyof typeof ATTRIBUTE_TYPES): ProtoParts => integerField(20, ATTRIBUTE_TYPES[kind]);
  const head = textField(1, name);
  if ('int' in value) return [...head, ...integerField(3, value.int), ...type('int')];
  if ('float' in value) return [...head, ...floatField(2, value.float), ...type('float')];
  if ('text' in value) return [...head, ...textField(4, value.text), ...type('text')];
  if ('ints' in value) return [...head, ...value.ints.flatMap((one) => integerField(8, one)), ...type('ints')];
  if ('floats' in value) return [...head, ...value.floats.flatMap((one) => floatField(7, one)), ...type('floats')];
  if ('texts' in value) return [...head, ...value.texts.flatMap((one) => textField(9, one)), ...type('texts')];
  if ('tensor' in value) return [...head, ...messageField(5, tensorParts(value.tensor)), ...type('tensor')];
  return [...head, ...messageField(6, graphParts(value.graph)), ...type('graph')];
}

function tensorParts({ name, type, dims, values, external }: OnnxTensor): ProtoParts {
  const head = [...packedField(1, dims), ...integerField(2, ELEMENT_TYPES[type]), ...textField(8, name)];
  if (external) {
    const entries = Object.entries(external).flatMap((entry) => messageField(13, entryParts(entry)));
    return [...head, ...entries, ...integerField(14, EXTERNAL_LOCATION)];
  }
  const count = dims.reduce((product, dim) => product * dim, 1);
  if (values.length !== count)
    throw new RangeError(`tensor ${name} has ${values.length} values, its shape [${dims.join(', ')}] needs ${count}`);
  return [...head, ...bytesField(9, new Uint8Array(values.buffer, values.byteOffset, values.byteLength))];
}

function valueParts({ name, type, dims }: OnnxValue): ProtoParts {
  const shape = dims.flatMap((dim) => messageField(1, typeof dim === 'number' ? integerField(1, dim) : textField(2, dim)));
  const tensor = [...integerField(1, ELEMENT_TYPES[type]), ...messageField(2, shape)];
  return [...textField(1, name), ...messageField(2, messageField(1, tensor))];
}

function entryParts([key, value]: readonly [string, string]): ProtoParts {
  return [...textField(1, key), ...textField(2, value)];
}
