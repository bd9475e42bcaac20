import { stat } from 'node:fs/promises';
import { Failure } from '../../../schemas/errors.js';
import { realFile } from '../../base/files.js';
import type { AdapterUse } from '../../engines/contracts/language.js';
import { checkAdapter } from '../../formats/gguf/adapter.js';
import { type GgufHeader, ggufHeader } from '../../formats/gguf/header.js';
import type { FoundModel, ModelPlaces } from './contract.js';
import { findGguf } from './gguf.js';

/** Adapters that were found to fit a model; its header is another object when its file has changed. */
const fitting = new WeakMap<GgufHeader, Set<string>>();
const REMEMBERED = 256;

/** An adapter as a caller names it: by a path or by a name, as a model. */
interface AdapterName {
  readonly path: string;
  readonly scale?: number | null;
}

/** Where an adapter lies, by the rules that hold for models. */
async function fileOfAdapter(name: string, places: ModelPlaces): Promise<string> {
  try {
    const { weights } = await findGguf(name, places);
    return await realFile(weights[0]);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
    const looked = (error.fields?.looked_in as readonly string[] | undefined) ?? [];
    throw new Failure(
      'not_found',
      `LoRA adapter "${name}" not found; looked for ${looked.join('; ')}. Check the path, or put the file into ${places.folder} and name it.`,
      { code: 'AdapterNotFound', fields: { looked_in: looked } },
    );
  }
}

/** The file with the scale, checked where it was not, or has changed since. */
async function fitted(file: string, scale: number, header: GgufHeader): Promise<AdapterUse> {
  const { mtimeMs, size, ino } = await stat(file);
  const stamp = `${mtimeMs} ${size} ${ino}`;
  const known = fitting.get(header) ?? new Set();
  const key = `${file}\0${stamp}`;
  if (!known.has(key)) {
    await checkAdapter(file, header);
    if (known.size >= REMEMBERED) known.clear();
    fitting.set(header, known.add(key));
  }
  return { file, stamp, sizeBytes: size, scale };
}

/**
 * The adapters that are named for a model, each found as a model is and checked against it; those of scale 0 are checked and left out. Throws `not_found` (code
 * `AdapterNotFound`), `invalid` for a file that is no adapter, does not fit or comes twice, and `bad_request` for a model that takes none.
 */
export async function findAdapters(base: FoundModel, named: readonly AdapterName[], places: ModelPlaces): Promise<AdapterUse[]> {
  if (base.format !== 'gguf')
    throw new Failure('bad_request', `${base.id} is an ONNX export, and LoRA adapters work on GGUF models only; name its GGUF form.`, {
      code: 'AdapterUnsupported',
    });
  const header = await ggufHeader(base.weights[0]);
  const uses: AdapterUse[] = [];
  for (const { path, scale } of named) {
    const file = await fileOfAdapter(path, places);
    if (uses.some((use) => use.file === file))
      throw new Failure('invalid', `lora names ${path} twice; name it once, with the sum of its scales.`, { code: 'AdapterTwice' });
    uses.push(await fitted(file, scale ?? 1, header));
  }
  return uses.filter((use) => use.scale !== 0);
}
