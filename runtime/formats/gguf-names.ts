import { basename, dirname } from 'node:path';

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

const IN_FILE_NAME = new RegExp(`(?:^|[-._ ])((?:UD-)?(?:${NAMES.join('|')}))(?=$|[-._ ])`, 'gi');
const OF_FOLDER = new RegExp(`(?:^|[-._ ])((?:UD-)?(?:${NAMES.join('|')}))$`, 'i');
/** Bits alone, as in `Phi-3-mini-4k-instruct-q4.gguf`. */
const BITS = /[-._ ](I?Q[1-8])$/i;
const SHARD = /-\d{5}-of-\d{5}(?=[.-])/i;
/** What is taken where the caller names nothing: the first of these that is there. */
const PREFERENCE = [
  ...['Q4_K_M', 'Q4_K', 'Q5_K_M', 'Q5_K', 'Q8_0', 'Q6_K', 'Q4_K_S', 'Q5_K_S', 'Q3_K_M', 'Q2_K', 'F16'],
  ...['Q4_K_XL', 'Q4_K_L', 'IQ4_XS', 'IQ4_NL', 'Q4_0', 'Q4', 'MXFP4_MOE', 'MXFP4', 'NVFP4', 'Q4_1', 'Q5_K_XL', 'Q5_0'],
  ...['Q6_K_XL', 'Q8_K_XL', 'Q8', 'Q3_K_XL', 'IQ3_M', 'Q3_K_S', 'Q3_K_L', 'Q2_K_XL', 'Q2_K_L', 'BF16', 'F32'],
];
/** Other names of the same. */
const SAME: Readonly<Record<string, string>> = { FP16: 'F16', FP32: 'F32' };
/** What files with bits alone in their names are taken for, where there is none of that very name. */
const BARE: Readonly<Record<string, string>> = { Q4_0: 'Q4', Q8_0: 'Q8' };

const stemOf = (file: string): string =>
  basename(file)
    .replace(SHARD, '')
    .replace(/\.gguf$/i, '');

/** By the name of the file alone. The last match counts: it stands at the end, and a model's own name may look like one. */
const quantisationInName = (file: string): string | null =>
  ([...stemOf(file).matchAll(IN_FILE_NAME)].at(-1)?.[1] ?? BITS.exec(stemOf(file))?.[1])?.toUpperCase() ?? null;

/** The quantisation that a file's name tells, else the end of its folder's, in upper case, such as `UD-Q4_K_XL`; null where neither tells one. */
export function quantisationOf(file: string): string | null {
  return quantisationInName(file) ?? OF_FOLDER.exec(basename(dirname(file)))?.[1]?.toUpperCase() ?? null;
}

/** The number and count of a shard by its name; null for a whole file. */
export function shardNumber(file: string): { index: number; count: number } | null {
  const match = /-(\d{5})-of-(\d{5})(?=[.-])/i.exec(basename(file));
  return match ? { index: Number(match[1]), count: Number(match[2]) } : null;
}

/** What the parts of a split file, and no other files, have in common; of a whole file that is its own. */
export const shardSet = (file: string): string => `${shardNumber(file)?.count}|${file.replace(SHARD, '')}`;

/** The files of which all parts are there; whole ones are. */
function completeOf(files: readonly string[], all: readonly NamedFile[]): NamedFile[] {
  const parts = new Map<string, number>();
  for (const file of files) parts.set(shardSet(file), (parts.get(shardSet(file)) ?? 0) + 1);
  return all.filter(({ file }) => (parts.get(shardSet(file)) ?? 0) >= (shardNumber(file)?.count ?? 1));
}

/** The last or first word of the name of an importance matrix. */
const MATRIX = /^imatrix(?=$|[-._])|(?:^|[-._])imatrix$/i;
/** What such a matrix is measured with, which its name may tell; a name with another quantisation is that of a model which was made with a matrix. */
const MEASURED: ReadonlySet<string | null> = new Set([null, 'F64', 'F32', 'FP32', 'F16', 'FP16', 'BF16', 'Q8_0', 'Q8']);

/** True for files with the importance matrix that quantisations of a model are made with; `Foo-imatrix-Q4_K_M.gguf` is such a quantisation. */
export const isImportanceMatrix = (file: string): boolean =>
  /\.gguf$/i.test(file) && MATRIX.test(stemOf(file)) && MEASURED.has(quantisationInName(file));

