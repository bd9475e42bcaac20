import { stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { expandHome, isInside, resolvesInside } from '../../base/files.js';
import { ggufBytes } from '../../formats/gguf/shards.js';
import { chooseFile, quantisationOf } from '../../formats/gguf-names.js';
import { howToFetch, modelMissing } from '../../formats/model-files.js';
import type { FoundModel, ModelPlaces } from './contract.js';
import { cachedGgufFiles, repositoryFolder } from './hub-cache.js';
import { parseName, wholeId } from './names.js';
import { knownModels, ownGgufFiles, requireOwnPlace } from './places.js';

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  );
}

async function foundFile(
  id: string,
  quantisation: string | null,
  path: string,
  source: FoundModel['source'],
  note: string | null,
): Promise<FoundModel> {
  const sizeBytes = await ggufBytes(path);
  const notes = note === null ? [] : [note];
  return { id, quantisation, format: 'gguf', weights: [path], folder: dirname(path), sizeBytes, source, facts: {}, notes };
}

function ggufMissing(name: string, lookedIn: readonly string[], remedies: readonly string[]): Failure {
  return modelMissing(name, { why: `it is not on this machine; looked for ${lookedIn.join('; ')}`, remedies, lookedIn });
}

/** A path as given, or below the models folder, which a relative one may not leave, also not by a link. */
async function pathOf(name: string, places: ModelPlaces): Promise<string> {
  const given = expandHome(name);
  if (isAbsolute(given)) {
    requireOwnPlace(given, [places.folder, places.hub, places.builtIn]);
    return given;
  }
  const path = resolve(places.folder, name);
  const refusal = new Failure(
    'bad_request',
    `Model path "${name}" leads out of ${places.folder}; give a path inside it or an absolute path.`,
    { code: 'InvalidModelName' },
  );
  if (!isInside(places.folder, path)) throw refusal;
  if (!(await resolvesInside(places.folder, path)))
    throw new Failure(
      'bad_request',
      `Model file ${path} is a link that leads out of ${places.folder}; name what it leads to by its absolute path.`,
      {
        code: 'InvalidModelName',
      },
    );
  return path;
}

/** The model's own folder comes before the hub cache, unless only the cache has what is wanted. */
async function fromRepository(name: string, id: string, wanted: string | null, places: ModelPlaces): Promise<FoundModel> {
  const { top, all } = await ownGgufFiles(places.folder, id);
  const choices = [
    // What lies below a folder without an organisation may be another model.
    { source: 'folder' as const, choice: id.includes('/') ? undefined : chooseFile(top, wanted) },
    { source: 'folder' as const, choice: chooseFile(all, wanted) },
    { source: 'hub' as const, choice: chooseFile(await cachedGgufFiles(places.hub, wholeId(id)), wanted) },
  ];
  const { source, choice } = choices.find((one) => one.choice?.note === null) ?? choices.find((one) => one.choice) ?? {};
  if (source && choice) return foundFile(id, wanted, choice.file, source, choice.note);
  const looked = [
    `a built-in model or ${join(places.folder, `${id}.gguf`)}`,
    `GGUF files in ${join(places.folder, ...id.split('/'))} and in ${repositoryFolder(places.hub, wholeId(id))}`,
  ];
  const remedies = wholeId(id).includes('/')
    ? [howToFetch(wanted === null ? id : `${id}:${wanted}`), `put a .gguf file into ${places.folder} and name it by its path`]
    : [`use one of these: ${(await knownModels(places)).join(', ') || 'none is installed'}`, `put a .gguf file into ${places.folder}`];
  throw ggufMissing(name, looked, remedies);
}

/**
 * Finds the file of a model: a path that ends in `.gguf` (absolute, or below `{data_dir}/models`), a built-in name, a file of that name in
 * `{data_dir}/models`, or `<name>[:QUANT]` or `org/repo[:QUANT]` of the folders there and of the hub cache. Throws `not_found` (code
 * `ModelNotFound`) that says where it looked and what to do, `bad_request` for what cannot be a name.
 */
export async function findGguf(name: string, places: ModelPlaces): Promise<FoundModel> {
  const { id, quantisation, isPath } = parseName(name);
  if (isPath) {
    const path = await pathOf(name, places);
    if (!(await isFile(path))) throw ggufMissing(name, [`the file ${path}`], ['check the path', 'copy the file there']);
    return foundFile(id, null, path, 'file', null);
  }
  if (!id.includes('/')) {
    const files = [
      { source: 'built-in' as const, path: join(places.builtIn, `${id}.gguf`) },
      { source: 'file' as const, path: join(places.folder, `${id}.gguf`) },
    ];
    for (const { source, path } of files) {
      if (!(await isFile(path))) continue;
      if (source === 'file') await pathOf(`${id}.gguf`, places);
      const other = quantisation !== null && quantisationOf(path) !== quantisation;
      return foundFile(
        id,
        quantisation,
        path,
        source,
        other ? `Quantisation ${quantisation} was asked for; there is one file, and it is used.` : null,
      );
    }
  }
  return fromRepository(name, id, quantisation, places);
}
