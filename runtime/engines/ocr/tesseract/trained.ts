import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Failure } from '../../../../schemas/errors.js';
import type { TrainedLanguage } from './engine.js';

/** The largest of tesseract's own files have 40 MB. */
const TRAINED_BYTES = 128 * 1024 * 1024;
/** Places in the table of a language file; `TESSDATA_LSTM` is the network. */
const ENTRIES_LIMIT = 64;
const NETWORK = 17;

/** The content of a language file. Throws `invalid` for what is none: tesseract would end its process. */
async function contentOf({ path }: TrainedLanguage): Promise<Buffer> {
  const refused = (why: string, cause?: unknown): Failure =>
    new Failure('invalid', `${basename(path)} is no language file of tesseract: ${why}. Get it again.`, { code: 'OcrModelInvalid', cause });
  const stored = await readFile(path);
  let content = stored;
  if (stored[0] === 0x1f && stored[1] === 0x8b) {
    try {
      content = gunzipSync(stored, { maxOutputLength: TRAINED_BYTES });
    } catch (cause) {
      throw refused('it cannot be unpacked', cause);
    }
  }
  const count = content.length < 4 ? 0 : content.readInt32LE(0);
  if (count <= NETWORK || count > ENTRIES_LIMIT || content.length < 4 + count * 8) throw refused('its table is damaged');
  const starts = Array.from({ length: count }, (_, entry) => Number(content.readBigInt64LE(4 + entry * 8)));
  if (starts[NETWORK]! < 0) throw refused('it has no network');
  if (starts.some((start) => start >= content.length)) throw refused('it is cut off');
  return content;
}

/** Gives `use` a folder with the language files under the names that tesseract looks for; it is gone afterwards. */
export async function withLanguages<T>(languages: readonly TrainedLanguage[], use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'quern-tesseract-'));
  try {
    for (const language of languages) await writeFile(join(folder, `${language.code}.traineddata`), await contentOf(language));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
