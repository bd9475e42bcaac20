import { countOf } from '../../../onnx/constants.js';
import { bytes, constant, floatMatrix, norm } from './layer-patterns.js';
import { attributeOf } from './operations.js';
import { bound, either, type Found, op, type Pattern, type Place } from './pattern.js';
import type { Probe } from './probe.js';
import { numbersOf } from './value-facts.js';

/** Tables of an encoder's embeddings, by the names that patterns give their parts. */
export interface TablePlaces {
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

const one = (name: string): Pattern => constant(name, (found) => countOf(found) === 1);
const isRows: Parameters<typeof op>[2] = (node) => attributeOf(node, 'axis', 0) === 0;

/** Rows of a table, whose numbers may be bytes; `index` is what chooses them. */
function rows(): Pattern {
  const gather = (table: Pattern): Pattern => op('Gather', [table, bound('index')], isRows);
  const dequantised = (states: Pattern): Pattern =>
    either(op('DequantizeLinear', [states, one('scales'), one('zeros')]), op('DequantizeLinear', [states, one('scales')]));
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
function kindOf(index: string, probe: Probe): 'words' | 'types' | 'positions' | 'firstType' | undefined {
  if (probe.isInput(index, 'input_ids')) return 'words';
  if (probe.isInput(index, 'token_type_ids')) return 'types';
  const numbers = numbersOf(probe.fact(index));
  if (numbers?.length !== probe.text.length) return undefined;
  if (numbers.every((number) => number === 0)) return 'firstType';
  return numbers.every((number, at) => number === numbers[0]! + at) ? 'positions' : undefined;
}

/** The embeddings that a value is: the norm of the sum of words, positions and kinds of segments; undefined, or the value that does not fit. */
export function embeddings(value: string, found: Found, place: Place): TablePlaces | undefined {
  const { probe } = place;
  const normed = norm('norm', bound('sum'))(value, found, place);
  if (!normed) return undefined;
  const tables: Partial<Record<NonNullable<ReturnType<typeof kindOf>>, Found>> = {};
  for (const summand of summands(normed.sum as string, probe)) {
    const table = rows()(summand, {}, place);
    const kind = table && kindOf(table.index as string, probe);
    if (!kind || tables[kind]) return place.miss(summand);
    tables[kind] = table;
  }
  const { words, positions, types, firstType } = tables;
  if (!words || !positions || (types && firstType)) return undefined;
  return { words, positions, types, firstType, norm: normed, firstPosition: numbersOf(probe.fact(positions.index as string))![0]! };
}
