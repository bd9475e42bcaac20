import type { EncoderShape } from '../../../../../native/contract.js';
import { type Constant, countOf } from '../../../onnx/constants.js';
import type { Graph } from '../../../onnx/graph.js';
import { activated, attention, bytes, constant, dense, floatMatrix, norm } from './layer-patterns.js';
import { attributeOf, intsOf } from './operations.js';
import { anything, bound, either, type Found, follow, known, near, number, op, type Pattern, Place } from './pattern.js';
import { Probe, type ProbeText } from './probe.js';
import { numbersOf } from './value-facts.js';

/** Length of the first text that is followed; the second is as long as the model reads. */
const SHORT = 7;
const LONGEST = 8192;
const LAYERS_LIMIT = 128;
const HEAD_LIMIT = 16;
const ACTIVATIONS = ['gelu', 'gelu_tanh', 'relu'];
const HEAD_ACTIVATIONS = ['gelu', 'relu', 'tanh', 'none'];
/** What all layers have in common. */
const COMMON = ['epsilon', 'heads', 'size', 'activation'];

/** A step after the layers, by the names that patterns give its parts. */
export type HeadPlaces = { readonly take: 'first' | 'mean' } | { readonly dense: Found };

/** A graph that is an encoder in BERT's shape, and where its weights lie, by the names that patterns give them. */
export interface Recognised {
  readonly shape: EncoderShape;
  readonly tables: TablePlaces;
  readonly layers: readonly Found[];
  /** In the order in which they are taken. */
  readonly head: readonly HeadPlaces[];
}

/** Why a graph is none, in words that follow "because". */
export class Unrecognised extends Error {}

/**
 * Finds an encoder in BERT's shape in the graph behind one of its outputs: every operation that the output hangs on is one of the shape's, in its place
 * and with its numbers, for a short text and for the longest one. `firstPosition` is what a text's `position_ids` begin with, where the graph takes
 * them. Throws Unrecognised for all other graphs.
 */
export function recognise(graph: Graph, output: string, firstPosition: number): Recognised {
  const short = walkGraph(graph, output, { length: SHORT, firstPosition, seed: 0 });
  const longest = short.shape.positions - short.shape.firstPosition;
  if (longest > LONGEST) throw new Unrecognised(`it has ${longest} positions, more than ${LONGEST}`);
  const long = walkGraph(graph, output, { length: longest, firstPosition, seed: 3 });
  if (JSON.stringify(long) !== JSON.stringify(short))
    throw new Unrecognised(`a text of ${longest} tokens goes another way than a short one`);
  return short;
}

/** The two halves of a layer: its network from the states `middle`, its attention from the states `states`. */
function layerPattern(): Pattern {
  const network = dense('down', activated('up', 'activation', ACTIVATIONS, bound('middle')));
  const attended = dense('output', attention(bound('states')));
  return follow(
    norm('outputNorm', op('Add', [network, bound('middle')])),
    'middle',
    norm('attentionNorm', op('Add', [attended, bound('states')])),
  );
}

/** What may stand after the layers; `inner` is what each step is done to. */
function headPatterns(length: number): readonly [Pattern, (found: Found) => HeadPlaces][] {
  const inner = bound('inner');
  const overTokens: Parameters<typeof op>[2] = (node, _found, { probe }) =>
    intsOf(node, 'axes', probe.fact(node.inputs[1] ?? ''))?.join() === '1' && attributeOf(node, 'keepdims', 1) === 0;
  const reduced = (name: string, states: Pattern): Pattern =>
    either(op(name, [states], overTokens), op(name, [states, anything], overTokens));
  const unmasked = either(op('Mul', [inner, known((value) => value === 1)]), inner);
  const mean = either(reduced('ReduceMean', inner), op('Div', [reduced('ReduceSum', unmasked), known((value) => value === length)]));
  const isFirst: Parameters<typeof op>[2] = (node, _found, { probe }) =>
    attributeOf(node, 'axis', 0) === 1 && probe.fact(node.inputs[1]!)?.dims.length === 0;
  return [
    [op('Gather', [inner, number(0)], isFirst), () => ({ take: 'first' })],
    [mean, () => ({ take: 'mean' })],
    [activated('head', 'head.activation', HEAD_ACTIVATIONS, inner), (found) => ({ dense: found })],
  ];
}

function walkGraph(graph: Graph, output: string, text: ProbeText): Recognised {
  const probe = new Probe(graph, text);
  const strange = probe.strangeInputs[0];
  if (strange !== undefined) throw new Unrecognised(`it takes the input "${strange}"`);
  const layer = layerPattern();
  const steps = headPatterns(text.length);
  const layers: Found[] = [];
  const head: HeadPlaces[] = [];
  for (let value = output; ; ) {
    const place = new Place(probe);
    const common = Object.fromEntries(COMMON.map((name) => [name, layers[0]?.[name]]));
    const found = layer(value, common, place);
    if (found) {
      if (layers.unshift(found) > LAYERS_LIMIT) throw new Unrecognised(`it has more than ${LAYERS_LIMIT} layers`);
      value = found.states as string;
      continue;
    }
    const tables = layers.length > 0 ? embeddingTables(value, { epsilon: common.epsilon }, place) : undefined;
    if (tables) return { shape: shapeOf(tables, layers), tables, layers, head };
    const step = layers.length > 0 || head.length >= HEAD_LIMIT ? undefined : stepAt(value, steps, new Place(probe), head);
    if (step === undefined) throw misfit(place, value, layers.length);
    value = step;
  }
}

