import type { GraphNode } from '../../../onnx/graph.js';
import { broadcast, flat, NUMBER_LIMIT, view, widened } from './number-views.js';
import {
  concatenated,
  elementwise,
  expanded,
  type Fact,
  frontAxis,
  type Given,
  gathered,
  integersFact,
  known,
  numbersOf,
  reshaped,
  sliced,
  squeezed,
  transposed,
  unsqueezed,
} from './value-facts.js';

/** What an operation asks of the graph around it. */
export interface Surroundings {
  readonly opset: number;
  /** The numbers of a constant that stands in an attribute. */
  numbersIn(attribute: unknown): ArrayLike<number> | undefined;
}

/** What is known of an operation's first output, or of all; undefined for nothing. */
export type Operation = (given: Given, node: GraphNode, around: Surroundings) => Fact | undefined | readonly Fact[];

/** A number that is an attribute of a node. */
export function attributeOf({ attributes }: GraphNode, name: string, missing: number): number {
  const value = attributes.get(name);
  return typeof value === 'number' ? value : missing;
}

/** Whole numbers that are an attribute in older versions and an input in newer ones; undefined where there are none. */
export function intsOf({ attributes }: GraphNode, name: string, input?: Fact): number[] | undefined {
  const value = attributes.get(name);
  return Array.isArray(value) ? (value as number[]) : numbersOf(input);
}

/** Kinds of elements by their numbers in onnx.proto; all others are integers. */
const FLOATS = new Set([1, 10, 11, 16]);
const BOOL = 9;

/** Kind of an element type's numbers. */
export const kindOf = (element: number): Fact['kind'] => (FLOATS.has(element) ? 'float' : element === BOOL ? 'bool' : 'int');

const alike: Operation = ([first]) => first;
/** The shape of the first input; its numbers follow from words or weights. */
const shaped: Operation = ([first]) => first && { dims: first.dims, kind: first.kind };
const numeric =
  (of: (...values: number[]) => number): Operation =>
  (given) =>
    elementwise(given, given[0]?.kind ?? 'float', of);
const tested =
  (of: (...values: number[]) => boolean): Operation =>
  (given) =>
    elementwise(given, 'bool', (...values) => Number(of(...values)));

const divided: Operation = (given) =>
  elementwise(given, given[0]?.kind ?? 'float', (a, b) => (given[0]?.kind === 'int' ? Math.trunc(a / b) : a / b));

const clipped: Operation = ([of, low, high], { attributes }) => {
  const bound = (name: string, input: Fact | undefined, missing: number): number => {
    const value = attributes.get(name);
    return typeof value === 'number' ? value : (numbersOf(input)?.[0] ?? missing);
  };
  const [least, most] = [bound('min', low, Number.NEGATIVE_INFINITY), bound('max', high, Number.POSITIVE_INFINITY)];
  return elementwise([of], of?.kind ?? 'float', (value) => Math.min(most, Math.max(least, value)));
};

const cast: Operation = (given, node) => {
  const kind = kindOf(attributeOf(node, 'to', 1));
  return elementwise(given, kind, (value) => (kind === 'bool' ? Number(value !== 0) : kind === 'int' ? Math.trunc(value) : value));
};

const shapeOf: Operation = ([of], node) =>
  of && integersFact(of.dims.slice(attributeOf(node, 'start', 0), node.attributes.has('end') ? attributeOf(node, 'end', 0) : undefined));

const filled: Operation = ([shape], node, around) => {
  const dims = numbersOf(shape);
  const value = node.attributes.get('value');
  const number = value === undefined ? 0 : around.numbersIn(value)?.[0];
  if (!dims || number === undefined) return undefined;
  const kind = value === undefined ? 'float' : kindOf((value as { element: number }).element);
  return known(widened(view([], [number]), dims), kind);
};

const range: Operation = (given) => {
  const [start, limit, step] = given.map((one) => numbersOf(one)?.[0]);
  if (start === undefined || limit === undefined || !step) return undefined;
  const count = Math.max(0, Math.ceil((limit - start) / step));
  return count > NUMBER_LIMIT ? undefined : integersFact(Array.from({ length: count }, (_, at) => start + at * step));
};

const summedUp: Operation = ([of, axis], node) => {
  const numbers = of?.view && flat(of.view);
  const [along] = numbersOf(axis) ?? [];
  if (!of || !numbers || along === undefined || attributeOf(node, 'exclusive', 0) + attributeOf(node, 'reverse', 0) > 0) return undefined;
  const step = of.dims.slice(frontAxis(along, of.dims.length) + 1).reduce((all, dim) => all * dim, 1);
  const size = of.dims[frontAxis(along, of.dims.length)]!;
  for (let at = 0; at < numbers.length; at += 1) if (Math.floor(at / step) % size > 0) numbers[at]! += numbers[at - step]!;
  return known(view(of.dims, numbers), of.kind);
};

const cut: Operation = ([of, ...places], node) => {
  const [starts, ends, axes, steps] = ['starts', 'ends', 'axes', 'steps'].map((name, at) => intsOf(node, name, places[at]));
  if (!of || !starts || !ends || (places[2] && !axes) || (places[3] && !steps)) return undefined;
  let out = of;
  for (const [at, start] of starts.entries()) {
    const step = steps?.[at] ?? 1;
    if (step < 1) return undefined;
    out = sliced(out, frontAxis(axes?.[at] ?? at, of.dims.length), [start, ends[at]!, step]);
  }
  return out;
};

