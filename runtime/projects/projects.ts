import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { Project, ProjectCreate, ProjectList } from '../../schemas/generated/core/projects.js';
import { Locks } from '../base/gate.js';
import type { JsonObject } from '../base/json.js';
import { log } from '../base/log.js';
import { isName, NAME_RULE, quote, requireName } from '../base/names.js';
import { editYaml, freshYaml } from '../config/edit.js';
import type { FileText, ParsedText } from '../config/masked-text.js';
import { normalise } from '../config/normalise.js';
import { checkTree, MAX_PROJECT_FILE_BYTES, MAX_SENT_MEMBERS, Unparsable, writeToml } from '../config/parse.js';
import { invalidConfig, type Path } from '../config/problems.js';
import {
  findProjectFile,
  formatOf,
  NEW_PROJECT_FILE,
  type PROJECT_FILES,
  parseProjectFile,
  readProjectText,
} from '../config/project-file.js';
import { replaceFile } from '../config/replace-file.js';
import { withSecretsOf } from '../config/secrets.js';
import { defaultTemplateName, templateText } from '../config/templates.js';
import { validateConfig } from '../config/validate.js';
import { editLargeYaml, parseLargeProjectFile } from '../config/yaml-worker.js';
import { CONSENT_FILE, consentText, noteWritten } from '../mcp/consent.js';
import { builtInRoot, isHelpProject, ProjectCache, projectNotFound, refuseBuiltIn, refuseReserved } from './cache.js';
import { ProjectDisk, projectExists } from './disk.js';
import { Listing } from './listing.js';
import { type LoadedProject, stampOf, writtenServers } from './loaded-project.js';

export type { LoadedProject } from './loaded-project.js';

/** A configuration to be saved: where it came from, for errors, and what it replaces. */
interface Given {
  readonly config: JsonObject;
  readonly where: Path;
  readonly current: JsonObject | null;
}

/** A text of a project file that is used, and who brought it. */
export interface SeenText {
  readonly text: string;
  readonly fileName: string;
  readonly source: 'api' | 'file' | 'restore';
}

/** Told of each text of a project file before it is used for the first time by this process; what it keeps must not depend on being told once. */
export type TextListener = (namespace: string, name: string, seen: SeenText) => Promise<void>;

/** Told when a project is gone for good or made anew: nothing kept under its name may survive. */
export type EraseListener = (namespace: string, name: string) => void | Promise<void>;

/**
 * The projects below `{dataDir}/projects/{namespace}/{project}/`, each one file. Reading is synchronous and always shows what is on disk;
 * writing is atomic and, per project, one at a time. One process per data directory (its lock file sees to that).
 */
export class Projects {
  readonly #root: string;
  readonly #templates: string;
  readonly #purges: boolean;
  readonly #cache: ProjectCache;
  readonly #listing: Listing;
  readonly #disk: ProjectDisk;
  readonly #locks = new Locks();
  readonly #eraseListeners: EraseListener[] = [];
  #onText: TextListener | undefined;
  /** What was read and told of. */
  readonly #told = new WeakSet<LoadedProject>();
  /** Projects whose files are being written, and for whom. */
  readonly #writing = new Map<string, SeenText['source']>();

  /** `purges`: deleting a project removes it unless the request says otherwise; false unless given. */
  constructor({ dataDir, purges = false }: { dataDir: string; purges?: boolean }) {
    this.#purges = purges;
    this.#root = join(dataDir, 'projects');
    this.#templates = join(dataDir, 'templates');
    this.#cache = new ProjectCache(this.#root, builtInRoot(dataDir));
    this.#listing = new Listing(this.#root, this.#cache);
    this.#disk = new ProjectDisk(this.#root);
  }

  /**
   * Parses a large project file that has changed in a worker thread, so that reading the project then holds nobody up; `undefined` where
   * there is nothing to wait for. Never rejects: reading the project says what is wrong.
   */
  parsing(namespace: string, name: string): Promise<void> | undefined {
    return this.#cache.parsing(namespace, name);
  }

