import { basename } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { fileFault, renderValue } from './cursor.js';
import { ADAPTER, type FilePart, type GgufHeader, readPart } from './header.js';
import type { TensorEntry } from './tensors.js';

/** Number formats in which the engine multiplies by an adapter's matrices wherever the weights lie. */
const TYPES: ReadonlySet<string> = new Set(['F32', 'F16', 'BF16', 'Q8_0']);
const PART = /^(.+)\.lora_([ab])$/;
const EMBEDDING = 'token_embd.weight';
const ANOTHER = 'Name an adapter that was made for this model, or the model that it was made for.';

/** The two matrices by whose product a tensor is changed. */
interface Pair {
  a?: TensorEntry;
  b?: TensorEntry;
}

function kindOf(file: string, { metadata, types }: FilePart): void {
  const type = metadata.get('general.type');
  if (type !== ADAPTER)
    throw fileFault(file, 'general.type', type ?? 'missing', 'an adapter is needed', 'Name a LoRA adapter that was converted to GGUF.');
  const kind = metadata.get('adapter.type');
  if (kind !== 'lora') throw fileFault(file, 'adapter.type', kind ?? 'missing', 'only lora is run', 'Name a LoRA adapter.');
  const alpha = metadata.get('adapter.lora.alpha');
  // The engine ends the process for a value of another type.
  if (alpha !== undefined && (types.get('adapter.lora.alpha') !== 'f32' || !Number.isFinite(alpha)))
    throw fileFault(file, 'adapter.lora.alpha', typeof alpha === 'object' ? 'an array' : alpha, 'a finite number of type f32 is needed');
  if (metadata.has('adapter.alora.invocation_tokens'))
    throw fileFault(
      file,
      'adapter.alora.invocation_tokens',
      'given',
      'adapters that begin to act in the middle of a text are not run',
      'Name a plain LoRA adapter.',
    );
}

function pairsOf(file: string, { tensors }: FilePart): Map<string, Pair> {
  const pairs = new Map<string, Pair>();
  for (const [name, entry] of tensors) {
    const [, target, side] = PART.exec(name) ?? [];
    if (target === undefined)
      throw fileFault(file, 'tensor', name, 'each is a .lora_a or .lora_b', 'Convert the adapter without whole tensors beside its pairs.');
    if (!TYPES.has(entry.type)) throw fileFault(file, `type of tensor ${name}`, entry.type, `${[...TYPES].join(', ')} are run`);
    const pair = pairs.get(target) ?? {};
    pair[side as 'a' | 'b'] = entry;
    pairs.set(target, pair);
  }
  if (pairs.size === 0) throw fileFault(file, 'tensor count', 0, 'an adapter has at least one pair');
  return pairs;
}

/** Rows of a matrix, and how many matrices of experts there are. */
const rowsOf = ({ shape }: TensorEntry): number => shape[1] ?? 1;
const expertsOf = ({ shape }: TensorEntry): number => (shape[2] ?? 1) * (shape[3] ?? 1);

/** What in a pair does not fit the tensor that it changes; undefined where all does. */
function misfit(target: string, pair: Required<Pair>, base: GgufHeader): string | undefined {
  const own = base.tensors.get(target);
  if (!own) return `it changes ${target}, and the model has no such tensor`;
  const isEmbedding = target === EMBEDDING;
  // The engine would multiply by the pair in the form of the embedding.
  if (isEmbedding && !base.tensors.has('output.weight'))
    return `it changes ${target}, which this model reads tokens by and writes them by; the engine takes such a pair for one of the two only`;
  const { a, b } = pair;
  const [width, rows] = [own.shape[0], rowsOf(own)];
  // Tokens look up rows of A in the embedding's pair, so that the two sides are swapped there.
  const fits = isEmbedding
    ? rowsOf(b) === width && rowsOf(a) === rows && a.shape[0] === b.shape[0]
    : a.shape[0] === width && rowsOf(b) === rows && rowsOf(a) === b.shape[0];
  if (fits && expertsOf(a) === expertsOf(own) && expertsOf(b) === expertsOf(own)) return undefined;
  const size = ({ shape }: TensorEntry): string => shape.join(' x ');
  return `its pair for ${target} is ${size(a)} and ${size(b)}, and the model's tensor is ${size(own)}`;
}

/**
 * Checks that a GGUF file is a LoRA adapter that fits a model, which the engine would find out too late. Throws
 * `Failure('invalid')` that names the file and what is wrong with it, or what differs from the model.
 */
export async function checkAdapter(path: string, base: GgufHeader): Promise<void> {
  const file = basename(path);
  const part = await readPart(path);
  kindOf(file, part);
  const misfits = (why: string): Failure =>
    new Failure('invalid', `The adapter ${file} does not fit the model ${basename(base.path)}: ${why}. ${ANOTHER}`, {
      code: 'AdapterMismatch',
      errors: [{ type: 'gguf', loc: ['file', file], msg: why, input: file }],
    });
  const architecture = part.metadata.get('general.architecture');
  if (architecture !== base.architecture)
    throw misfits(`its architecture is ${renderValue(architecture ?? 'missing')}, and the model's is ${base.architecture}`);
  for (const [target, { a, b }] of pairsOf(file, part)) {
    if (!a || !b) throw fileFault(file, `tensor ${target}.lora_${a ? 'b' : 'a'}`, 'missing', 'each pair has both sides');
    const why = misfit(target, { a, b }, base);
    if (why !== undefined) throw misfits(why);
  }
}
