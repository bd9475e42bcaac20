/** One project file while it is edited, by its form and as text: what is wrong with it, its draft, and how it is saved. */

import type { ProjectText, TextCheck, TextSaved } from '$schemas/core/projects';
import { ApiError, get, projectPath, send } from '../../lib/api';
import { draft, keepDraft } from '../../lib/drafts';
import { type Path, type ReadYaml, readYaml, withValue } from './yaml';

/** Waits after the last change before the daemon is asked about it. */
const CHECK_MS = 400;

/** What is wrong, and where. */
export interface Problem {
  readonly line: number;
  readonly path: Path;
  readonly message: string;
}

export class ProjectEdit {
  readonly path: string;
  readonly #draft: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  text = $state('');
  /** What the file says. */
  saved = $state.raw<ProjectText>();
  read = $state.raw<ReadYaml>(readYaml(''));
  problems = $state.raw<readonly Problem[]>([]);
  /** Settings without effect. */
  notes = $state.raw<readonly string[]>([]);
  /** Whether `problems` are those of the present text. */
  isChecked = $state(false);
  /** The file as somebody else left it, while this text is based on an older one. */
  theirs = $state.raw<ProjectText>();
  readonly isChanged = $derived(this.saved !== undefined && this.text !== this.saved.text);

  constructor(namespace: string, name: string) {
    this.path = projectPath(namespace, name);
    this.#draft = `project ${namespace}/${name}`;
  }

  /** Reads the file, and takes up a draft of it. */
  async load(): Promise<void> {
    const file = await get<ProjectText>(`${this.path}/text`);
    this.saved = file;
    const [stamp = '', ...rest] = draft(this.#draft).split('\n');
    const text = rest.join('\n');
    this.set(text === '' ? file.text : text);
    if (text !== '' && stamp !== file.stamp) this.theirs = file;
  }

  set(text: string): void {
    this.text = text;
    this.read = readYaml(text);
    this.isChecked = false;
    keepDraft(this.#draft, this.isChanged ? `${this.saved!.stamp}\n${text}` : '');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.check().catch(() => undefined), CHECK_MS);
  }

  /** Changes one setting; undefined takes it out. */
  setValue(path: Path, value: unknown): void {
    if (!this.read.problem) this.set(withValue(this.text, path, value));
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
  async save(): Promise<boolean> {
    try {
      const { text } = await send<TextSaved>(`${this.path}/text`, { text: this.text, stamp: this.saved!.stamp }, { method: 'PUT' });
      this.#take(text);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      this.theirs = await get<ProjectText>(`${this.path}/text`);
      return false;
    }
  }

  /** Gives up this text for the file's. */
  takeTheirs(): void {
    this.#take(this.theirs!);
  }

  /** Goes on with this text; it replaces the file's when it is saved. */
  keepMine(): void {
    this.saved = this.theirs!;
    this.theirs = undefined;
    this.set(this.text);
  }

  /** Gives up what was not saved. */
  discard(): void {
    this.set(this.saved!.text);
  }

  #take(file: ProjectText): void {
    this.saved = file;
    this.theirs = undefined;
    this.set(file.text);
  }

  /** What is wrong with one setting, itself and not with what is in it. */
  problemAt(path: Path): string {
    const name = JSON.stringify(path);
    return this.problems
      .filter((one) => JSON.stringify(one.path) === name)
      .map(({ message }) => message)
      .join(' ');
  }

  /** How many things are wrong with a setting and what is in it. */
  problemsIn(path: Path): number {
    return this.problems.filter((one) => path.every((part, at) => one.path[at] === part)).length;
  }
}
