import { Failure } from '../../schemas/errors.js';
import { isDeviceName, quote } from '../base/names.js';

/** Longest name of a fitted model without its version, in characters: with version, backend and extension it is still a file name everywhere. */
const MAX_MODEL_NAME_CHARACTERS = 100;

/** What a name ends in that stands for the newest version. */
export const LATEST = '-latest';

/** A fitted model as a folder lists it. */
export interface ListedModel {
  readonly name: string;
  /** When its file was last written, in milliseconds since 1970. */
  readonly modifiedMs: number;
}

const ALLOWED = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const VERSIONED = /^(.+)_(\d{4})(\d{2})(\d{2})_(\d{2})(\d{2})(\d{2})$/;
const SECOND_MS = 1000;

/**
 * Returns the name of a fitted model as it is, or throws `bad_request`: nothing is taken out of a name to make it fit, so that no two names
 * mean one file (threat T1). A version and `-latest` do not count towards its length.
 */
export function checkedName(name: string): string {
  const wrong = faultOf(name);
  if (wrong === undefined) return name;
  throw new Failure(
    'bad_request',
    `The model name ${quote(name)} ${wrong}. A name has 1 to ${MAX_MODEL_NAME_CHARACTERS} letters, digits, "_", "." and "-", and does not start with "." or "-".`,
  );
}

/** Returns a name that a model can be fitted under, or throws `bad_request`: `checkedName`, and not `...-latest`, which would hide the versions. */
export function checkedNewName(name: string): string {
  if (!checkedName(name).endsWith(LATEST)) return name;
  throw new Failure(
    'bad_request',
    `The model name ${quote(name)} ends in "${LATEST}", which stands for the newest version: it can be scored, predicted with and loaded, not fitted.`,
  );
}

/**
 * When a save of `name` counts as made: now, or just after the newest version of it and of its base where the clock was set back behind that (threat T36).
 * Names and files bear this time, so that what was saved last is the newest.
 */
export function savedAt(name: string, available: readonly ListedModel[]): Date {
  const { base } = versionOf(name);
  // A name that looks like a version can have versions itself.
  const related = available.filter((one) => isOf(one, base) || isOf(one, name));
  return new Date(related.reduce((ms, { modifiedMs }) => Math.max(ms, Math.round(modifiedMs) + 1), Date.now()));
}

/** The name that a fit is saved under, and when that counts as made: the asked name where it overwrites, else a new version of it. */
export function nameForFit(
  asked: { readonly model: string; readonly overwrite: boolean },
  available: readonly ListedModel[],
): { name: string; at: Date } {
  const at = savedAt(asked.model, available);
  const taken = new Set(available.map(({ name }) => name));
  return { name: asked.overwrite ? asked.model : versionedName(asked.model, at, (name) => taken.has(name)), at };
}

/** The name of a version made at a time: `base_YYYYMMDD_HHMMSS` in UTC. Where `isTaken` says that it exists, the next second that is free. */
export function versionedName(base: string, at: Date, isTaken: (name: string) => boolean = () => false): string {
  for (let ms = at.getTime(); ; ms += SECOND_MS) {
    const time = new Date(ms).toISOString().replace(/[-:]/g, '').replace('T', '_').slice(0, 15);
    const name = `${base}_${time}`;
    if (!isTaken(name)) return name;
  }
}

/** Names of new versions where the model is made elsewhere: of two that are asked for at once, none overwrites the other. */
export class VersionNames {
  /** Also those of runs that have ended: the list of one that is under way may be older than what they made. */
  readonly #claimed = new Set<string>();
  #runs = 0;

  /** Runs `make` with a name that neither a listed model nor another run has. */
  async with<T>(base: string, list: () => Promise<readonly ListedModel[]>, make: (name: string) => Promise<T>): Promise<T> {
    this.#runs += 1;
    try {
      const available = await list();
      const taken = new Set([...this.#claimed, ...available.map(({ name }) => name)]);
      const name = versionedName(base, savedAt(base, available), (one) => taken.has(one));
      this.#claimed.add(name);
      return await make(name);
    } finally {
      this.#runs -= 1;
      if (this.#runs === 0) this.#claimed.clear();
    }
  }
}

/** What a name is a version of; the name itself where it is none. */
export function versionOf(name: string): { base: string; versioned: boolean } {
  const base = VERSIONED.exec(name)?.[1];
  return base === undefined ? { base: name, versioned: false } : { base, versioned: true };
}

/**
 * The name that `base-latest` stands for: the newest of the versions and the unversioned `base`, or `base` where there is none of them.
 * A version counts by the time in its name (or that of its file where that is earlier: names of one second are moved on), the base by its file's.
 * Any other name is returned as it is.
 */
export function resolveLatest(name: string, available: readonly ListedModel[]): string {
  if (!name.endsWith(LATEST)) return name;
  const base = name.slice(0, -LATEST.length);
  let newest: ListedModel | undefined;
  for (const one of available) {
    if (!isOf(one, base)) continue;
    if (newest === undefined || isNewer(one, newest)) newest = one;
  }
  return newest?.name ?? base;
}

/** The newest version of a name, with or without `-latest` behind it; see `resolveLatest`. */
export function newestVersion(name: string, available: readonly ListedModel[]): string {
  return resolveLatest(name.endsWith(LATEST) ? name : `${name}${LATEST}`, available);
}

/** Names that a message lists. */
const MAX_LISTED = 20;

/** Some of the names of what is there, for a message; `none` where there is nothing. */
export function thereAre(names: readonly string[], none: string): string {
  if (names.length === 0) return none;
  return `There are ${names.slice(0, MAX_LISTED).join(', ')}${names.length > MAX_LISTED ? ' and more' : ''}`;
}

/** Whether it is the model of a name or a version of that. */
function isOf(one: ListedModel, name: string): boolean {
  return one.name === name || versionOf(one.name).base === name;
}

function isNewer(one: ListedModel, other: ListedModel): boolean {
  const later = secondOf(one) - secondOf(other) || one.modifiedMs - other.modifiedMs;
  return later === 0 ? one.name > other.name : later > 0;
}

function faultOf(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (name.includes('..')) return 'has ".." in it';
  if (!ALLOWED.test(name)) return 'has a character that no name may have there';
  if (name.endsWith('.')) return 'ends in "."';
  if (isDeviceName(name)) return 'is reserved by Windows';
  const { base } = versionOf(name.endsWith(LATEST) ? name.slice(0, -LATEST.length) : name);
  if (base === '') return 'is reserved';
  return base.length > MAX_MODEL_NAME_CHARACTERS ? `has ${base.length} characters` : undefined;
}

/** In seconds since 1970. */
function secondOf({ name, modifiedMs }: ListedModel): number {
  const written = Math.floor(modifiedMs / SECOND_MS);
  const found = VERSIONED.exec(name);
  if (found === null) return written;
  const [year, month, day, hour, minute, second] = found.slice(2).map(Number) as [number, number, number, number, number, number];
  return Math.min(written, Date.UTC(year, month - 1, day, hour, minute, second) / SECOND_MS);
}
