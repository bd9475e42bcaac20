/** One project file while it is edited, by its form and as text: what is wrong with it, its draft, and how it is saved. */

import type { ProjectText, TextCheck, TextSaved } from '$schemas/core/projects';
import { ApiError, get, projectPath, send } from '../../lib/api';
import { draft, keepDraft } from '../../lib/drafts';
import { inOrder } from '../../lib/overlap.svelte';
import { type Path, type ReadYaml, readYaml, withMoved, withValue } from './yaml';

/** How long after the last change the daemon is asked about the text, in milliseconds. */
const CHECK_MS = 400;

/** How often a change begins anew because somebody else changed the file meanwhile. */
const TRIES = 5;

/** What is wrong, and where. */
export interface Problem {
  readonly line: number;
  readonly path: Path;
  readonly message: string;
}

/** Text of a field that is no value. */
export interface OddText {
  readonly label: string;
  readonly text: string;
  readonly why: string;
}

const lineEndOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');
/** A text with the line ends of editors. */
const withPlainEnds = (text: string): string => text.replaceAll(/\r\n?/g, '\n');

/** Changes the project file below a path of endpoints; where somebody else changes it meanwhile, theirs is read and changed. Throws `ApiError`. */
export async function changeFile(path: string, change: (text: string) => string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const { text, stamp } = await get<ProjectText>(`${path}/text`);
    const changed = change(withPlainEnds(text)).replaceAll('\n', lineEndOf(text));
    try {
      await send(`${path}/text`, { text: changed, stamp }, { method: 'PUT' });
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409 || tries === TRIES) throw error;
    }
  }
}

/** A path as a name. */
export const nameOf = (path: Path): string => JSON.stringify(path);

export class ProjectEdit {
  readonly path: string;
  readonly #draft: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The draft as this page wrote it or took it up; the draft of another window is not erased. */
  #kept = '';
  /** Stamp of the file that the text is based on. */
  #base = '';
  #lineEnd = '\n';
  /** Saves go one after the other: the second is based on what the first stored. */
  readonly #inOrder = inOrder();
  text = $state('');
  /** The file as it was read or saved last. */
  saved = $state.raw<ProjectText>();
  read = $state.raw<ReadYaml>(readYaml(''));
  problems = $state.raw<readonly Problem[]>([]);
  /** Settings without effect. */
  notes = $state.raw<readonly string[]>([]);
  /** Whether `problems` are those of the present text. */
  isChecked = $state(false);
  /** The file as somebody else left it, while this text is based on an older one. */
  theirs = $state.raw<ProjectText>();
  /** Fields of the form whose text is no value, by `nameOf` their path: it stands in no file, so nothing is saved meanwhile. */
  odd = $state.raw<ReadonlyMap<string, OddText>>(new Map());
  readonly isChanged = $derived(this.saved !== undefined && this.text !== this.saved.text);

  constructor(namespace: string, name: string) {
    this.path = projectPath(namespace, name);
    this.#draft = `project ${namespace}/${name}`;
  }

  /** Reads the file, and takes up a draft of it. */
  async load(): Promise<void> {
    const file = await this.#file();
    if (this.saved) return;
    this.saved = file;
    this.#kept = draft(this.#draft);
    const [stamp = '', ...rest] = this.#kept.split('\n');
    const text = rest.join('\n');
    this.#base = text === '' ? file.stamp : stamp;
    this.set(text === '' ? file.text : text);
    if (text !== '' && stamp !== file.stamp) this.theirs = file;
  }

  set(text: string): void {
    this.text = text;
    this.read = readYaml(text);
    this.isChecked = false;
    this.#keep(this.isChanged ? `${this.#base}\n${text}` : '');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.check().catch(() => undefined), CHECK_MS);
  }

