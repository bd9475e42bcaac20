import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from '../../../../schemas/errors.js';
import type { OcrEngine } from '../../contracts/ocr.js';
import { tesseractLanguage } from '../languages.js';

/** Letters and `_`, as tesseract names its files: `deu`, `chi_sim`. */
const NAME = /^[A-Za-z][A-Za-z_]{1,31}$/;
/** In the packages of language files: networks of whole numbers, a quarter of the size at the same accuracy. */
const PACKAGED = '4.0.0_best_int';
/** Copies of the program in one host; each reads an image on a core of its own. */
const LANES = Math.min(4, availableParallelism());
/** What the program and its page take beside the language files. */
const PROGRAM_BYTES = 96 * 1024 * 1024;

/** A language and its file, gzipped or not. */
export interface TrainedLanguage {
  readonly code: string;
  readonly path: string;
}

/** What the host is opened with. */
export interface TesseractBody {
  readonly languages: readonly TrainedLanguage[];
  /** Images to read at the same time. */
  readonly lanes: number;
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    (facts) => (facts.isFile() ? facts.size : 0),
    () => 0,
  );
}

/** Folder of an installed package of language files; undefined where it is not installed. */
function packageFolder(language: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`@tesseract.js-data/${language}/package.json`));
  } catch {
    return undefined;
  }
}

async function findLanguage(given: string, folder: string): Promise<TrainedLanguage & { sizeBytes: number }> {
  const code = tesseractLanguage(given);
  if (!NAME.test(code))
    throw new Failure('bad_request', `Language ${JSON.stringify(given.slice(0, 50))} is no code; give one such as "en" or "deu".`, {
      code: 'UnknownLanguage',
    });
  const packaged = packageFolder(code);
  const places = [join(folder, `${code}.traineddata`), join(folder, `${code}.traineddata.gz`)];
  if (packaged) places.push(join(packaged, PACKAGED, `${code}.traineddata.gz`));
  for (const path of places) {
    const sizeBytes = await sizeOf(path);
    if (sizeBytes > 0) return { code, path, sizeBytes };
  }
  throw new Failure(
    'not_found',
    `Model "tesseract" not found: it has no data for language "${given}". Put ${code}.traineddata into ${folder}, or run "npm install @tesseract.js-data/${code}".`,
    { code: 'OcrModelMissing', fields: { language: given } },
  );
}

/** Tesseract, compiled to WebAssembly: works without a download for English, and for each language whose file is there. */
export const tesseract: OcrEngine = {
  name: 'tesseract',
  entry: new URL('./entry.js', import.meta.url),
  byLanguage: true,
  atOnce: LANES,
  async find(languages, search) {
    const folder = join(search.folder, 'tesseract');
    const found = await Promise.all([...new Set(languages)].map((language) => findLanguage(language, folder)));
    const body: TesseractBody = { languages: found.map(({ code, path }) => ({ code, path })), lanes: LANES };
    const lane = found.reduce((sum, { sizeBytes }) => sum + sizeBytes, PROGRAM_BYTES);
    return { sizeBytes: lane * LANES, body, notes: [] };
  },
};
