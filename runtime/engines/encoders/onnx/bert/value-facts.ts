import { broadcast, flat, mapped, NUMBER_LIMIT, type View, view, widened } from './number-views.js';

/** What is known of a value: its shape, its kind, and its numbers where they follow from constants and the shape of the input alone. */
export interface Fact {
  readonly dims: readonly number[];
  readonly kind: 'float' | 'int' | 'bool';
  /** Undefined for what depends on words or weights. */
  readonly view?: View | undefined;
}

/** Inputs of a node as facts; undefined for an input that is left out, or of which nothing is known. */
export type Given = readonly (Fact | undefined)[];

/** A fact of known numbers. */
export function known(view: View, kind: Fact['kind']): Fact {
  return { dims: view.dims, kind, view };
}

/** A list of integers, such as a shape. */
export function integersFact(values: readonly number[]): Fact {
  return known(view([values.length], values), 'int');
}

/** The known numbers of a fact, one after the other. */
export function numbersOf(fact: Fact | undefined): number[] | undefined {
  const numbers = fact?.view && flat(fact.view);
  return numbers && Array.from(numbers);
}

/** The fact of an operation that works number by number. */
export function elementwise(given: Given, kind: Fact['kind'], of: (...values: number[]) => number): Fact | undefined {
  if (given.some((one) => one === undefined)) return undefined;
  const all = given as readonly Fact[];
  const dims = broadcast(all.map((one) => one.dims));
  if (!dims) return undefined;
  if (all.some((one) => one.view === undefined)) return { dims, kind };
  const result = mapped(
    all.map((one) => one.view!),
    of,
  );
  return result ? known(result, kind) : { dims, kind };
}

/** An axis counted from the front. */
export const frontAxis = (axis: number, rank: number): number => (axis < 0 ? axis + rank : axis);

/** The same numbers with their dimensions in another order. */
export function transposed({ dims, kind, view: source }: Fact, order: readonly number[]): Fact {
  if (order.length !== dims.length || new Set(order).size !== order.length || order.some((axis) => !(axis in dims)))
    throw new RangeError(`a Transpose of ${dims.length} axes has the order ${order.join(', ')}`);
  const turned = <Item>(list: readonly Item[]): Item[] => order.map((axis) => list[axis]!);
  return { dims: turned(dims), kind, view: source && { ...source, dims: turned(dims), steps: turned(source.steps) } };
}

/** The same numbers in a shape of as many: 0 keeps a dimension, -1 takes what is left. */
export function reshaped({ dims, kind, view: source }: Fact, shape: readonly number[]): Fact | undefined {
  const count = dims.reduce((all, dim) => all * dim, 1);
  const kept = shape.map((dim, axis) => (dim === 0 ? (dims[axis] ?? 0) : dim));
  const others = kept.filter((dim) => dim !== -1).reduce((all, dim) => all * dim, 1);
  const out = kept.map((dim) => (dim === -1 ? count / others : dim));
  if (out.reduce((all, dim) => all * dim, 1) !== count) return undefined;
  const numbers = source && flat(source);
  return { dims: out, kind, view: numbers && view(out, numbers) };
}

/** The same numbers repeated along dimensions of 1. */
export function expanded({ dims, kind, view: source }: Fact, shape: readonly number[]): Fact | undefined {
  const wide = broadcast([dims, shape]);
  return wide && { dims: wide, kind, view: source && widened(source, wide) };
}

/** Dimensions of 1 put in at places of the result. */
export function unsqueezed({ dims, kind, view: source }: Fact, axes: readonly number[]): Fact {
  const rank = dims.length + axes.length;
  const places = new Set(axes.map((axis) => frontAxis(axis, rank)));
  let next = 0;
  const from = Array.from({ length: rank }, (_, axis) => (places.has(axis) ? -1 : next++));
  const out = from.map((axis) => (axis < 0 ? 1 : dims[axis]!));
  return { dims: out, kind, view: source && { ...source, dims: out, steps: from.map((axis) => (axis < 0 ? 0 : source.steps[axis]!)) } };
}

/** Dimensions of 1 taken out; all of them where no axes are given. */
export function squeezed({ dims, kind, view: source }: Fact, axes: readonly number[] | undefined): Fact | undefined {
  const gone = new Set(axes?.map((axis) => frontAxis(axis, dims.length)) ?? dims.flatMap((dim, axis) => (dim === 1 ? [axis] : [])));
  if ([...gone].some((axis) => dims[axis] !== 1)) return undefined;
  const left = <Item>(list: readonly Item[]): Item[] => list.filter((_, axis) => !gone.has(axis));
  return { dims: left(dims), kind, view: source && { ...source, dims: left(dims), steps: left(source.steps) } };
}

/** One axis cut from `start` to `end` by `step`, as Python slices; steps go forward. */
export function sliced({ dims, kind, view: source }: Fact, axis: number, [start, end, step]: readonly [number, number, number]): Fact {
  const size = dims[axis]!;
  const inside = (place: number): number => Math.min(size, Math.max(0, place < 0 ? place + size : place));
  const count = Math.max(0, Math.ceil((inside(end) - inside(start)) / step));
  const out = dims.with(axis, count);
  return {
    dims: out,
    kind,
    view: source && {
      ...source,
      dims: out,
      offset: source.offset + inside(start) * source.steps[axis]!,
      steps: source.steps.with(axis, source.steps[axis]! * step),
    },
  };
}

/** Slices of an axis by their indices, which may have any shape. */
export function gathered({ dims, kind, view: source }: Fact, indices: Fact, axis: number): Fact | undefined {
  if (!(axis in dims)) return undefined;
  const out = [...dims.slice(0, axis), ...indices.dims, ...dims.slice(axis + 1)];
  const chosen = numbersOf(indices);
  const numbers = source && chosen ? flat(source) : undefined;
  const size = dims[axis]!;
  const inner = dims.slice(axis + 1).reduce((all, dim) => all * dim, 1);
  if (!numbers || !chosen || chosen.length * (numbers.length / size) > NUMBER_LIMIT) return { dims: out, kind };
  const outer = dims.slice(0, axis).reduce((all, dim) => all * dim, 1);
  const values: number[] = [];
  for (let block = 0; block < outer; block += 1)
    for (const index of chosen) {
      const place = frontAxis(index, size);
      if (place < 0 || place >= size) return undefined;
      for (let at = 0; at < inner; at += 1) values.push(numbers[(block * size + place) * inner + at]!);
    }
  return known(view(out, values), kind);
}

/** Values one after the other along an axis. */
export function concatenated(parts: readonly Fact[], axis: number): Fact {
  const { dims, kind } = parts[0]!;
  const total = parts.reduce((sum, part) => sum + part.dims[axis]!, 0);
  const out = dims.with(axis, total);
  // Only lists, such as shapes, are put together from numbers.
  const numbers = dims.length === 1 && total <= NUMBER_LIMIT ? parts.map(numbersOf) : [undefined];
  return numbers.includes(undefined) ? { dims: out, kind } : known(view(out, numbers.flat() as number[]), kind);
}
