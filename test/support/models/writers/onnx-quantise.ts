import type { OnnxGraph, OnnxNode, OnnxTensor } from './onnx-writer.js';

/** Weights are kept within 7 bits: sums of pairs then cannot overflow on CPUs without dot products of bytes. */
const LARGEST = 63;
const LARGEST_FULL = 127;

/** How a graph is made smaller. */
export interface QuantiseOptions {
  /** 8 bits of weight instead of 7; exact in ONNX Runtime only on CPUs with dot products of bytes (VNNI, ARM's dot product). */
  readonly fullRange?: boolean;
  /** Weights that stay floats, such as those whose other side has a few values far from the rest. */
  readonly keep?: (name: string) => boolean;
  /**
   * Largest values that each column of a matrix' other side takes, by that side's name. Columns that stand out are then divided by what their
   * weights are multiplied with (SmoothQuant, Xiao and others 2023, with equal shares), so that one scale serves all of them better.
   */
  readonly peaks?: ReadonlyMap<string, Float32Array>;
}

/**
 * Dynamic int8: each constant matrix of a MatMul as bytes with one scale per column, its other side quantised as it comes. The operations are
 * those that the usual tools write, so the runtime fuses them alike.
 */
export function quantised(graph: OnnxGraph, options: QuantiseOptions = {}): OnnxGraph {
  const weights = new Map(graph.initializers.map((tensor) => [tensor.name, tensor]));
  const chosen = new Map<OnnxNode, OnnxTensor>();
  for (const node of graph.nodes) {
    const weight = node.op === 'MatMul' ? weights.get(node.inputs[1]!) : undefined;
    if (weight?.dims.length === 2 && weight.type === 'float32' && !options.keep?.(weight.name)) chosen.set(node, weight);
  }
  for (const weight of chosen.values()) weights.delete(weight.name);
  const added: OnnxTensor[] = [];
  const sides = new Map<string, Side>();
  const nodes = graph.nodes.flatMap((node) => {
    const weight = chosen.get(node);
    if (!weight) return [node];
    const states = node.inputs[0]!;
    const before: OnnxNode[] = [];
    let side = sides.get(states);
    if (!side) {
      const partners = [...chosen].filter(([other]) => other.inputs[0] === states).map(([, partner]) => partner);
      side = byteSide(states, evenFactors(options.peaks?.get(states), partners), before, added);
      sides.set(states, side);
    }
    added.push(...byteWeight(weight, options.fullRange ? LARGEST_FULL : LARGEST, side.factors));
    return [...before, ...byteMatMul(node.outputs[0]!, side.names, weight.name)];
  });
  return { ...graph, nodes, initializers: [...weights.values(), ...added] };
}

/** What the other side of a matrix becomes: names of its bytes, scale and zero, and what the matrix' rows are multiplied with. */
interface Side {
  readonly names: readonly [bytes: string, scale: string, zero: string];
  readonly factors: Float32Array | undefined;
}

/** By row of the matrices that share a side: the root of its column's peak over that of the largest weight. */
function evenFactors(peaks: Float32Array | undefined, partners: readonly OnnxTensor[]): Float32Array | undefined {
  return peaks?.map((peak, row) => {
    let largest = 0;
    for (const { dims, values } of partners)
      for (let column = 0; column < dims[1]!; column += 1) largest = Math.max(largest, Math.abs(Number(values[row * dims[1]! + column])));
    return peak > 0 && largest > 0 ? Math.sqrt(peak / largest) : 1;
  });
}

function byteSide(states: string, factors: Float32Array | undefined, nodes: OnnxNode[], added: OnnxTensor[]): Side {
  let source = states;
  if (factors) {
    source = `${states}_even`;
    added.push({ name: `${states}_factors`, type: 'float32', dims: [factors.length], values: factors.map((factor) => 1 / factor) });
    nodes.push({ op: 'Mul', inputs: [states, `${states}_factors`], outputs: [source] });
  }
  const names = [`${states}_bytes`, `${states}_scale`, `${states}_zero`] as const;
  nodes.push({ op: 'DynamicQuantizeLinear', inputs: [source], outputs: names });
  return { names, factors };
}

function byteMatMul(output: string, [bytes, scale, zero]: Side['names'], weight: string): OnnxNode[] {
  return [
    { op: 'MatMulInteger', inputs: [bytes, `${weight}_bytes`, zero, `${weight}_zero`], outputs: [`${output}_sums`] },
    { op: 'Cast', inputs: [`${output}_sums`], outputs: [`${output}_floats`], attributes: { to: { int: 1 } } },
    { op: 'Mul', inputs: [scale, `${weight}_scale`], outputs: [`${output}_scale`] },
    { op: 'Mul', inputs: [`${output}_floats`, `${output}_scale`], outputs: [output] },
  ];
}

function byteWeight({ name, dims, values }: OnnxTensor, largest: number, factors: Float32Array | undefined): OnnxTensor[] {
  const [rows, columns] = dims as [number, number];
  const even = Float32Array.from(values as Float32Array, (value, at) => value * (factors?.[Math.floor(at / columns)] ?? 1));
  const scales = new Float32Array(columns);
  for (let at = 0; at < even.length; at += 1) scales[at % columns] = Math.max(scales[at % columns]!, Math.abs(even[at]!));
  for (let column = 0; column < columns; column += 1) scales[column] = scales[column]! / largest || 1;
  const bytes = Int8Array.from(even, (value, at) => Math.round(value / scales[at % columns]!));
  return [
    { name: `${name}_bytes`, type: 'int8', dims: [rows, columns], values: bytes },
    { name: `${name}_scale`, type: 'float32', dims: [columns], values: scales },
    { name: `${name}_zero`, type: 'int8', dims: [columns], values: new Int8Array(columns) },
  ];
}
