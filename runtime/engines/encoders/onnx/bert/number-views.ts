/** Numbers of one value that are written out at most; a mask of 1024 by 1024 tokens has as many. */
export const NUMBER_LIMIT = 2 ** 20;

/** Numbers in a shape, each place found by steps; a step of 0 repeats what stands there, so that wide masks take no room. */
export interface View {
  readonly dims: readonly number[];
  readonly steps: readonly number[];
  readonly offset: number;
  readonly numbers: ArrayLike<number>;
}

const product = (dims: readonly number[]): number => dims.reduce((all, dim) => all * dim, 1);

/** Steps of numbers that lie one after the other, the last dimension fastest. */
function stepsOf(dims: readonly number[]): number[] {
  const steps = new Array<number>(dims.length).fill(1);
  for (let axis = dims.length - 2; axis >= 0; axis -= 1) steps[axis] = steps[axis + 1]! * dims[axis + 1]!;
  return steps;
}

/** The view of numbers that lie one after the other. */
export function view(dims: readonly number[], numbers: ArrayLike<number>): View {
  return { dims, steps: stepsOf(dims), offset: 0, numbers };
}

/** The shape that all of these become when dimensions of 1 are repeated; undefined where they do not fit. */
export function broadcast(all: readonly (readonly number[])[]): number[] | undefined {
  const rank = Math.max(0, ...all.map((dims) => dims.length));
  const out = new Array<number>(rank).fill(1);
  for (const dims of all)
    for (const [at, dim] of dims.entries()) {
      const axis = rank - dims.length + at;
      if (dim === 1 || out[axis] === dim) continue;
      if (out[axis] !== 1) return undefined;
      out[axis] = dim;
    }
  return out;
}

/** The same numbers in a wider shape. */
export function widened(source: View, dims: readonly number[]): View {
  const missing = dims.length - source.dims.length;
  const steps = dims.map((_, axis) => (axis < missing || source.dims[axis - missing] === 1 ? 0 : source.steps[axis - missing]!));
  return { ...source, dims, steps };
}

/** Places of a view's numbers, in the order of its shape. */
function* places({ dims, steps, offset }: View): Generator<number> {
  const index = new Array<number>(dims.length).fill(0);
  const count = product(dims);
  let place = offset;
  for (let at = 0; at < count; at += 1) {
    yield place;
    for (let axis = dims.length - 1; axis >= 0; axis -= 1) {
      place += steps[axis]!;
      index[axis]! += 1;
      if (index[axis]! < dims[axis]!) break;
      place -= steps[axis]! * dims[axis]!;
      index[axis] = 0;
    }
  }
}

/** All numbers one after the other; undefined where they are too many. */
export function flat(source: View): Float64Array | undefined {
  const count = product(source.dims);
  if (count > NUMBER_LIMIT) return undefined;
  const out = new Float64Array(count);
  let at = 0;
  for (const place of places(source)) out[at++] = source.numbers[place]!;
  return out;
}

/** Whether a test holds for every number, of which there may be `NUMBER_LIMIT`; what is repeated is looked at once. */
export function every(source: View, test: (value: number) => boolean): boolean {
  const dims = source.dims.map((dim, axis) => (source.steps[axis] === 0 ? Math.min(dim, 1) : dim));
  if (product(dims) > NUMBER_LIMIT) return false;
  for (const place of places({ ...source, dims })) if (!test(source.numbers[place]!)) return false;
  return true;
}

/** A function of the numbers at like places of views that are widened to one shape; undefined where they are too many or do not fit. */
export function mapped(sources: readonly View[], of: (...values: number[]) => number): View | undefined {
  const dims = broadcast(sources.map((source) => source.dims));
  if (!dims) return undefined;
  const wide = sources.map((source) => widened(source, dims));
  // What all repeat is worked out once.
  const narrow = dims.map((dim, axis) => (wide.every(({ steps }) => steps[axis] === 0) ? Math.min(dim, 1) : dim));
  const columns = wide.map((source) => flat({ ...source, dims: narrow }));
  if (columns.some((column) => column === undefined)) return undefined;
  const out = new Float64Array(product(narrow));
  for (let at = 0; at < out.length; at += 1) out[at] = of(...columns.map((column) => column![at]!));
  return widened(view(narrow, out), dims);
}