/** The value before a step of the head, which is noted; undefined where there is none. */
function stepAt(value: string, steps: ReturnType<typeof headPatterns>, place: Place, head: HeadPlaces[]): string | undefined {
  for (const [pattern, made] of steps) {
    const found = pattern(value, {}, place);
    const step = found && made(found);
    // Of one row there is nothing to take once more.
    if (!step || ('take' in step && head.some((later) => 'take' in later))) continue;
    head.unshift(step);
    return found.inner as string;
  }
  return undefined;
}

function misfit(place: Place, value: string, layers: number): Unrecognised {
  const missed = place.missed ?? place.probe.seen(value);
  const what = place.probe.producer(missed)?.op ?? 'value';
  return new Unrecognised(
    `${what} "${missed}", ${layers === 0 ? 'at its end' : `${layers} layers before its end`}, is not where BERT has one`,
  );
}

function shapeOf(tables: TablePlaces, layers: readonly Found[]): EncoderShape {
  const first = layers[0]!;
  const [vocabulary, width] = (tables.words.table as Constant).dims as [number, number];
  const { heads, size, activation, epsilon } = first as {
    heads: number;
    size: number;
    activation: EncoderShape['activation'];
    epsilon: number;
  };
  if (heads * size !== width) throw new Unrecognised(`its ${heads} heads of ${size} columns are not its width, ${width}`);
  for (const { scale } of layers)
    if (!near((scale as number | undefined) ?? 1, 1 / Math.sqrt(size))) throw new Unrecognised(`its scores are scaled by ${scale}`);
  return {
    width,
    layers: layers.length,
    heads,
    inner: sizesOf(first, 'up')[1],
    vocabulary,
    positions: (tables.positions.table as Constant).dims[0]!,
    types: (tables.types?.table as Constant | undefined)?.dims[0] ?? 0,
    epsilon,
    activation,
    firstPosition: tables.firstPosition,
  };
}

/** Inputs and outputs of a linear layer, by its name in what is found. */
export function sizesOf(found: Found, name: string): readonly [inputs: number, outputs: number] {
  const turned = found[`${name}.turned`] as Constant | undefined;
  const { dims } = (turned ?? found[`${name}.weights`] ?? found[`${name}.bytes`]) as Constant;
  return turned ? [dims[1]!, dims[0]!] : [dims[0]!, dims[1]!];
}

/** Tables of an encoder's embeddings, by the names that patterns give their parts. */
interface TablePlaces {
  readonly words: Found;
  readonly positions: Found;
  /** Undefined where the graph has none. */
  readonly types: Found | undefined;
  /** The graph adds the first row of its kinds of segments to every token, and takes none. */
  readonly firstType: Found | undefined;
  readonly norm: Found;
  /** Row of the table of positions that a text's first token has. */
  readonly firstPosition: number;
}

const singleNumber = (name: string): Pattern => constant(name, (found) => countOf(found) === 1);

const isRows: Parameters<typeof op>[2] = (node) => attributeOf(node, 'axis', 0) === 0;

/** Rows of a table, whose numbers may be bytes; `index` is what chooses them. */
function tableRows(): Pattern {
  const gather = (table: Pattern): Pattern => op('Gather', [table, bound('index')], isRows);
  const dequantised = (states: Pattern): Pattern =>
    either(
      op('DequantizeLinear', [states, singleNumber('scales'), singleNumber('zeros')]),
      op('DequantizeLinear', [states, singleNumber('scales')]),
    );
  return either(gather(floatMatrix('table')), dequantised(gather(bytes('table'))), gather(dequantised(bytes('table'))));
}

/** Words, positions and kinds of segments; one more is a misfit anyway, and sums of sums could go on for ever. */
const SUMMANDS_READ = 4;

/** The values that are added up to a value, the first of them. */
function summands(value: string, probe: Probe): string[] {
  const open = [value];
  const found: string[] = [];
  while (open.length > 0 && found.length < SUMMANDS_READ) {
    const own = probe.seen(open.pop()!);
    const node = probe.producer(own);
    if (node?.op === 'Add') open.push(...node.inputs);
    else found.push(own);
  }
  return found;
}

/** What chooses a table's rows. */
function tableKind(index: string, probe: Probe): 'words' | 'types' | 'positions' | 'firstType' | undefined {
  if (probe.isInput(index, 'input_ids')) return 'words';
  if (probe.isInput(index, 'token_type_ids')) return 'types';
  const numbers = numbersOf(probe.fact(index));
  if (numbers?.length !== probe.text.length) return undefined;
  if (numbers.every((number) => number === 0)) return 'firstType';
  return numbers.every((number, at) => number === numbers[0]! + at) ? 'positions' : undefined;
}

/** The embeddings that a value is: the norm of the sum of words, positions and kinds of segments; undefined, or the value that does not fit. */
function embeddingTables(value: string, found: Found, place: Place): TablePlaces | undefined {
  const { probe } = place;
  const normed = norm('norm', bound('sum'))(value, found, place);
  if (!normed) return undefined;
  const tables: Partial<Record<NonNullable<ReturnType<typeof tableKind>>, Found>> = {};
  for (const summand of summands(normed.sum as string, probe)) {
    const table = tableRows()(summand, {}, place);
    const kind = table && tableKind(table.index as string, probe);
    if (!kind || tables[kind]) return place.miss(summand);
    tables[kind] = table;
  }
  const { words, positions, types, firstType } = tables;
  if (!words || !positions || (types && firstType)) return undefined;
  return { words, positions, types, firstType, norm: normed, firstPosition: numbersOf(probe.fact(positions.index as string))![0]! };
}
