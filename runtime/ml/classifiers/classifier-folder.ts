import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { NativeClassifier } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { fileFailure, flushDirectory, placeFile, writeFlushed } from '../../base/durable-files.js';
import { isObject } from '../../base/json.js';
import type { ListedClassifier } from './contract.js';

const HEAD = 'head.bin';
const LABELS = 'labels.txt';
const CARD = 'metadata.json';

/** What is known of a classifier besides its numbers. */
export interface ClassifierCard {
  /** As it was asked for, or the usual one. */
  readonly embedder: string;
  readonly dimensions: number;
  /** Of `probeOf`. */
  readonly probe: string;
  /** Of a classifier on TF-IDF vectors: what `vocabularyOf` learned from its examples. */
  readonly vocabulary?: string | undefined;
  /** Sorted. */
  readonly labels: readonly string[];
  readonly samples: number;
  readonly description?: string | undefined;
}

/** A classifier in memory. */
export interface HeldClassifier {
  readonly name: string;
  readonly model: NativeClassifier;
  readonly card: ClassifierCard;
}

/** Beginnings of names that no classifier can have: being written; being replaced; being removed. */
const FRESH = '.new-';
const FORMER = '.old-';
const GONE = '.gone-';

/** Classifiers on disk: a directory each, with `labels.txt`, `metadata.json` and the checksummed numbers in `head.bin`. */
export class ClassifierFolder {
  readonly folder: string;
  #recovered: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.folder = folder;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Runs changes one after the other, and after what a crash left was put right. */
  alone<T>(change: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(() => this.#recover()).then(change);
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  async has(name: string): Promise<boolean> {
    await this.#recover();
    return stat(join(this.path(name), CARD)).then(
      (found) => found.isFile(),
      () => false,
    );
  }

  /** Makes or replaces a classifier so that a crash at any point leaves the old or the new one, whole. It bears the time `at`. To be called in `alone`. */
  async write({ name, model, card }: HeldClassifier, at: Date = new Date()): Promise<void> {
    const [fresh, former, final] = [FRESH, FORMER, ''].map((mark) => join(this.folder, mark + name)) as [string, string, string];
    try {
      await mkdir(fresh, { recursive: true, mode: 0o700 });
      await model.save(join(fresh, HEAD), generationOf(card));
      await utimes(join(fresh, HEAD), at, at);
      await writeFlushed(join(fresh, LABELS), labelsText(card.labels));
      await writeFlushed(join(fresh, CARD), cardText(card));
      await flushDirectory(fresh);
      await rename(final, former).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      await rename(fresh, final);
    } catch (cause) {
      await rm(fresh, { recursive: true, force: true });
      await this.#putBack(name);
      throw saveFailure(cause, name);
    }
    await flushDirectory(this.folder);
    await rm(former, { recursive: true, force: true });
  }

  /** Replaces the description. To be called in `alone`. */
  async describe(name: string, card: ClassifierCard): Promise<void> {
    await placeFile(join(this.path(name), CARD), [Buffer.from(cardText(card))]);
  }

  /** Undefined where there is none. Throws `model_failed` for files that are not what was saved. */
  async read(name: string): Promise<HeldClassifier | undefined> {
    await this.#recover();
    const texts = await this.#texts(name);
    if (!texts) return undefined;
    const card = readCard(name, ...texts);
    let model: NativeClassifier;
    try {
      model = await loadCore().loadClassifier(join(this.path(name), HEAD), generationOf(card));
    } catch (error) {
      if (error instanceof Failure && (error.kind === 'model_failed' || error.kind === 'not_found'))
        throw damagedClassifier(name, `its ${HEAD} ${error.kind === 'not_found' ? 'is missing' : 'is not what was saved'}`, error);
      throw error;
    }
    if (model.dimensions !== card.dimensions || model.classes !== card.labels.length)
      throw damagedClassifier(name, `its ${HEAD} has other sizes`);
    return { name, model, card };
  }

  /** Newest first. What is no classifier is left out; a damaged one is named. */
  async list(): Promise<ListedClassifier[]> {
    await this.#recover();
    const names = await readdir(this.folder).catch(() => [] as string[]);
    const listed: ListedClassifier[] = [];
    for (const name of names) {
      const one = name.startsWith('.') ? undefined : await this.#listed(name);
      if (one) listed.push(one);
    }
    return listed.sort((a, b) => b.modifiedMs - a.modifiedMs || (a.model < b.model ? 1 : -1));
  }

  /** Whether it was there. To be called in `alone`. */
  async remove(name: string): Promise<boolean> {
    const gone = join(this.folder, GONE + name);
    try {
      await rename(this.path(name), gone);
    } catch (error) {
      if (isMissing(error)) return false;
      throw fileFailure(error, `delete the classifier "${name}"`);
    }
    await flushDirectory(this.folder);
    await rm(gone, { recursive: true, force: true });
    return true;
  }

  async #listed(model: string): Promise<ListedClassifier | undefined> {
    const path = this.path(model);
    const [labels, times] = await Promise.all([
      readFile(join(path, LABELS), 'utf8').catch(() => undefined),
      stat(join(path, HEAD)).catch(() => undefined),
    ]);
    if (labels === undefined || !times) return undefined;
    const description = await this.#description(model, labels);
    const one = { model, path, labels: labels.split('\n').slice(0, -1), modifiedMs: times.mtimeMs };
    return description === undefined ? one : { ...one, description };
  }

  async #description(name: string, labels: string): Promise<string | undefined> {
    try {
      return readCard(name, await readFile(join(this.path(name), CARD), 'utf8'), labels).description;
    } catch {
      return undefined;
    }
  }

