import type { Constant } from '../../../onnx/constants.js';
import { attributeOf, intsOf } from './operations.js';
import {
  all,
  anything,
  bind,
  bound,
  type Check,
  either,
  type Found,
  follow,
  known,
  naming,
  number,
  op,
  type Pattern,
  scalar,
  shaped,
} from './pattern.js';

/** Elements of matrices and vectors that are floats, and those that are bytes, by their numbers in onnx.proto. */
const FLOATS = new Set([1, 10]);
const BYTES = new Set([2, 3]);

/** A constant under a name. */
export const constant =
  (name: string, fits: (one: Constant) => boolean): Pattern =>
  (value, found, at) => {
    const one = at.probe.constant(at.probe.seen(value));
    return (one && fits(one) ? bind(found, name, one) : undefined) ?? at.miss(value);
  };
const rankOf = ({ dims }: Constant): number => dims.filter((dim, axis) => dim !== 1 || axis === dims.length - 1).length;

/** Floats, one per column, under a name. */
export const vector = (name: string): Pattern =>
  constant(name, (one) => FLOATS.has(one.element) && one.dims.length > 0 && rankOf(one) === 1);
/** A matrix of bytes under a name. */
export const bytes = (name: string): Pattern => constant(name, (one) => BYTES.has(one.element) && one.dims.length === 2);
/** One number, or one per column: scales and zero points. */
export const perColumn = (name: string): Pattern => constant(name, (one) => rankOf(one) <= 1);
/** A matrix of floats under a name. */
export const floatMatrix = (name: string): Pattern => constant(name, (one) => FLOATS.has(one.element) && one.dims.length === 2);
const matrix = (name: string): Pattern =>
  either(
    floatMatrix(`${name}.weights`),
    op('Transpose', [floatMatrix(`${name}.turned`)], (node) => intsOf(node, 'perm')?.join() === '1,0'),
  );

/** Whether an attribute names the last of a value's axes. */
const isLast = (axis: number, rank: number): boolean => axis === -1 || axis === rank - 1;
const rankAt = (value: string | undefined, { probe }: Parameters<Pattern>[2]): number => probe.fact(value ?? '')?.dims.length ?? 0;
const lastAxis =
  (missing: number, attribute = 'axis'): Check =>
  (node, _found, at) =>
    isLast(attributeOf(node, attribute, missing), rankAt(node.inputs[0], at));

/** The mean over the last axis, which stays with size 1; its axes are an attribute, or an input in newer versions. */
function mean(inner: Pattern): Pattern {
  const keeps: Check = (node, _found, at) => {
    const axes = intsOf(node, 'axes', at.probe.fact(node.inputs[1] ?? ''));
    return axes?.length === 1 && isLast(axes[0]!, rankAt(node.inputs[0], at)) && attributeOf(node, 'keepdims', 1) === 1;
  };
  return either(op('ReduceMean', [inner], keeps), op('ReduceMean', [inner, anything], keeps));
}

const epsilon = (found: Found, value: number): Found | undefined => bind(found, 'epsilon', Math.fround(value));

/** A layer normalisation, as one operation or as exporters spelled it before there was one. */
export function norm(name: string, inner: Pattern): Pattern {
  const scaled = (states: Pattern): Pattern => op('Add', [op('Mul', [states, vector(`${name}.weight`)]), vector(`${name}.bias`)]);
  const centred = op('Sub', [bound(`${name}.input`), mean(bound(`${name}.input`))]);
  const difference = either(all(bound(`${name}.centred`), centred), centred);
  const square = either(op('Pow', [difference, number(2)]), op('Mul', [difference, difference]));
  const deviation = op('Sqrt', [op('Add', [mean(square), scalar((own, found) => epsilon(found, own))])]);
  const spelled = scaled(op('Div', [difference, deviation]));
  const whole = op('LayerNormalization', [bound(`${name}.input`), vector(`${name}.weight`), vector(`${name}.bias`)], (node, found, at) =>
    lastAxis(-1)!(node, found, at) ? epsilon(found, attributeOf(node, 'epsilon', 1e-5)) : false,
  );
  return follow(either(whole, spelled), `${name}.input`, inner);
}

/** Output `index` of the operation that turns a value into bytes; the value is named. */
const bytesOf =
  (name: string, index: number): Pattern =>
  (value, found, { probe }) => {
    const node = probe.producer(value);
    return node?.op === 'DynamicQuantizeLinear' && node.outputs[index] === value
      ? bind(found, name, probe.seen(node.inputs[0]!))
      : undefined;
  };

/** A product of bytes, as the usual tools write it; the side of the states may have been multiplied by a factor per column. */
function byteProduct(name: string, inner: Pattern): Pattern {
  const side = `${name}.side`;
  const sums = either(
    op('MatMulInteger', [bytesOf(side, 0), bytes(`${name}.bytes`), bytesOf(side, 2), perColumn(`${name}.zeros`)]),
    op('MatMulInteger', [bytesOf(side, 0), bytes(`${name}.bytes`), bytesOf(side, 2)]),
  );
  const product = op('Mul', [sums, op('Mul', [bytesOf(side, 1), perColumn(`${name}.scales`)])]);
  return follow(product, side, either(op('Mul', [inner, vector(`${name}.inputScale`)]), inner));
}