  async #file(): Promise<ProjectText> {
    return this.#shown(await get<ProjectText>(`${this.path}/text`));
  }

  /** A file with the line ends of editors; its own are written again when it is saved. */
  #shown(file: ProjectText): ProjectText {
    this.#lineEnd = lineEndOf(file.text);
    return { ...file, text: withPlainEnds(file.text) };
  }

  #keep(text: string): void {
    if (text === this.#kept || (text === '' && draft(this.#draft) !== this.#kept)) return;
    keepDraft(this.#draft, text);
    this.#kept = text;
  }

  /** Changes one setting; undefined takes it out. */
  setValue(path: Path, value: unknown): void {
    if (this.read.problem) return;
    // When an entry goes, those behind it have other places.
    this.#forgetOdd(value === undefined && typeof path.at(-1) === 'number' ? path.slice(0, -1) : path);
    this.set(withValue(this.text, path, value));
  }

  /** Moves an entry of the list at a path. */
  move(path: Path, from: number, to: number): void {
    if (this.read.problem) return;
    this.#forgetOdd(path);
    this.set(withMoved(this.text, path, from, to));
  }

  /** Keeps what was typed into a field of the form and is no value. */
  setOdd(path: Path, odd: OddText): void {
    this.odd = new Map(this.odd).set(nameOf(path), odd);
  }

  #forgetOdd(path: Path): void {
    const below = nameOf(path).slice(0, -1);
    if (this.odd.size > 0) this.odd = new Map([...this.odd].filter(([name]) => !name.startsWith(below)));
  }

  /** Asks the daemon what is wrong. */
  async check(): Promise<void> {
    clearTimeout(this.#timer);
    const { text, read } = this;
    const { problems, notes } = read.problem
      ? { problems: [{ loc: [], msg: read.problem.message }], notes: [] }
      : await send<TextCheck>(`${this.path}/text/check`, { text: text === '' ? '\n' : text });
    if (text !== this.text) return;
    this.problems = problems.map(({ loc, msg }) => ({ path: loc, message: msg, line: read.problem?.line ?? read.lineOf(loc) }));
    this.notes = notes;
    this.isChecked = true;
  }

  /** Saves the text. Where the file is another by now, nothing is saved and `theirs` is set. Throws what else went wrong. */
  save(): Promise<boolean> {
    return this.#inOrder(async () => {
      const mine = this.text;
      try {
        const { text } = await send<TextSaved>(
          `${this.path}/text`,
          { text: mine.replaceAll('\n', this.#lineEnd), stamp: this.saved!.stamp },
          { method: 'PUT' },
        );
        if (this.text === mine && this.odd.size === 0) this.#take(this.#shown(text));
        else this.#goOnFrom(this.#shown(text));
        return true;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 409) throw error;
        this.theirs = await this.#file();
        return false;
      }
    });
  }

  /** Gives up this text for the file's. */
  takeTheirs(): void {
    this.#take(this.theirs!);
  }

  /** Goes on with this text; it replaces the file's when it is saved. */
  keepMine(): void {
    this.#goOnFrom(this.theirs!);
  }

  /** Bases the text on a file; what was typed stays. */
  #goOnFrom(file: ProjectText): void {
    [this.saved, this.theirs, this.#base] = [file, undefined, file.stamp];
    this.set(this.text);
  }

  /** Gives up what was not saved. */
  discard(): void {
    this.odd = new Map();
    this.set(this.saved!.text);
  }

  #take(file: ProjectText): void {
    this.odd = new Map();
    this.saved = file;
    this.#base = file.stamp;
    this.theirs = undefined;
    this.set(file.text);
  }

  /** What is wrong with one setting, itself and not with what is in it. */
  problemAt(path: Path): string {
    const name = nameOf(path);
    return this.problems
      .filter((one) => nameOf(one.path) === name)
      .map(({ message }) => message)
      .join(' ');
  }

  /** How many things are wrong with a setting and what is in it. */
  problemsIn(path: Path): number {
    return this.problems.filter((one) => path.every((part, at) => one.path[at] === part)).length;
  }
}
