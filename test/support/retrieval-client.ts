import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ActionReply, DatasetList, FileMetadata, UploadReply } from '../../schemas/generated/core/datasets.js';
import type { Documents, QueryReply, QueryRequest, StatsReply } from '../../schemas/generated/core/rag.js';
import type { CancelReply, Task } from '../../schemas/generated/core/tasks.js';

const POLL_MS = 50;
const FINAL: readonly Task['state'][] = ['SUCCESS', 'FAILURE', 'REVOKED'];

/** A project with two databases, a dataset for each, and a retrieval strategy of every kind that needs no other service. */
export const RETRIEVAL_PROJECT = `version: v1
runtime:
  models: [{name: m, provider: universal, model: x}]
rag:
  databases:
${['main_db', 'other_db'].map(databaseText).join('')}
  data_processing_strategies:
    - name: texts
      parsers:
        - {type: auto, config: {chunk_size: 400, chunk_overlap: 50}}
datasets:
  - {name: docs, database: main_db, data_processing_strategy: texts}
  - {name: other, database: other_db, data_processing_strategy: texts}
`;

function databaseText(name: string): string {
  return `    - name: ${name}
      type: NativeStore
      embedding_strategies: [{name: words, type: LexicalEmbedder}]
      retrieval_strategies:
        - {name: dense, type: BasicSimilarityStrategy}
        - {name: lexical, type: BM25Retriever}
        - {name: hybrid, type: HybridUniversalStrategy}
        - {name: filtered, type: MetadataFilteredStrategy}
`;
}

/** What a daemon answered with a status that is no success. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly text: string,
  ) {
    super(`${status}: ${text}`);
  }
}

/** Datasets and questions of the project `ns/p` of a daemon, as a client uses them. Methods reject with `Refusal`, or as `fetch` does. */
export class RetrievalClient {
  readonly project: string;

  /** `core` is the address of the daemon. */
  constructor(core: string) {
    this.project = `${core}/v1/projects/ns/p`;
  }

  async upload(dataset: string, name: string, content: string | Uint8Array<ArrayBuffer>): Promise<UploadReply> {
    const form = new FormData();
    form.append('file', new Blob([content]), name);
    return this.#sent(`/datasets/${dataset}/data`, { method: 'POST', body: form });
  }

  /** Starts a task over all files of a dataset; resolves to its id. */
  async process(dataset: string): Promise<string> {
    return (await this.#post<ActionReply>(`/datasets/${dataset}/actions`, { action_type: 'process' })).task_id!;
  }

  task(id: string): Promise<Task> {
    return this.#sent(`/tasks/${id}`);
  }

  /** Polls a task until it is final. */
  async settled(id: string, limitMs = 120_000): Promise<Task> {
    const until = Date.now() + limitMs;
    for (;;) {
      const task = await this.task(id);
      if (FINAL.includes(task.state)) return task;
      assert.ok(Date.now() < until, `task ${id} is ${task.state} after ${limitMs} ms: ${JSON.stringify(task.meta)}`);
      await sleep(POLL_MS);
    }
  }

  cancel(id: string): Promise<CancelReply> {
    return this.#sent(`/tasks/${id}`, { method: 'DELETE' });
  }

  /** What is known of the files of a dataset. */
  async files(dataset: string): Promise<readonly FileMetadata[]> {
    const { datasets } = await this.#sent<DatasetList>('/datasets');
    return datasets.find(({ name }) => name === dataset)!.details!.files_metadata;
  }

  async remove(dataset: string, hash: string): Promise<void> {
    await this.#sent(`/datasets/${dataset}/data/${hash}?remove_from_disk=true`, { method: 'DELETE' });
  }

  ask(question: QueryRequest): Promise<QueryReply> {
    return this.#post('/rag/query', question);
  }

  stats(database: string): Promise<StatsReply> {
    return this.#sent(`/rag/stats?database=${database}`);
  }

  documents(database: string): Promise<Documents> {
    return this.#sent(`/rag/documents?database=${database}&limit=1000`);
  }

  async reindex(database: string): Promise<void> {
    await this.#sent(`/rag/reindex?database=${database}`, { method: 'POST' });
  }

  /** Waits until the indexes of a database have caught up. */
  async indexed(database: string, limitMs = 120_000): Promise<void> {
    const until = Date.now() + limitMs;
    for (;;) {
      const health = await this.#sent<{ components: Record<string, { status: string; message: string }> }>(
        `/rag/health?database=${database}`,
      );
      if (health.components.vector_store!.status === 'healthy') return;
      assert.ok(Date.now() < until, `the indexes of ${database} are late: ${JSON.stringify(health)}`);
      await sleep(POLL_MS);
    }
  }

  #post<Reply>(path: string, body: object): Promise<Reply> {
    return this.#sent(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  }

  async #sent<Reply>(path: string, init: RequestInit = {}): Promise<Reply> {
    const response = await fetch(this.project + path, init);
    const text = await response.text();
    if (!response.ok) throw new Refusal(response.status, text);
    return JSON.parse(text) as Reply;
  }
}