  /** A project for use. Throws `not_found` (ProjectNotFound) without a directory, `invalid` (ProjectConfigError) for a file that cannot be used. */
  load(namespace: string, name: string): LoadedProject {
    const { snapshot } = this.#cache.get(namespace, name);
    if (snapshot.loaded) {
      if (this.#onText && !this.#told.has(snapshot.loaded)) this.#tell(snapshot.loaded);
      return snapshot.loaded;
    }
    throw snapshot.failure!;
  }

  /** A project for showing, also when its file is invalid. Throws as `load` does, `invalid` only for a file that does not parse. */
  get(namespace: string, name: string): Project {
    const { snapshot } = this.#cache.get(namespace, name);
    if (snapshot.shown) return snapshot.shown;
    throw snapshot.failure!;
  }

  /** `get` as JSON text. */
  json(namespace: string, name: string): string {
    const { json, snapshot } = this.#cache.get(namespace, name);
    if (json !== null) return json;
    throw snapshot.failure!;
  }

  /** The projects of a namespace by name; none for a namespace that does not exist. */
  list(namespace: string): ProjectList {
    return this.#listing.list(namespace);
  }

  /** `list` as the bytes of the answer, for network callbacks; see `Listing.bytes`. */
  listBytes(namespace: string): Buffer | Promise<Buffer> {
    return this.#listing.bytes(namespace);
  }

  /** The namespaces that have a folder, in order. */
  namespaces(): string[] {
    return this.#listing.namespaces();
  }

  /** The names of what may be projects of a namespace, in order; whether they can be read, `load` tells. */
  names(namespace: string): string[] {
    return this.#listing.names(namespace);
  }

  /** Registers who keeps state under project names, such as chat sessions. */
  onErase(listener: EraseListener): void {
    this.#eraseListeners.push(listener);
  }

  /** The folder of a project. Throws `not_found`. */
  directoryOf(namespace: string, name: string): string {
    return this.#cache.get(namespace, name).directory;
  }

  /** Registers who keeps what project files say. */
  onText(listener: TextListener): void {
    this.#onText = listener;
  }

  /** The present text of a project file that can be used; null where it cannot. Throws as `load` does. */
  textOf(namespace: string, name: string): SeenText | null {
    if (isHelpProject(namespace, name)) return null;
    const { directory, stamp } = this.load(namespace, name);
    const found = findProjectFile(directory);
    const text = found ? readProjectText(found.path, this.#root, `Project ${namespace}/${name}`).text : '';
    // It was changed between the two looks: the next one sees it.
    if (!found || stampOf(text) !== stamp) return null;
    return { text, fileName: found.fileName, source: this.#writing.get(`${namespace}/${name}`) ?? 'file' };
  }

  /** Makes a project from a template (the default one unless named). Throws `conflict` when it exists. */
  async create(namespace: string, { name, config_template }: ProjectCreate): Promise<Project> {
    requireName('namespace', namespace);
    refuseReserved(namespace);
    if (!isName(name)) {
      const msg = `${quote(name)} cannot be a project name: ${NAME_RULE}`;
      throw new Failure('invalid', `${msg}.`, { errors: [{ type: 'name', loc: ['body', 'name'], msg, input: name }] });
    }
    const template = config_template ?? defaultTemplateName();
    const text = templateText(template, this.#templates);
    const subject = `Template ${template}`;
    const { value } = parseProjectFile(`${template}.yaml`, text, subject);
    return this.createFrom(namespace, name, { text, value }, { subject, where: 'template' });
  }

  /**
   * Makes a project from the text of a YAML file and what it says, under another name than the text's. Throws `conflict` when it exists,
   * `invalid` for a configuration that cannot be saved: `subject` starts the message, and `where` the path of each error.
   */
  async createFrom(
    namespace: string,
    name: string,
    given: { text: string; value: JsonObject },
    from: { subject: string; where: string },
  ): Promise<Project> {
    requireName('namespace', namespace);
    requireName('project', name);
    refuseReserved(namespace);
    const config = this.#checked(from.subject, { config: given.value, where: [from.where], current: null }, namespace, name);
    const text = editYaml(given.text, config);
    return this.#locks.run(`${namespace}/${name}`, async () => {
      if (this.#hasFile(namespace, name)) throw projectExists(namespace, name);
      const consent = await consentText(await writtenServers(NEW_PROJECT_FILE, text, config, namespace, name));
      await this.#disk.add(namespace, name, text, consent === undefined ? {} : { [CONSENT_FILE]: consent });
      await this.#erased(namespace, name);
      await this.#onText?.(namespace, name, { text, fileName: NEW_PROJECT_FILE, source: 'api' });
      return this.get(namespace, name);
    });
  }

  /**
   * Replaces the configuration; a secret that comes as it is shown, as `***`, stays what it is. Throws `invalid` with each offending path, and
   * leaves the file as it was when anything fails.
   */
  put(namespace: string, name: string, config: JsonObject): Promise<Project> {
    return this.#locks.run(`${namespace}/${name}`, async () => {
      refuseBuiltIn(namespace, name);
      const { directory, snapshot } = this.#cache.get(namespace, name);
      const given = { config, where: ['body', 'config'], current: snapshot.stored };
      const stored = this.#checked(`Project ${namespace}/${name}`, given, namespace, name);
      await this.#write(namespace, name, directory, stored);
      return this.get(namespace, name);
    });
  }

  /**
   * Changes a part of the configuration while nobody else writes it. `change` gets what the file says, in the file's own forms, and returns
   * what it shall say. Throws what `change` throws, and `invalid` when the result could not be used; the file is then as it was.
   */
  edit(namespace: string, name: string, change: (raw: JsonObject) => JsonObject): Promise<LoadedProject> {
    return this.#locks.run(`${namespace}/${name}`, async () => {
      refuseBuiltIn(namespace, name);
      const { directory, fileName } = this.#file(namespace, name);
      const subject = `Project ${namespace}/${name}`;
      const { text } = readProjectText(join(directory, fileName), this.#root, subject);
      const next = change(await parseLargeProjectFile(fileName, text, subject));
      // Names that point at nothing elsewhere in the file do not stand in the way.
      const { errors } = validateConfig(next, namespace, name);
      if (errors.length > 0) throw invalidConfig(subject, errors);
      await this.#write(namespace, name, directory, next);
      return this.load(namespace, name);
    });
  }

