import { stat } from 'node:fs/promises';
import { Failure } from '../../../schemas/errors.js';
import { realFile } from '../../base/files.js';
import type { AdapterUse } from '../../engines/contracts/language.js';
import { otherArchitecture } from '../../formats/architecture.js';
import { checkAdapter } from '../../formats/gguf/adapter.js';
import { type GgufHeader, ggufHeader } from '../../formats/gguf/header.js';
import { chooseFormat, chooseNamed, graphFiles, isGgufFormat, isNear, LATER, MERGED, withFormat } from '../../formats/onnx-names.js';
import type { FoundModel, FoundRepository, ModelPlaces } from './contract.js';
import { findGguf } from './gguf.js';
import { findRepository, settingsFolder, withGraphs } from './repository.js';

/** Graphs for text generation, the better one first. */
const GRAPHS = [MERGED, 'model', LATER] as const;

/** The `transformers` settings of a project's model or a request, as far as they say how an ONNX export is run; GGUF models have options of their own. */
export interface ExportSettings {
  /** `auto`, `cpu`, `cuda`, `mps`, or an execution provider's name. */
  readonly device?: string;
  /** `auto`, `fp16`, `fp32`, `bf16`: which of a repository's graphs is taken, unless the model's name says. */
  readonly dtype?: string;
}

/** The same of a language model. */
export interface LanguageSettings extends ExportSettings {
  /** The ONNX export is run also where a GGUF model has the same name. */
  readonly model_type?: 'text';
}

/**
 * Finds the language model of a name: a GGUF file as `findGguf` does, else a text-generation export, or that alone where `settings` say so:
 * `invalid` (code `NoOnnxExport`) then names the files that it lacks. Throws as `findGguf` does,
 * `bad_request` (code `WrongModelType`) for a repository that holds something else, and `not_found` for an export that is not there in the named
 * format.
 */
export function findLanguage(name: string, settings: LanguageSettings, places: ModelPlaces): Promise<FoundModel> {
  if (settings.model_type === 'text') return exportAlone(name, settings, places);
  return findGguf(name, places).catch((absent: unknown) => exportBeside(name, settings, places, absent));
}

/** The files of each graph that could be the one. */
function candidatesOf({ files }: FoundRepository): string[][] {
  const near = files.filter(isNear);
  return GRAPHS.map((graph) => graphFiles(near, graph)).filter((there) => there.length > 0);
}

/** Relative. Throws `not_found` where none is there in the format that the name asks for; the settings only wish for one. */
function graphOf({ id, quantisation }: FoundRepository, candidates: readonly string[][], dtype = 'auto'): string {
  const wish = quantisation ?? (dtype === 'auto' ? null : dtype.toUpperCase());
  const fitting = withFormat(candidates, wish);
  return fitting ? chooseFormat([fitting], wish).files[0]! : chooseNamed(id, candidates.slice(0, 1), quantisation)[0]!;
}

const wrongModelType = (name: string, why: string): Failure =>
  new Failure('bad_request', `${name} is no language model: ${why}.`, { code: 'WrongModelType' });

/** What keeps a repository from being a text-generation export; undefined where nothing of it is missing. */
function missingOf(found: FoundRepository, candidates: readonly string[][]): string | undefined {
  const settings = ['config.json', 'tokenizer.json'].filter((name) => !['', 'onnx/'].some((place) => found.files.includes(place + name)));
  const missing = [...settings, ...(candidates.length === 0 ? ['a graph such as onnx/model.onnx'] : [])];
  if (missing.length > 0) return `its folder lacks ${new Intl.ListFormat('en').format(missing)}`;
  return settingsFolder(found) === undefined ? 'config.json and tokenizer.json do not lie in the same folder' : undefined;
}

/** The text-generation export of a name that is no GGUF model, which `absent` says; throws that where there is none either. */
async function exportBeside(name: string, settings: LanguageSettings, places: ModelPlaces, absent: unknown): Promise<FoundModel> {
  if (!(absent instanceof Failure) || absent.kind !== 'not_found' || /\.gguf$/i.test(name)) throw absent;
  const found = await findRepository(name, places).catch(() => {
    throw absent;
  });
  return exportIn(name, found, settings);
}

/** The text-generation export of a name, whatever else has it. */
async function exportAlone(name: string, settings: LanguageSettings, places: ModelPlaces): Promise<FoundModel> {
  if (/\.gguf$/i.test(name)) throw noExport(name, 'a GGUF file is not one');
  const found = await findRepository(name, places);
  const missing = missingOf(found, candidatesOf(found));
  if (missing !== undefined) throw noExport(name, missing);
  return exportIn(name, found, settings);
}

const noExport = (name: string, why: string): Failure =>
  new Failure(
    'invalid',
    `${name} has no ONNX export to run: ${why}. It needs config.json, tokenizer.json and onnx/model.onnx or onnx/decoder_model_merged.onnx; ` +
      "for its GGUF file leave out accel.backend 'onnx' or 'transformers' and transformers.model_type.",
    { code: 'NoOnnxExport' },
  );

async function exportIn(name: string, found: FoundRepository, { dtype }: LanguageSettings): Promise<FoundModel> {
  const candidates = candidatesOf(found);
  const missing = missingOf(found, candidates);
  if (missing !== undefined) throw wrongModelType(name, missing);
  const folder = settingsFolder(found)!;
  const { quantisation, notes } = found;
  const other = await otherArchitecture(folder, false);
  if (other !== undefined) throw wrongModelType(name, `config.json names ${other}, which does not write text`);
  const graph = graphOf(found, candidates, dtype);
  const wished =
    quantisation !== null && isGgufFormat(quantisation) ? [`${quantisation} is a format of GGUF files; ${graph} is used.`] : [];
  return { ...(await withGraphs(found, [graph])), folder, notes: [...notes, ...wished] };
}

/** An adapter as a caller names it: by a path or by a name, as a model. */
interface AdapterName {
  readonly path: string;
  readonly scale?: number | null;
}

/** Adapters that were found to fit a model; its header is another object when its file has changed. */
const fittingFiles = new WeakMap<GgufHeader, Set<string>>();

const REMEMBERED = 256;

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
    const file = await adapterFile(path, places);
    if (uses.some((use) => use.file === file))
      throw new Failure('invalid', `lora names ${path} twice; name it once, with the sum of its scales.`, { code: 'AdapterTwice' });
    uses.push(await checkedUse(file, scale ?? 1, header));
  }
  return uses.filter((use) => use.scale !== 0);
}

/** Where an adapter lies, by the rules that hold for models. */
async function adapterFile(name: string, places: ModelPlaces): Promise<string> {
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
async function checkedUse(file: string, scale: number, header: GgufHeader): Promise<AdapterUse> {
  const { mtimeMs, size, ino } = await stat(file);
  const stamp = `${mtimeMs} ${size} ${ino}`;
  const known = fittingFiles.get(header) ?? new Set();
  const key = `${file}\0${stamp}`;
  if (!known.has(key)) {
    await checkAdapter(file, header);
    if (known.size >= REMEMBERED) known.clear();
    fittingFiles.set(header, known.add(key));
  }
  return { file, stamp, sizeBytes: size, scale };
}
