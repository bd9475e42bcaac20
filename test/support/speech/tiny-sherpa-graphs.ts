import { floats, integers, type OnnxGraph, type OnnxTensor, type OnnxValue } from '../models/writers/onnx-writer.js';

/** How likely what is said is, and how unlikely the rest. */
export const LIKELY = 20;

/** Rows in which the token of each frame is the likeliest, out of so many. */
export const likelihoods = (frames: readonly number[], count: number): number[] =>
  frames.flatMap((token) => Array.from({ length: count }, (_, number) => (number === token ? LIKELY : -LIKELY)));

/** A graph that gives constants, whatever comes in. */
export const constant = (
  inputs: readonly OnnxValue[],
  outputs: OnnxGraph['outputs'],
  of: OnnxGraph['initializers'],
  metadata = {},
): OnnxGraph => ({
  nodes: outputs.map(({ name }, index) => ({ op: 'Identity', inputs: [of[index]!.name], outputs: [name] })),
  initializers: of,
  inputs,
  outputs,
  metadata,
});

/** Frames, and `blank` behind them. */
export const padded = (frames: readonly number[], blank: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => frames[at] ?? blank);
/** Frames that a piece of live speech gives. */
export const PIECE = 4;
/** Pieces that are heard at most; all but the first say nothing. */
const PIECES = 64;
/** A graph that counts its pieces in its last state, and gives the rows of that piece. */
export function counting(
  [input, ...more]: readonly [OnnxValue, ...OnnxValue[]],
  states: readonly OnnxValue[],
  outputs: readonly OnnxValue[],
  rows: OnnxTensor,
  metadata: Readonly<Record<string, string>>,
): OnnxGraph {
  const counter = states.at(-1)!.name;
  const next = (name: string): string => `new_${name}`;
  return {
    nodes: [
      { op: 'Gather', inputs: ['pieces', counter], outputs: [outputs[0]!.name] },
      ...outputs.slice(1).map(({ name }) => ({ op: 'Identity', inputs: ['count'], outputs: [name] })),
      ...states.slice(0, -1).map(({ name }) => ({ op: 'Identity', inputs: [name], outputs: [next(name)] })),
      { op: 'Add', inputs: [counter, 'one'], outputs: [next(counter)] },
    ],
    initializers: [{ ...rows, name: 'pieces' }, integers('one', [1]), integers('count', [PIECE])],
    inputs: [input, ...more, ...states],
    outputs: [...outputs, ...states.map((state) => ({ ...state, name: next(state.name) }))],
    metadata,
  };
}

/** Rows or columns of each piece: the first says what is said, the others nothing. */
export const pieces = (dims: readonly number[], of: (frames: readonly number[]) => number[], said: readonly number[]): OnnxTensor =>
  floats('pieces', [PIECES, ...dims], Array.from({ length: PIECES }, (_, at) => of(at === 0 ? said : [])).flat());