  /** The present text of a project file, also of one that cannot be used; null where there is none that can be read. Throws `not_found`. */
  present(namespace: string, name: string): FileText | null {
    const found = findProjectFile(this.directoryOf(namespace, name));
    if (!found || isHelpProject(namespace, name)) return null;
    try {
      return { text: readProjectText(found.path, this.#root, name).text, format: formatOf(found.fileName) };
    } catch (failure) {
      if (failure instanceof Failure) return null;
      throw failure;
    }
  }

  /**
   * Replaces the file's text while nobody else writes it: `make` gets the present one and returns another with what it says. A file in another format says the same
   * in its own. Throws what `make` throws, and `invalid` for a text that could not be used, or, by `api`, names what is not there; the file is then as it was.
   */
  putText(
    namespace: string,
    name: string,
    source: 'api' | 'restore',
    make: (present: FileText | null) => Promise<ParsedText>,
  ): Promise<Project> {
    return this.#locks.run(`${namespace}/${name}`, async () => {
      refuseBuiltIn(namespace, name);
      const { text, format, value } = await make(this.present(namespace, name));
      const { stored, errors, warnings } = validateConfig(value, namespace, name);
      const problems = source === 'api' ? [...errors, ...warnings] : errors;
      if (problems.length > 0) throw invalidConfig(`Project ${namespace}/${name}`, problems, source === 'api' ? ['body', 'text'] : []);
      const directory = this.directoryOf(namespace, name);
      const isSameForm = formatOf(findProjectFile(directory)?.fileName ?? NEW_PROJECT_FILE) === format;
      await this.#write(namespace, name, directory, isSameForm ? value : stored, { source, ...(isSameForm ? { text } : {}) });
      return this.get(namespace, name);
    });
  }