const concatenate: Operation = (given, node) => {
  const parts = given.filter((one) => one !== undefined);
  if (parts.length < given.length || parts.length === 0) return undefined;
  return concatenated(parts, frontAxis(attributeOf(node, 'axis', 0), parts[0]!.dims.length));
};

const product: Operation = ([a, b]) => {
  if (!a || !b || a.dims.length < 2 || b.dims.length < 2 || a.dims.at(-1) !== b.dims.at(-2)) return undefined;
  const outer = broadcast([a.dims.slice(0, -2), b.dims.slice(0, -2)]);
  return outer && { dims: [...outer, a.dims.at(-2)!, b.dims.at(-1)!], kind: 'float' };
};

const gemm: Operation = ([a, b], node) =>
  a && b && { dims: [a.dims[attributeOf(node, 'transA', 0) ? 1 : 0]!, b.dims[attributeOf(node, 'transB', 0) ? 0 : 1]!], kind: 'float' };

/** A sum or mean over axes; its numbers are known where all that is summed is one number, as a mask of ones. */
const reduced =
  (isSum: boolean): Operation =>
  ([of, axes], node) => {
    if (!of || (axes && !numbersOf(axes))) return undefined;
    const gone = new Set((intsOf(node, 'axes', axes) ?? of.dims.map((_, axis) => axis)).map((axis) => frontAxis(axis, of.dims.length)));
    const keeps = attributeOf(node, 'keepdims', 1) === 1;
    const dims = of.dims.flatMap((dim, axis) => (gone.has(axis) ? (keeps ? [1] : []) : [dim]));
    const numbers = numbersOf(of);
    if (!numbers?.every((number) => number === numbers[0])) return { dims, kind: of.kind };
    const count = isSum ? [...gone].reduce((all, axis) => all * of.dims[axis]!, 1) : 1;
    return known(widened(view([], [numbers[0]! * count]), dims), of.kind);
  };

/** What is known of the results of each operation that encoders are exported with. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  Add: numeric((a, b) => a + b),
  Sub: numeric((a, b) => a - b),
  Mul: numeric((a, b) => a * b),
  Div: divided,
  Pow: numeric((a, b) => a ** b),
  Min: numeric(Math.min),
  Max: numeric(Math.max),
  Sqrt: numeric(Math.sqrt),
  Reciprocal: numeric((a) => 1 / a),
  Neg: numeric((a) => -a),
  Abs: numeric(Math.abs),
  Floor: numeric(Math.floor),
  Equal: tested((a, b) => a === b),
  Less: tested((a, b) => a < b),
  LessOrEqual: tested((a, b) => a <= b),
  Greater: tested((a, b) => a > b),
  GreaterOrEqual: tested((a, b) => a >= b),
  Not: tested((a) => a === 0),
  And: tested((a, b) => a !== 0 && b !== 0),
  Or: tested((a, b) => a !== 0 || b !== 0),
  IsNaN: tested(Number.isNaN),
  Where: (given) => elementwise(given, given[1]?.kind ?? 'float', (test, a, b) => (test ? a : b)),
  Clip: clipped,
  Cast: cast,
  Identity: alike,
  Dropout: (given) => (given.length < 3 ? given[0] : undefined),
  Shape: shapeOf,
  ConstantOfShape: filled,
  Range: range,
  CumSum: summedUp,
  Slice: cut,
  Concat: concatenate,
  Gather: ([of, indices], node) => of && indices && gathered(of, indices, frontAxis(attributeOf(node, 'axis', 0), of.dims.length)),
  Transpose: ([of], node) => of && transposed(of, intsOf(node, 'perm') ?? of.dims.map((_, axis) => of.dims.length - 1 - axis)),
  Reshape: ([of, shape], node) => {
    const dims = numbersOf(shape);
    return of && dims && attributeOf(node, 'allowzero', 0) === 0 ? reshaped(of, dims) : undefined;
  },
  Expand: ([of, shape]) => {
    const dims = numbersOf(shape);
    return of && dims && expanded(of, dims);
  },
  Unsqueeze: ([of, axes], node) => {
    const places = intsOf(node, 'axes', axes);
    return of && places && unsqueezed(of, places);
  },
  Squeeze: ([of, axes], node) => of && squeezed(of, intsOf(node, 'axes', axes)),
  ReduceSum: reduced(true),
  ReduceMean: reduced(false),
  MatMul: product,
  MatMulInteger: product,
  Gemm: gemm,
  DequantizeLinear: ([of]) => of && { dims: of.dims, kind: 'float' },
  DynamicQuantizeLinear: ([of]) =>
    of && [
      { dims: of.dims, kind: 'int' },
      { dims: [], kind: 'float' },
      { dims: [], kind: 'int' },
    ],
  LayerNormalization: shaped,
  Softmax: shaped,
  Erf: shaped,
  Tanh: shaped,
  Relu: shaped,
  Gelu: shaped,
  'com.microsoft.Gelu': shaped,
};
