import { basename } from 'node:path';

/** `Q4_0` in orders that some processors were once given; taken only where it is asked for or there is nothing else. */
const REPACKED = ['Q4_0_4_4', 'Q4_0_4_8', 'Q4_0_8_8'];
/** Names that files carry for what their weights are stored as: ggml's types and the mixes made of them. Longer names first. */
const NAMES = [
  ...REPACKED,
  ...['BF16', 'FP16', 'FP32', 'F16', 'F32', 'F64'],
  ...['Q1_0', 'Q2_0', 'Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'Q8_0', 'Q8_1'],
  ...['Q2_K', 'Q3_K', 'Q4_K', 'Q5_K', 'Q6_K', 'Q8_K'].flatMap((name) => [
    ...['XXL', 'XL', 'XS', 'S', 'M', 'L'].map((size) => `${name}_${size}`),
    name,
  ]),
  ...['IQ1_S', 'IQ1_M', 'IQ2_XXS', 'IQ2_XS', 'IQ2_S', 'IQ2_M', 'IQ3_XXS', 'IQ3_XS', 'IQ3_S', 'IQ3_M', 'IQ4_XS', 'IQ4_NL_XL', 'IQ4_NL'],
  ...['TQ1_0', 'TQ2_0', 'MXFP4_MOE', 'MXFP4', 'NVFP4'],
].sort((a, b) => b.length - a.length);

const IN_FILE_NAME = new RegExp(`(?:^|[-._])((?:UD-)?(?:${NAMES.join('|')}))(?=$|[-._])`, 'gi');
const SHARD = /-\d{5}-of-\d{5}(?=[.-])/i;
/** What is taken where the caller names nothing: the first of these that is there. */
const PREFERENCE = ['Q4_K_M', 'Q4_K', 'Q5_K_M', 'Q5_K', 'Q8_0', 'Q6_K', 'Q4_K_S', 'Q5_K_S', 'Q3_K_M', 'Q2_K', 'F16'];

const stemOf = (file: string): string =>
  basename(file)
    .replace(SHARD, '')
    .replace(/\.gguf$/i, '');

/** The quantisation that a file's name tells, in upper case, such as `UD-Q4_K_XL`; null where it tells none. */
export function quantisationOf(file: string): string | null {
  // The last match counts: it stands at the end, and a model's own name may look like one.
  return [...stemOf(file).matchAll(IN_FILE_NAME)].at(-1)?.[1]?.toUpperCase() ?? null;
}

/** The number and count of a shard by its name; null for a whole file. */
function shardNumber(file: string): { index: number; count: number } | null {
  const match = /-(\d{5})-of-(\d{5})(?=[.-])/i.exec(basename(file));
  return match ? { index: Number(match[1]), count: Number(match[2]) } : null;
}

/** The last or first word of the name of an importance matrix. */
const MATRIX = /^imatrix(?=$|[-._])|(?:^|[-._])imatrix$/i;
/** What such a matrix is measured with, which its name may tell; a name with another quantisation is that of a model which was made with a matrix. */
const MEASURED: ReadonlySet<string | null> = new Set([null, 'F64', 'F32', 'FP32', 'F16', 'FP16', 'BF16', 'Q8_0']);

/** True for files with the importance matrix that quantisations of a model are made with; `Foo-imatrix-Q4_K_M.gguf` is such a quantisation. */
export const isImportanceMatrix = (file: string): boolean =>
  /\.gguf$/i.test(file) && MATRIX.test(stemOf(file)) && MEASURED.has(quantisationOf(file));

/** True for files that hold a projector for images or sound and no language model. */
const isProjector = (file: string): boolean => /mmproj/i.test(basename(file));

/** False for GGUF files that lie beside a model and are none: projectors and importance matrices. */
export const holdsModel = (file: string): boolean => !isProjector(file) && !isImportanceMatrix(file);

const isRepacked = (file: string): boolean => REPACKED.includes(quantisationOf(file) ?? '');

/** A choice among the GGUF files of a repository. */
export interface Choice {
  readonly file: string;
  readonly quantisation: string | null;
  /** Said where the wanted quantisation is not there. */
  readonly note: string | null;
}

const plain = (quantisation: string | null): string | null => quantisation?.replace(/^UD-/, '') ?? null;

/**
 * Picks one of `files` (order kept; projectors, importance matrices and later shards left out): the wanted quantisation, else by preference, else the first.
 * Whole files come before split ones unless only a split one has the wanted quantisation, repacked ones last. Undefined without files.
 */
export function chooseFile(files: readonly string[], wanted: string | null): Choice | undefined {
  const models = files.filter((file) => holdsModel(file) && (shardNumber(file)?.index ?? 1) === 1);
  const usual = models.filter((file) => !isRepacked(file));
  const open = usual.length > 0 ? usual : models;
  const whole = open.filter((file) => shardNumber(file) === null);
  const pool = whole.length > 0 ? whole : open;
  const choice = (file: string | undefined): Choice | undefined => {
    if (file === undefined) return undefined;
    const quantisation = quantisationOf(file);
    const missed = wanted !== null && quantisation !== wanted && plain(quantisation) !== wanted;
    const there = [...new Set(models.map(quantisationOf))].map((name) => name ?? 'unnamed').join(', ');
    return {
      file,
      quantisation,
      note: missed
        ? `Quantisation ${wanted} is not there (${there} ${models.length > 1 ? 'are' : 'is'}); ${quantisation ?? basename(file)} is used.`
        : null,
    };
  };
  if (wanted !== null) {
    const exact =
      [...pool, ...models].find((file) => quantisationOf(file) === wanted) ??
      [...pool, ...models].find((file) => plain(quantisationOf(file)) === wanted);
    if (exact !== undefined) return choice(exact);
  }
  if (pool.length === 1) return choice(pool[0]);
  const preferred = PREFERENCE.map((name) => pool.find((file) => quantisationOf(file) === name)).find((file) => file !== undefined);
  return choice(preferred ?? pool[0]);
}
