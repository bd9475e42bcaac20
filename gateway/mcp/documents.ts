import type { LoadedProject } from '../../runtime/projects/projects.js';
import type { Runtime } from '../../runtime/runtime.js';
import { Failure } from '../../schemas/errors.js';
import type { FileMetadata } from '../../schemas/generated/core/datasets.js';
import { type Place, pageOf, placesOf, type Visited } from './pages.js';
import { checkProject, type Scope } from './scope.js';

/** Most values of one answer, as the protocol has it. */
const MAX_VALUES = 100;

/** What is completed: one variable of a form of addresses, with the others as far as they are known. */
export interface Completed {
  readonly name: string;
  readonly value: string;
  readonly known: Readonly<Record<string, string>>;
}

/** Names that begin as a variable of an address does. None where what stands before it does not exist. */
export async function completionOf(
  runtime: Runtime,
  scope: Scope,
  { name, value, known }: Completed,
): Promise<{ values: string[]; total: number; hasMore: boolean }> {
  const names = await namesOf(runtime, scope, name, known).catch((failure: unknown) => {
    if (failure instanceof Failure) return [];
    throw failure;
  });
  const fitting = names.filter((one) => one.toLowerCase().startsWith(value.toLowerCase()));
  return { values: fitting.slice(0, MAX_VALUES), total: fitting.length, hasMore: fitting.length > MAX_VALUES };
}

async function namesOf({ projects, datasets }: Runtime, scope: Scope, name: string, known: Completed['known']): Promise<string[]> {
  const { namespace = '', project = '', dataset = '' } = known;
  if (name === 'namespace') return scope.project ? [scope.project.namespace] : projects.namespaces();
  if (name === 'project' && scope.project) return [scope.project.name];
  if (name === 'project') return namespace === '' ? [] : projects.names(namespace);
  checkProject(scope, namespace, project);
  await projects.parsing(namespace, project);
  if (name === 'dataset') return (projects.load(namespace, project).config.datasets ?? []).map((one) => one.name);
  if (name !== 'document') return [];
  const files = await datasets.files(namespace, project, dataset);
  return [...new Set(files.map(({ original_file_name: fileName }) => fileName))].sort();
}

/** Longest text of a document that is read at once. */
const MAX_TEXT_CHARS = 400_000;
const ROOT = 'quern://projects/';
const PROJECT_TYPE = 'application/json';

/** A resource as lists show it. */
export interface ResourceCard {
  [member: string]: unknown;
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
}

/** The content of a resource. */
export interface ResourceText {
  [member: string]: unknown;
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

/** The forms of addresses, which clients fill in. */
export const DOCUMENT_TEMPLATES = [
  {
    uriTemplate: `${ROOT}{namespace}/{project}`,
    name: 'project',
    description: 'The configuration of a project; its secrets are hidden.',
    mimeType: PROJECT_TYPE,
  },
  {
    uriTemplate: `${ROOT}{namespace}/{project}/{dataset}/{document}`,
    name: 'document',
    description: 'The text of a document in a dataset, by its file name or the SHA-256 of its bytes.',
  },
];

/** The projects and their documents as resources. */
export class Documents {
  readonly #runtime: Runtime;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** A page of all resources. */
  async list(scope: Scope, cursor: string | undefined): Promise<{ resources: ResourceCard[]; nextCursor?: string }> {
    const { items: resources, ...rest } = await pageOf(
      (after) => placesOf(this.#runtime, scope, after, (project) => this.#below(project)),
      cursor,
    );
    return { resources, ...rest };
  }

  /** What stands at an address. Throws `not_found`, and what reading a document throws. */
  async read(scope: Scope, uri: string, signal: AbortSignal): Promise<ResourceText> {
    const parts = partsOf(uri);
    if (parts && parts.length >= 2) checkProject(scope, parts[0]!, parts[1]!);
    if (parts?.length === 2) return this.#readProject(uri, parts[0]!, parts[1]!);
    if (parts?.length === 4) return this.#readDocument(uri, parts as [string, string, string, string], signal);
    throw unknownAddress(uri);
  }

  async *#below(project: LoadedProject): AsyncGenerator<Visited<ResourceCard>, void, undefined> {
    const { namespace, name, config } = project;
    yield { place: [namespace, name], item: projectCard(namespace, name) };
    for (const dataset of (config.datasets ?? []).map((one) => one.name).sort()) {
      const files = await this.#files(namespace, name, dataset);
      for (const file of files.sort((a, b) => (a.hash < b.hash ? -1 : 1)))
        yield { place: [namespace, name, dataset, file.hash], item: documentCard([namespace, name, dataset], file) };
    }
  }

