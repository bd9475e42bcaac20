import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type {
  Example,
  ExampleDataset,
  ImportData,
  ImportDataset,
  ImportDatasetReply,
  ImportProject,
  ImportReply,
  Manifest,
  ManifestDataset,
} from '../../schemas/generated/core/examples.js';
import { isObject, type JsonObject } from '../base/json.js';
import { invalidConfig } from '../config/problems.js';
import { validateConfig } from '../config/validate.js';
import { FILE_BYTES } from '../library/datasets/contract.js';
import type { Datasets } from '../library/datasets/datasets.js';
import type { Projects } from '../projects/projects.js';
import {
  BUILT_IN_EXAMPLES,
  Catalogue,
  type CompleteDataset,
  completeDataset,
  configOf,
  datasetFiles,
  type FoundExample,
  projectFilesOf,
  shownDatasets,
  shownExample,
} from './catalogue.js';
import { copyFileIn, type PlainFile, takeIn } from './plain-file.js';

/** Parts of a `rag` section whose things an import adds where the project lacks their names. */
const MERGED = ['databases', 'data_processing_strategies'] as const;

type ManifestExample = FoundExample & { readonly manifest: Manifest };

/** Example projects with their documents: what there is, and their import. */
export class Examples {
  readonly #catalogue: Catalogue;
  readonly #projects: Projects;
  readonly #datasets: Datasets;

  /** `builtIn`: the folder of the examples that come with this program, unless given. */
  constructor(parts: { dataDir: string; projects: Projects; datasets: Datasets; builtIn?: string }) {
    this.#catalogue = new Catalogue([parts.builtIn ?? BUILT_IN_EXAMPLES, join(parts.dataDir, 'examples')]);
    this.#projects = parts.projects;
    this.#datasets = parts.datasets;
  }

  /** All examples, by their ids. */
  async list(): Promise<Example[]> {
    return Promise.all((await this.#catalogue.all()).map(shownExample));
  }

  /** The datasets of one example, or of all. Throws `not_found` (ExampleNotFound). */
  async datasets(id?: string): Promise<ExampleDataset[]> {
    const examples = id === undefined ? await this.#catalogue.all() : [await this.#catalogue.get(id)];
    return (await Promise.all(examples.map(shownDatasets))).flat();
  }

  /** Makes a project of an example, with its datasets. Throws `not_found`, `bad_request` (BadManifest), `conflict` for a project that exists. */
  async importProject(id: string, { namespace, name, process = true }: ImportProject): Promise<ImportReply> {
    const example = await this.#catalogue.get(id);
    const config = await configOf(example);
    const wanted = await contentsOf(example);
    const files = await projectFilesOf(example);
    await this.#projects.createFrom(namespace, name, config, { subject: `Example ${id}`, where: 'example' });
    const { directory } = this.#projects.load(namespace, name);
    for (const file of files) {
      const target = join(directory, ...file.place);
      await mkdir(dirname(target), { recursive: true });
      await copyFileIn(file, target);
    }
    return this.#fill(namespace, name, wanted, process);
  }

  /** Adds the datasets of an example to a project. Throws `not_found`, `bad_request` (BadManifest). */
  async importData(id: string, { namespace, project, include_strategies: merge = true, process = true }: ImportData): Promise<ImportReply> {
    this.#projects.load(namespace, project);
    const example = await this.#catalogue.get(id);
    const wanted = await contentsOf(example);
    if (merge) await this.#merge(namespace, project, example);
    return this.#fill(namespace, project, wanted, process);
  }

  /** Adds one dataset of an example to a project. Throws `not_found`, `bad_request` (BadManifest). */
  async importDataset(id: string, wish: ImportDataset): Promise<ImportDatasetReply> {
    const { namespace, project, dataset: name, include_strategies: merge = true, process = true } = wish;
    this.#projects.load(namespace, project);
    const example = await this.#catalogue.get(id);
    const entry = example.manifest.datasets?.find((one) => one.name === name);
    if (!entry) throw new Failure('not_found', `Dataset '${name}' not found in example '${id}'`, { code: 'DatasetNotFound' });
    const { dataset, files } = await contentsOfDataset(example, entry);
    if (merge) await this.#merge(namespace, project, example);
    const target = wish.target_dataset ?? name;
    const taskId = await this.#add(namespace, project, { dataset: { ...dataset, name: target }, files }, process);
    return { project, namespace, dataset: target, file_count: files.length, task_id: taskId ?? null };
  }

  async #fill(namespace: string, project: string, contents: readonly Contents[], process: boolean): Promise<ImportReply> {
    const taskIds: string[] = [];
    for (const one of contents) {
      const id = await this.#add(namespace, project, one, process);
      if (id !== undefined) taskIds.push(id);
    }
    return { project, namespace, datasets: contents.map(({ dataset }) => dataset.name), task_ids: taskIds };
  }

  /** Makes a dataset unless it is there, and takes files in. The id of its task, where it is processed. */
  async #add(namespace: string, project: string, { dataset, files }: Contents, process: boolean): Promise<string | undefined> {
    const { name, strategy: data_processing_strategy, database } = dataset;
    try {
      await this.#datasets.create(namespace, project, { name, data_processing_strategy, database });
    } catch (failure) {
      if (!(failure instanceof Failure) || failure.code !== 'DatasetExists') throw failure;
    }
    await takeIn(this.#datasets, { namespace, project, dataset: name }, files);
    return process ? this.#datasets.processing.start(namespace, project, name, {}) : undefined;
  }

  /** Adds what the project lacks of the example's databases and processing strategies; what it has by those names stays. */
  async #merge(namespace: string, project: string, example: ManifestExample): Promise<void> {
    const { value } = await configOf(example);
    const { stored, errors } = validateConfig(value, namespace, project);
    if (errors.length > 0) throw invalidConfig(`Example ${example.id}`, errors);
    const given = isObject(stored.rag) ? stored.rag : {};
    await this.#projects.edit(namespace, project, (raw) => {
      const rag: JsonObject = isObject(raw.rag) ? { ...raw.rag } : {};
      for (const part of MERGED) {
        const own = listOf(rag[part]);
        const names = new Set(own.map((one) => one.name));
        const missing = listOf(given[part]).filter((one) => !names.has(one.name));
        if (missing.length > 0) rag[part] = [...own, ...missing];
      }
      return { ...raw, rag };
    });
  }
}

/** A dataset of an example with its files. */
interface Contents {
  readonly dataset: CompleteDataset;
  readonly files: readonly PlainFile[];
}

async function contentsOf(example: ManifestExample): Promise<Contents[]> {
  const contents: Contents[] = [];
  for (const entry of example.manifest.datasets ?? []) {
    contents.push(await contentsOfDataset(example, entry));
  }
  return contents;
}

/** Throws `bad_request` for an entry that is not complete, `too_large` for a file that no dataset takes. */
async function contentsOfDataset(example: ManifestExample, entry: ManifestDataset): Promise<Contents> {
  const dataset = completeDataset(entry);
  const files = await datasetFiles(example, dataset.ingest);
  for (const file of files) if (file.sizeBytes > FILE_BYTES) throw tooLarge(file);
  return { dataset, files };
}

function tooLarge({ name, sizeBytes }: PlainFile): Failure {
  const message = `The file ${JSON.stringify(name)} of the example has ${sizeBytes} bytes; a file may have ${FILE_BYTES}.`;
  return new Failure('too_large', message, { code: 'FileTooLarge' });
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
