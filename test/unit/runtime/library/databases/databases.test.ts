import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Databases } from '../../../../../runtime/library/databases/databases.js';
import { DatabaseInspection } from '../../../../../runtime/library/databases/inspection.js';
import { Outbound } from '../../../../../runtime/net/outbound.js';
import { Projects } from '../../../../../runtime/projects/projects.js';
import { createEmbedders } from '../../../../../runtime/rag/embedders/index.js';
import { OpenedStores } from '../../../../../runtime/rag/opened-stores.js';
import { openStore, type Store } from '../../../../../runtime/store/store.js';
import { Failure } from '../../../../../schemas/errors.js';
import type { Database } from '../../../../../schemas/generated/config/rag.js';
import { writeProject } from '../../../../support/dataset-stage.js';

const PROJECT = `version: v1
runtime: {models: []}
# where documents lie
rag:
  components:
    embedding_strategies: [{name: e, type: LexicalEmbedder}]
    retrieval_strategies: [{name: r, type: BM25Retriever}, {name: s, type: BM25Retriever}]
  default_database: far
  databases:
    - name: far # on a server that is down
      type: ChromaStore
      config: {host: 127.0.0.1, port: 9}
      embedding_strategy: e
      retrieval_strategies: [{name: r, type: BM25Retriever}]
    - {name: near, type: NativeStore, embedding_strategy: e, retrieval_strategy: r}
`;
const STRATEGIES = {
  embedding_strategies: [{ name: 'e', type: 'LexicalEmbedder' }],
  retrieval_strategies: [{ name: 'r', type: 'BM25Retriever' }],
};

describe('databases of a project', () => {
  let dataDir: string;
  let store: Store;
  let outbound: Outbound;
  let projects: Projects;
  let stores: OpenedStores;
  let databases: Databases;
  let inspection: DatabaseInspection;
  const path = (): string => join(dataDir, 'projects/ns/p/project.yaml');
  const refused = async (work: Promise<unknown>, kind: string, words: RegExp): Promise<void> =>
    assert.rejects(work, (error) => error instanceof Failure && error.kind === kind && words.test(error.message));

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'quern-databases-'));
    writeProject(dataDir, 'ns', 'p', PROJECT);
    store = await openStore(dataDir);
    outbound = new Outbound();
    projects = new Projects({ dataDir });
    stores = new OpenedStores({ store, outbound });
    databases = new Databases({ projects, stores });
    inspection = new DatabaseInspection({ projects, stores, embedders: createEmbedders({ outbound }) });
  });
  afterEach(async () => {
    await stores.close();
    await store.close();
    await outbound.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('keeps every one of many that are added at the same time, and the layout of the file', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `db_${at}`);
    await Promise.all(names.map((name) => databases.create('ns', 'p', { name, type: 'NativeStore', ...STRATEGIES })));
    const listed = databases.list('ns', 'p').databases.map(({ name }) => name);
    assert.deepEqual(listed.toSorted(), ['far', 'near', ...names].toSorted());
    const text = readFileSync(path(), 'utf8');
    for (const comment of ['# where documents lie', '# on a server that is down']) assert.ok(text.includes(comment), text);
  });

  it('refuses the second of two that have the same name', async () => {
    const add = (): Promise<unknown> => databases.create('ns', 'p', { name: 'twin', type: 'NativeStore', ...STRATEGIES });
    const outcomes = await Promise.allSettled([add(), add()]);
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  });

  it('keeps a reference that a change does not touch', async () => {
    const detail = await databases.update('ns', 'p', 'near', {
      retrieval_strategies: [{ name: 'x', type: 'BM25Retriever' }],
      default_retrieval_strategy: 'x',
    });
    assert.deepEqual([detail.default_embedding_strategy, detail.default_retrieval_strategy], ['e', 'x']);
    const [, near] = readFileSync(path(), 'utf8').split('name: near');
    assert.match(near!, /embedding_strategy: e\b/);
    assert.ok(!/retrieval_strategy: r\b/.test(near!.replaceAll('default_retrieval_strategy', '')));
    await refused(databases.update('ns', 'p', 'near', { default_embedding_strategy: 'r' }), 'bad_request', /'r'.*\(e\)/);
  });

  it('leaves the file alone when a change cannot be', async () => {
    const before = readFileSync(path(), 'utf8');
    await refused(databases.create('ns', 'p', { name: 'x', type: 'NativeStore' }), 'bad_request', /No embedding strategy/);
    await refused(databases.update('ns', 'p', 'near', { embedding_strategies: [{ name: 'e' }] }), 'bad_request', /near.*type/);
    await refused(databases.delete('ns', 'p', 'nope', { collection: true }), 'not_found', /nope/);
    assert.equal(readFileSync(path(), 'utf8'), before);
  });

  it('removes a database whose server cannot remove it, and says what stays there', async () => {
    const { detail, leftBehind } = await databases.delete('ns', 'p', 'far', { collection: true });
    assert.match(leftBehind!, /"documents" on 127\.0\.0\.1.*'far'.*No connection.*Remove it there/);
    assert.deepEqual([detail.name, detail.dependent_datasets], ['far', []]);
    const { default_database: left, databases: rest } = databases.list('ns', 'p');
    assert.deepEqual([left, rest.map(({ name, is_default: isDefault }) => [name, isDefault])], [null, [['near', true]]]);
  });

  it('falls back to the first where a configured default is not there', () => {
    writeFileSync(
      path(),
      PROJECT.replace('default_database: far', 'default_database: gone').replace(
        'embedding_strategy: e',
        'default_embedding_strategy: gone\n      embedding_strategy: e',
      ),
    );
    const { databases: listed } = databases.list('ns', 'p');
    assert.deepEqual(
      listed.map(({ is_default: isDefault }) => isDefault),
      [true, false],
    );
    assert.equal(databases.get('ns', 'p', 'far').default_embedding_strategy, 'e');
  });

  it('says how a server that is down is, with sizes of zero', async () => {
    const { status, components, issues } = await inspection.health('ns', 'p', 'far');
    assert.deepEqual(
      [status, components.vector_store!.status, components.embeddings!.status, issues!.length],
      ['unhealthy', 'unhealthy', 'healthy', 1],
    );
    const { metadata, chunk_count: chunks, storage_human: human } = await inspection.stats('ns', 'p', 'far');
    assert.deepEqual([chunks, human], [0, '0B']);
    assert.equal(typeof metadata!.error, 'string');
  });

  it('shows what older chunks say of their documents', async () => {
    const opened = await stores.of({ namespace: 'ns', project: 'p', directory: join(dataDir, 'projects/ns/p') }, {
      name: 'near',
      type: 'NativeStore',
      config: {},
    } as Database);
    const vector = new Float32Array([1, 0]);
    const add = (id: string, metadata: Record<string, unknown>) =>
      opened.add([{ id, documentHash: `hash-${id}`, text: id, metadata, vector }], new AbortController().signal);
    await add('b', { source: 'B.txt', processing_date: '2026-01-02', category: 'c', other: 1 });
    await add('a', {});
    const [bare, older] = await inspection.documents('ns', 'p', 'near', { offset: 0, limit: 10 });
    assert.deepEqual(
      { ...bare, date_ingested: '' },
      { id: 'hash-a', filename: 'hash-a', chunk_count: 1, size_bytes: 0, parser_used: 'unknown', date_ingested: '', metadata: null },
    );
    assert.ok(!Number.isNaN(Date.parse(bare!.date_ingested)));
    assert.deepEqual([older!.filename, older!.date_ingested, older!.metadata], ['B.txt', '2026-01-02', { category: 'c' }]);
  });
});