  async #files(namespace: string, project: string, dataset: string): Promise<FileMetadata[]> {
    return this.#runtime.datasets.files(namespace, project, dataset);
  }

  async #readProject(uri: string, namespace: string, name: string): Promise<ResourceText> {
    const { projects } = this.#runtime;
    await projects.parsing(namespace, name);
    return { uri, mimeType: PROJECT_TYPE, text: cut(projects.json(namespace, name)) };
  }

  async #readDocument(
    uri: string,
    [namespace, name, dataset, document]: [string, string, string, string],
    signal: AbortSignal,
  ): Promise<ResourceText> {
    const { projects, preview, datasets } = this.#runtime;
    await projects.parsing(namespace, name);
    const { dataset: found } = datasets.find(namespace, name, dataset);
    const files = await this.#files(namespace, name, dataset);
    // Of several files of one name the newest.
    const file = files.find(({ hash }) => hash === document) ?? files.findLast(({ original_file_name: one }) => one === document);
    if (!file)
      throw new Failure(
        'not_found',
        `Dataset ${dataset} of ${namespace}/${name} has no document ${JSON.stringify(document.slice(0, 200))}.`,
        { code: 'NotFound' },
      );
    const asked = { dataset_id: dataset, file_hash: file.hash, data_processing_strategy: found.data_processing_strategy };
    const { original_text: text } = await preview.show(namespace, name, found.database, asked, signal);
    return { uri, mimeType: file.mime_type.startsWith('text/') ? file.mime_type : 'text/plain', text: cut(text) };
  }
}

function addressOf(...parts: string[]): string {
  return ROOT + parts.map(encodeURIComponent).join('/');
}

/** The parts of an address, decoded; `undefined` for an address that is not ours. */
function partsOf(uri: string): Place | undefined {
  if (!uri.startsWith(ROOT)) return undefined;
  try {
    const parts = uri.slice(ROOT.length).split('/').map(decodeURIComponent);
    return parts.every((part) => part !== '' && part !== '.' && part !== '..') ? parts : undefined;
  } catch {
    return undefined;
  }
}

function projectCard(namespace: string, name: string): ResourceCard {
  return {
    uri: addressOf(namespace, name),
    name: `${namespace}/${name}`,
    description: `Configuration of the project ${namespace}/${name}`,
    mimeType: PROJECT_TYPE,
  };
}

function documentCard([namespace, project, dataset]: readonly [string, string, string], file: FileMetadata): ResourceCard {
  return {
    uri: addressOf(namespace, project, dataset, file.hash),
    name: file.original_file_name,
    description: `Document in dataset ${dataset} of ${namespace}/${project}`,
    mimeType: file.mime_type,
    size: file.size,
    annotations: { lastModified: new Date(file.timestamp * 1000).toISOString() },
  };
}

function unknownAddress(uri: string): Failure {
  const forms = DOCUMENT_TEMPLATES.map(({ uriTemplate }) => uriTemplate).join(' and ');
  return new Failure('not_found', `Nothing stands at ${JSON.stringify(uri.slice(0, 200))}; addresses are ${forms}.`, { code: 'NotFound' });
}

function cut(text: string): string {
  if (text.length <= MAX_TEXT_CHARS) return text;
  return `${text.slice(0, MAX_TEXT_CHARS)}\n\n[The first ${MAX_TEXT_CHARS} of ${text.length} characters. The HTTP API has the rest.]`;
}
