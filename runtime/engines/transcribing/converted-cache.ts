import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileFailure } from '../../base/durable-files.js';
import { type Converted, convertModel } from './convert.js';

/** Stands beside a converted file. */
interface ConversionNote extends Converted {
  /** The model.bin that it was made of. */
  readonly source: string;
}

/** Raised where the converter writes something else, so that older files are made anew. */
const FORM = 1;
/** What has not grown for so long no process writes. */
const ABANDONED_MS = 10 * 60_000;

async function noteOf(path: string): Promise<ConversionNote | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as ConversionNote;
  } catch {
    return undefined;
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** Whether a file is what was written; a disk may have lost a part of it. */
async function isWhole(file: string, note: ConversionNote | undefined): Promise<boolean> {
  const facts = await stat(file).catch(() => undefined);
  return note !== undefined && facts?.size === note.sizeBytes && (await hashOf(file)) === note.sha256;
}

/** Removes what was made of models that are no longer there, and what a crash left. */
async function sweepConverted(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const note = await noteOf(join(folder, name));
    if (note && (await stat(note.source).catch(() => undefined))) continue;
    for (const one of [name, name.replace(/json$/, 'bin')]) await rm(join(folder, one), { force: true });
  }
  for (const name of names.filter((one) => one.endsWith('.part'))) {
    const { mtimeMs = 0 } = (await stat(join(folder, name)).catch(() => undefined)) ?? {};
    // Another process may write it.
    if (Date.now() - mtimeMs > ABANDONED_MS) await rm(join(folder, name), { force: true });
  }
}

/**
 * The ggml file of a CTranslate2 model in `model`: made at the first call and kept in `folder` with its SHA-256, which is checked each time. Made
 * anew where the model has changed or the file is damaged. Throws `invalid` for a model that cannot be read, `disk_full` or `forbidden` where it
 * cannot be kept; nothing of it stays then.
 */
export async function convertedFile(model: string, folder: string, signal: AbortSignal): Promise<string> {
  const source = await realpath(join(model, 'model.bin'));
  const { size, mtimeMs } = await stat(source);
  const key = createHash('sha256').update(`${FORM}\0${source}\0${size}\0${mtimeMs}`).digest('hex').slice(0, 32);
  const [file, beside] = [join(folder, `${key}.bin`), join(folder, `${key}.json`)];
  if (await isWhole(file, await noteOf(beside))) return file;
  const part = `${file}.part`;
  try {
    await mkdir(folder, { recursive: true });
    await sweepConverted(folder);
    const made = await convertModel(model, part, signal);
    const note: ConversionNote = { ...made, source };
    await rename(part, file);
    await writeFile(beside, JSON.stringify(note), { flush: true });
  } catch (error) {
    for (const one of [part, file, beside]) await rm(one, { force: true });
    throw fileFailure(error, 'keep the model in the form that its engine reads');
  }
  return file;
}