  /** Returns the project and, with `purge`, deletes it and everything that belongs to it. */
  delete(namespace: string, name: string, { purge = this.#purges }: { purge?: boolean | undefined }): Promise<Project> {
    return this.#locks.run(`${namespace}/${name}`, async () => {
      refuseBuiltIn(namespace, name);
      if (!purge) return this.get(namespace, name);
      const { snapshot } = this.#cache.get(namespace, name);
      const unreadable = {
        namespace,
        name,
        config: {},
        validation_error: snapshot.failure?.message ?? null,
        notes: [],
        last_modified: null,
      };
      await this.#disk.remove(namespace, name);
      await this.#erased(namespace, name);
      return snapshot.shown ?? unreadable;
    });
  }

  /** Where the file of a project lies that can be read. */
  #file(namespace: string, name: string): { directory: string; fileName: (typeof PROJECT_FILES)[number] } {
    const { directory } = this.load(namespace, name);
    const found = findProjectFile(directory);
    if (!found) throw projectNotFound(namespace, name);
    return { directory, fileName: found.fileName };
  }

  #tell(project: LoadedProject): void {
    this.#told.add(project);
    const { namespace, name } = project;
    const seen = this.textOf(namespace, name);
    if (seen) void this.#onText!(namespace, name, seen);
  }

  /** Writes what a configuration says, or the text that says it. */
  async #write(
    namespace: string,
    name: string,
    directory: string,
    value: JsonObject,
    given: { source: SeenText['source']; text?: string } = { source: 'api' },
  ): Promise<void> {
    const made = await this.#replacement(directory, value, `Project ${namespace}/${name}`);
    const { path, text } = { ...made, ...(given.text === undefined ? {} : { text: given.text }) };
    if (Buffer.byteLength(text) > MAX_PROJECT_FILE_BYTES) {
      throw new Failure(
        'too_large',
        `Project ${namespace}/${name}: the configuration would be larger than ${MAX_PROJECT_FILE_BYTES} bytes.`,
      );
    }
    const present = this.#cache.get(namespace, name).snapshot.loaded?.config.mcp?.servers ?? [];
    await noteWritten(directory, present, await writtenServers(path, text, value, namespace, name));
    const { source } = given;
    this.#writing.set(`${namespace}/${name}`, source);
    try {
      await replaceFile(path, text);
      this.#cache.expect(text, value);
      this.#listing.forget(namespace);
      await this.#onText?.(namespace, name, { text, fileName: basename(path), source });
    } finally {
      this.#writing.delete(`${namespace}/${name}`);
    }
  }

  #hasFile(namespace: string, name: string): boolean {
    try {
      return this.#cache.get(namespace, name).path !== null;
    } catch (failure) {
      if (failure instanceof Failure && failure.code === projectNotFound(namespace, name).code) return false;
      throw failure;
    }
  }

  async #erased(namespace: string, name: string): Promise<void> {
    this.#listing.forget(namespace);
    for (const listener of this.#eraseListeners) {
      try {
        await listener(namespace, name);
      } catch (cause) {
        log('error', 'state of a deleted project could not be removed', { project: `${namespace}/${name}`, cause });
      }
    }
  }

  /**
   * The stored form of a configuration that may be saved, with the secrets of the current one where it has their masks; throws `invalid` for
   * any problem, dangling names included.
   */
  #checked(subject: string, { config, where, current }: Given, namespace: string, name: string): JsonObject {
    try {
      checkTree(config, MAX_SENT_MEMBERS);
    } catch (cause) {
      if (!(cause instanceof Unparsable)) throw cause;
      throw invalidConfig(subject, [{ path: [], reason: cause.message, type: 'tree' }], where);
    }
    // In the stored form, in which secrets were shown.
    const whole = withSecretsOf(normalise(config, namespace, name), current, where);
    const { stored, errors, warnings } = validateConfig(whole, namespace, name);
    const problems = [...errors, ...warnings];
    if (problems.length > 0) throw invalidConfig(subject, problems, where);
    return stored;
  }

  /** Which file to write and its text: the present file, whose layout a YAML file keeps, or a new YAML file where there is none. */
  async #replacement(directory: string, stored: JsonObject, subject: string): Promise<{ path: string; text: string }> {
    const found = findProjectFile(directory);
    if (!found) return { path: join(directory, NEW_PROJECT_FILE), text: freshYaml(stored) };
    const path = realpathSync.native(found.path);
    const format = formatOf(found.fileName);
    if (format === 'json') return { path, text: `${JSON.stringify(stored, null, 2)}\n` };
    if (format === 'toml') return { path, text: writeToml(stored) };
    try {
      return { path, text: await editLargeYaml(readProjectText(path, this.#root, subject).text, stored) };
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      // What cannot be read (not UTF-8, too large) can still be replaced; the backup keeps it.
      return { path, text: freshYaml(stored) };
    }
  }
}