  async #texts(name: string): Promise<[card: string, labels: string] | undefined> {
    try {
      return [await readFile(join(this.path(name), CARD), 'utf8'), await readFile(join(this.path(name), LABELS), 'utf8')];
    } catch (error) {
      if (!isMissing(error)) throw fileFailure(error, `read the classifier "${name}"`);
      if (await this.has(name)) throw damagedClassifier(name, `its ${LABELS} is missing`, error);
      return undefined;
    }
  }

  /** Once: removes what an earlier process had not finished, and puts back what it had only moved aside. */
  #recover(): Promise<void> {
    this.#recovered ??= this.#recoverNow();
    return this.#recovered;
  }

  async #recoverNow(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.folder)) {
      if (name.startsWith(FRESH) || name.startsWith(GONE)) await rm(join(this.folder, name), { recursive: true, force: true });
      if (!name.startsWith(FORMER)) continue;
      await this.#putBack(name.slice(FORMER.length));
      await rm(join(this.folder, name), { recursive: true, force: true });
    }
  }

  async #putBack(name: string): Promise<void> {
    if (await stat(this.path(name)).catch(() => undefined)) return;
    await rename(join(this.folder, FORMER + name), this.path(name)).catch(() => undefined);
  }
}

/** Ties the numbers of a classifier to its labels and to what made its embeddings: a number of 64 bits. */
function generationOf({ embedder, dimensions, labels, vocabulary }: ClassifierCard): bigint {
  const facts = [embedder, dimensions, labels];
  return BigInt(`0x${digest(vocabulary === undefined ? facts : [...facts, vocabulary]).slice(0, 16)}`);
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** `labels.txt`: one label a line. */
function labelsText(labels: readonly string[]): string {
  return `${labels.join('\n')}\n`;
}

const FORMAT = 1;

/** `metadata.json`, with a checksum over all of it. */
function cardText({ embedder, dimensions, probe, vocabulary, labels, samples, description }: ClassifierCard): string {
  const facts = { format: FORMAT, embedder, dimensions, probe, vocabulary, labels, samples, description: description ?? null };
  return `${JSON.stringify({ ...facts, checksum: digest(facts) }, null, 2)}\n`;
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.code === 'ENOENT';

/** Native code says which of its files it could not write: that is for the log. */
function saveFailure(cause: unknown, name: string): unknown {
  const doing = `save the classifier "${name}"`;
  if (!(cause instanceof Failure)) return fileFailure(cause, doing);
  if (cause.kind === 'disk_full') return fileFailure(Object.assign(new Error(cause.message, { cause }), { code: 'ENOSPC' }), doing);
  return new Failure(cause.kind, `Could not ${doing}: a file cannot be written; the log says why. Nothing was changed.`, { cause });
}

/** Reads both texts back. Throws `model_failed` where a byte of them has changed. */
function readCard(name: string, card: string, labels: string): ClassifierCard {
  let read: unknown;
  try {
    read = JSON.parse(card);
  } catch (error) {
    throw damagedClassifier(name, 'its metadata.json is no JSON', error);
  }
  if (!isObject(read)) throw damagedClassifier(name, 'its metadata.json is no object');
  const { checksum, ...facts } = read;
  if (checksum !== digest(facts)) throw damagedClassifier(name, 'its metadata.json is not what was saved');
  const { format, description, ...rest } = facts as unknown as ClassifierCard & { format: unknown; description: string | null };
  if (format !== FORMAT) throw damagedClassifier(name, `its format is ${String(format)}, this is format ${FORMAT}`);
  if (labels !== labelsText(rest.labels)) throw damagedClassifier(name, 'its labels.txt is not what was saved');
  return description === null ? rest : { ...rest, description };
}

/** The failure of a classifier whose files are not what was saved. */
function damagedClassifier(name: string, why: string, cause?: unknown): Failure {
  return new Failure('model_failed', `The classifier "${name}" is damaged: ${why}. Fit it again, or delete it.`, {
    code: 'DamagedModel',
    cause,
  });
}