/** A linear layer: floats or bytes, with a bias or without. */
export function dense(name: string, inner: Pattern): Pattern {
  const product = either(op('MatMul', [inner, matrix(name)]), byteProduct(name, inner));
  const isPlain: Check = (node) =>
    attributeOf(node, 'alpha', 1) === 1 && attributeOf(node, 'beta', 1) === 1 && attributeOf(node, 'transA', 0) === 0;
  const gemm = (weights: Pattern, transB: number): Pattern =>
    op(
      'Gemm',
      [inner, weights, vector(`${name}.bias`)],
      (node, found, at) => isPlain(node, found, at) && attributeOf(node, 'transB', 0) === transB,
    );
  return either(op('Add', [product, vector(`${name}.bias`)]), product, gemm(matrix(name), 0), gemm(floatMatrix(`${name}.turned`), 1));
}

/** x times something times 1/2, in any order. */
const halved = (x: Pattern, other: Pattern): Pattern =>
  either(
    op('Mul', [op('Mul', [x, other]), number(0.5)]),
    op('Mul', [op('Mul', [x, number(0.5)]), other]),
    op('Mul', [x, op('Mul', [other, number(0.5)])]),
  );

const SQRT_2_PI = Math.sqrt(2 / Math.PI);

/** GELU by the error function. */
function gelu(name: string): Pattern {
  const x = bound(name);
  const error = op('Erf', [either(op('Div', [x, number(Math.SQRT2)]), op('Mul', [x, number(Math.SQRT1_2)]))]);
  const isExact: Check = ({ attributes }) => (attributes.get('approximate') ?? 'none') === 'none';
  return either(halved(x, op('Add', [error, number(1)])), op('Gelu', [x], isExact), op('com.microsoft.Gelu', [x]));
}

/** GELU by the hyperbolic tangent. */
function tanhGelu(name: string): Pattern {
  const x = bound(name);
  const square = either(op('Mul', [x, x]), op('Pow', [x, number(2)]));
  const cube = either(op('Pow', [x, number(3)]), op('Mul', [square, x]));
  const inside = either(
    op('Mul', [op('Add', [x, op('Mul', [cube, number(0.044715)])]), number(SQRT_2_PI)]),
    op('Mul', [op('Mul', [x, number(SQRT_2_PI)]), op('Add', [op('Mul', [square, number(0.044715)]), number(1)])]),
  );
  const isTanh: Check = ({ attributes }) => attributes.get('approximate') === 'tanh';
  return either(halved(x, op('Add', [op('Tanh', [inside]), number(1)])), op('Gelu', [x], isTanh));
}

/** A linear layer `name` and what is done to each of its numbers, which is called `activation`. */
export function activated(name: string, activation: string, kinds: readonly string[], inner: Pattern): Pattern {
  const x = `${name}.result`;
  const known: Readonly<Record<string, Pattern>> = {
    gelu: gelu(x),
    gelu_tanh: tanhGelu(x),
    relu: op('Relu', [bound(x)]),
    tanh: op('Tanh', [bound(x)]),
    none: bound(x),
  };
  return follow(either(...kinds.map((kind) => naming(activation, kind, known[kind]!))), x, dense(name, inner));
}

/** Numbers of one shape with the numbers of heads and of columns in each, which are bound. */
const inHeads = (pattern: Pattern): Pattern =>
  shaped((dims, found, { text }) => {
    const [batch, length, heads, size] = dims;
    if (dims.length !== 4 || batch !== 1 || length !== text.length) return undefined;
    const sofar = bind(found, 'heads', heads);
    return sofar && bind(sofar, 'size', size);
  }, pattern);

/** Multiplied or divided by a number, which goes into `scale`, or not. */
const scaledPattern = (inner: Pattern): Pattern => {
  const times = (of: (scale: number, own: number) => number): Pattern =>
    scalar((own, found) => ({ ...found, scale: of((found.scale as number | undefined) ?? 1, own) }));
  return either(op('Mul', [inner, times((scale, own) => scale * own)]), op('Div', [inner, times((scale, own) => scale / own)]), inner);
};

const transposedPattern = (order: string, inner: Pattern): Pattern =>
  op('Transpose', [inner], (node) => intsOf(node, 'perm')?.join() === order);

/** A mask that leaves a text without padding as it is. */
function unmasked(inner: Pattern): Pattern {
  const zero = known((value) => value === 0);
  const once = (of: Pattern): Pattern =>
    either(op('Add', [of, zero]), op('Where', [zero, anything, of]), op('Where', [known((value) => value !== 0), of, anything]), of);
  return once(once(inner));
}

/** Attention with several heads over the states called `states`; binds `heads`, `size` and `scale`. */
export function attention(states: Pattern): Pattern {
  const parted = (inner: Pattern): Pattern => inHeads(op('Reshape', [inner, anything]));
  const asked = (name: string): Pattern => parted(scaledPattern(dense(name, states)));
  const query = scaledPattern(transposedPattern('0,2,1,3', asked('query')));
  const key = scaledPattern(
    either(
      transposedPattern('0,2,3,1', asked('key')),
      transposedPattern('0,1,3,2', scaledPattern(transposedPattern('0,2,1,3', asked('key')))),
    ),
  );
  const scores = unmasked(scaledPattern(op('MatMul', [query, key])));
  const softmax = op('Softmax', [scores], (node, found, at) => lastAxis(at.probe.opset < 13 ? 1 : -1)!(node, found, at));
  // A guard for texts that are nothing but padding.
  const guarded = op('Where', [op('IsNaN', [bound('shares')]), known((value) => value === 0), all(bound('shares'), softmax)]);
  const mixed = transposedPattern(
    '0,2,1,3',
    op('MatMul', [either(softmax, guarded), transposedPattern('0,2,1,3', parted(dense('value', states)))]),
  );
  const whole: Parameters<typeof shaped>[0] = (dims, found, { text }) =>
    dims.length === 3 && dims[0] === 1 && dims[1] === text.length ? found : undefined;
  return shaped(whole, op('Reshape', [mixed, anything]));
}