/** True for files that hold a projector for images or sound and no language model. */
const isProjector = (file: string): boolean => /mmproj/i.test(basename(file));

/** False for GGUF files that lie beside a model and are none: projectors and importance matrices. */
export const holdsModel = (file: string): boolean => !isProjector(file) && !isImportanceMatrix(file);

/** True for files by which a model is opened: whole ones and first shards. */
export const opensModel = (file: string): boolean => holdsModel(file) && (shardNumber(file)?.index ?? 1) === 1;

/** A file with what its name tells, which is read once. */
interface NamedFile {
  readonly file: string;
  readonly quantisation: string | null;
  /** The same, for callers who do not ask for a dynamic one. */
  readonly plain: string | null;
}

const isRepacked = ({ quantisation }: NamedFile): boolean => REPACKED.includes(quantisation ?? '');

/** A choice among the GGUF files of a repository. */
export interface Choice {
  readonly file: string;
  readonly quantisation: string | null;
  /** Said where the wanted quantisation is not there. */
  readonly note: string | null;
}

/** A name as callers write it, by its usual spelling; `i1` only says that an importance matrix was used. */
function usualSpelling(name: string): string {
  const bare = name.replace(/^I1-/, '');
  return SAME[bare] ?? bare;
}

function namedFile(file: string): NamedFile {
  const quantisation = quantisationOf(file);
  return { file, quantisation, plain: quantisation === null ? null : usualSpelling(quantisation.replace(/^UD-/, '')) };
}

/** The first of files that have a quantisation by its very name, else by its plain one. */
const firstWithQuantisation = (files: readonly NamedFile[], name: string): NamedFile | undefined =>
  files.find(({ quantisation }) => quantisation === name) ?? files.find(({ plain }) => plain === usualSpelling(name));

/** The first of files by preference, if any of them is named there. */
const firstByPreference = (files: readonly NamedFile[]): NamedFile | undefined =>
  PREFERENCE.map((name) => firstWithQuantisation(files, name)).find((file) => file !== undefined);

/** Of files with a quantisation that goes on from a shorter name, such as `Q5_K_M` from `Q5_K` or `Q5`, the one to take. */
function ofFamily(files: readonly NamedFile[], name: string): NamedFile | undefined {
  const usual = files.filter((file) => !isRepacked(file));
  const made = usual.filter(({ quantisation }) => quantisation?.startsWith(`${name}_`));
  const family = made.length > 0 ? made : usual.filter(({ plain }) => plain?.startsWith(`${usualSpelling(name)}_`));
  return firstByPreference(family) ?? family[0];
}

/**
 * Picks one of `files` (order kept; projectors, importance matrices and later shards left out): the wanted quantisation, else one that goes on from its
 * name, else by preference, else the first. Whole files come before split ones unless only a split one has the wanted quantisation, repacked ones last, and
 * those of which parts are missing, as an interrupted download leaves them, only where nothing else will do. Undefined without files.
 */
export function chooseFile(files: readonly string[], wanted: string | null): Choice | undefined {
  const all = files.filter(opensModel).map(namedFile);
  const complete = completeOf(files, all);
  const models = [...new Set([...complete, ...all])];
  const sound = complete.length > 0 ? complete : all;
  const usual = sound.filter((file) => !isRepacked(file));
  const open = usual.length > 0 ? usual : sound;
  const whole = open.filter(({ file }) => shardNumber(file) === null);
  const pool = whole.length > 0 ? whole : open;
  const first = [...pool, ...models];
  const asked =
    wanted === null
      ? undefined
      : (firstWithQuantisation(first, wanted) ??
        firstWithQuantisation(first, BARE[wanted] ?? '') ??
        ofFamily(pool, wanted) ??
        ofFamily(models, wanted));
  const chosen = asked ?? (pool.length === 1 ? pool[0] : (firstByPreference(pool) ?? pool[0]));
  if (chosen === undefined) return undefined;
  const { file, quantisation } = chosen;
  const there = [...new Set(models.map((model) => model.quantisation ?? 'unnamed'))].join(', ');
  const missed = `Quantisation ${wanted} is not there (${there} ${models.length > 1 ? 'are' : 'is'}); ${quantisation ?? basename(file)} is used.`;
  return { file, quantisation, note: wanted === null || asked !== undefined ? null : missed };
}
