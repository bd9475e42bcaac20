// What the tables of test/api/rag share: projects with databases, and questions to them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import { writeProject } from './dataset-stage.js';
import { DOCUMENTS_PROJECT } from './retrieval-project.js';
import { openRetrievalStage, type RetrievalStage } from './retrieval-stage.js';
import type { Scenario, Stage } from './scenario.js';

setLogLevel('error');
export const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-rag-'));
export const P = '/v1/projects/ns/p';
export const RAG = `${P}/rag`;
export const DATABASES = `${RAG}/databases`;
const PLAIN = 'version: v1\nruntime: {models: [{name: m, provider: universal, model: x}]}\n';
writeProject(dataDir, 'ns', 'p', DOCUMENTS_PROJECT);
writeProject(dataDir, 'ns', 'plain', PLAIN);
writeProject(dataDir, 'ns', 'bare', `${PLAIN}rag: {}\n`);
writeProject(
  dataDir,
  'ns',
  'lame',
  `${PLAIN}rag:\n  databases:\n    - {name: mute, type: NativeStore, retrieval_strategies: [{name: n, type: BasicSimilarityStrategy}]}\n    - {name: blind, type: NativeStore, embedding_strategies: [{name: e, type: LexicalEmbedder}]}\n    - {name: wrong, type: NativeStore, config: {metric: odd}, embedding_strategies: [{name: e, type: LexicalEmbedder}], retrieval_strategies: [{name: n, type: BM25Retriever}]}\n`,
);
writeProject(
  dataDir,
  'ns',
  'two',
  `${PLAIN}rag:\n  databases:\n    - {name: d, type: NativeStore, embedding_strategies: [{name: a, type: LexicalEmbedder}, {name: b, type: LexicalEmbedder}], retrieval_strategies: [{name: n, type: BM25Retriever}]}\n`,
);
writeProject(
  dataDir,
  'ns',
  'versions',
  `${PLAIN}rag:\n  databases:\n    - {name: d, type: NativeStore, embedding_strategies: [{name: a, type: LexicalEmbedder}], retrieval_strategies: [{name: n, type: BasicSimilarityStrategy}]}\ndatasets: [{name: docs, database: d}]\n`,
);
export let stage: RetrievalStage;

export type Result = {
  content: string;
  score: number;
  metadata: Record<string, unknown>;
  chunk_id: string;
  document_id: string;
  explanation?: unknown;
};

/** A question to the project of all kinds. */
export const query = (name: string, body: object, more: Omit<Scenario, 'name' | 'path' | 'body'> = {}): Scenario => ({
  name,
  method: 'POST',
  path: `${RAG}/query`,
  body,
  ...more,
});
export const cities = (results: Result[]): unknown[] => results.map(({ metadata }) => metadata.city).sort();

export const STAGE: Stage<Runtime> = {
  endpoints: coreEndpoints,
  context: async () => {
    stage = await openRetrievalStage(dataDir);
    return stage;
  },
  close: async () => {
    await stage.close();
    rmSync(dataDir, { recursive: true, force: true });
  },
};
