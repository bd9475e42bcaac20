import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../runtime/base/log.js';
import { writeProject } from '../support/dataset-stage.js';
import { writeTinyEncoders } from '../support/models/tiny-encoders.js';
import { openRetrievalStage, type RetrievalStage } from '../support/retrieval-stage.js';
import { send } from '../support/scenario.js';

setLogLevel('error');

const P = '/v1/projects/ns/p';
/** Databases of one project: the embedder of each, by the name of the database. */
const EMBEDDERS: Readonly<Record<string, string>> = {
  named: '{name: e, type: UniversalEmbedder, config: {model: small}}',
  direct: '{name: e, type: UniversalEmbedder, config: {model: tiny/embedder}}',
  brief: '{name: e, type: UniversalEmbedder, config: {model: brief}}',
  face: '{name: e, type: HuggingFaceEmbedder, config: {model_name: tiny/embedder}}',
  sentence: '{name: e, type: SentenceTransformerEmbedder, config: {model_name: tiny/gguf}}',
  absent: '{name: e, type: UniversalEmbedder, config: {model: nobody/nothing}}',
  ranks: '{name: e, type: UniversalEmbedder, config: {model: ranker}}',
};
const STRATEGIES = `[{name: near, type: BasicSimilarityStrategy, default: true},
        {name: crossed, type: CrossEncoderRerankedStrategy, config: {model_name: ranker, final_k: 4}},
        {name: raw, type: CrossEncoderRerankedStrategy, config: {model_name: ranker, final_k: 4, normalize_scores: false, relevance_threshold: 0}},
        {name: lost, type: CrossEncoderRerankedStrategy, config: {model_name: unpulled}}]`;
const PROJECT = `version: v1
runtime:
  default_model: chat
  models:
    - {name: chat, provider: universal, model: x}
    - {name: small, provider: universal, model: tiny/embedder}
    - {name: brief, provider: universal, model: tiny/embedder, encoder_config: {max_length: 4}}
    - {name: ranker, provider: universal, model: tiny/reranker, encoder_config: {task: reranking}}
    - {name: unpulled, provider: universal, model: nobody/reranker}
rag:
  databases:
${Object.entries(EMBEDDERS)
  .map(
    ([name, strategy]) =>
      `    - {name: ${name}, type: NativeStore, embedding_strategies: [${strategy}], retrieval_strategies: ${STRATEGIES}}`,
  )
  .join('\n')}
  data_processing_strategies: [{name: texts, parsers: [{type: auto}]}]
datasets:
${Object.keys(EMBEDDERS)
  .map((name) => `  - {name: ${name}, database: ${name}, data_processing_strategy: texts}`)
  .join('\n')}
`;
const FILES = {
  'harbour.txt': 'the ship sat in the harbour',
  'garden.txt': 'tomatoes grow in the green garden',
  'pets.txt': 'the cat and the dog',
  'sky.txt': 'the moon is yellow',
};

describe('retrieval with models of this runtime', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quern-rag-encoders-'));
  let stage: RetrievalStage;

  before(async () => {
    writeTinyEncoders(join(dataDir, 'models'));
    writeProject(dataDir, 'ns', 'p', PROJECT);
    stage = await openRetrievalStage(dataDir);
  });
  after(async () => {
    await stage.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const ask = (database: string, query: string, more: object = {}): Promise<any> =>
    stage.call('POST', `${P}/rag/query`, { database, query, top_k: 4, ...more });
  const names = (answer: { results: { metadata: { file_name: string } }[] }): string[] =>
    answer.results.map(({ metadata }) => metadata.file_name);

  for (const database of ['named', 'direct', 'face', 'sentence', 'brief']) {
    it(`takes documents and answers by meaning: ${database}`, async () => {
      const task = await stage.take(`${P}/datasets/${database}`, FILES);
      assert.equal(task.state, 'SUCCESS', JSON.stringify(task).slice(0, 800));
      const answer = await ask(database, 'the ship sat in the harbour');
      assert.equal(names(answer)[0], 'harbour.txt');
      assert.ok(answer.results[0].score > 0.999 && answer.results.length === 4);
      if (database !== 'brief') assert.equal(names(await ask(database, 'who has tomatoes'))[0], 'garden.txt');
    });
  }

  it('reads only as many tokens as encoder_config says', async () => {
    // Of each text, [CLS], two words and [SEP] are read.
    const [first] = (await ask('brief', 'the ship moon river water')).results;
    assert.ok(first.metadata.file_name === 'harbour.txt' && first.score > 0.999, JSON.stringify(first));
    const [other] = (await ask('direct', 'the ship moon river water')).results;
    assert.ok(other.score < 0.999);
  });

  it('puts hits in order by a reranking model of the project', async () => {
    const rows = (await ask('direct', 'where is the ship', { retrieval_strategy: 'crossed' })).results;
    const raw = (await ask('direct', 'where is the ship', { retrieval_strategy: 'raw' })).results;
    assert.equal(rows.length, 4);
    for (const { score } of rows) assert.ok(score > 0 && score < 1);
    const direct = await stage.call('POST', '/v1/nlp/rerank', {
      model: 'tiny/reranker',
      query: 'where is the ship',
      documents: Object.values(FILES),
    });
    const order = direct.data.map(({ document }: { document: string }) => document);
    assert.deepEqual(
      rows.map(({ content }: { content: string }) => content),
      order,
    );
    for (const [at, row] of rows.entries()) assert.ok(Math.abs(row.score - direct.data[at].normalized_score) < 1e-4);
    // The threshold of 0 holds for scores of the model alike.
    assert.equal(raw.length, direct.data.filter(({ relevance_score: score }: { relevance_score: number }) => score >= 0).length);
    for (const row of raw) {
      const same = direct.data.find(({ document }: { document: string }) => document === row.content);
      assert.ok(Math.abs(row.score - same.relevance_score) < 1e-4);
    }
  });

  it('reranks by the id of a model that the project does not name', async () => {
    const named = (await ask('direct', 'where is the ship', { rerank_model: 'ranker' })).results;
    const byId = (await ask('direct', 'where is the ship', { rerank_model: 'tiny/reranker' })).results;
    assert.deepEqual(
      byId.map((row: { content: string; score: number }) => [row.content, row.score]),
      named.map((row: { content: string; score: number }) => [row.content, row.score]),
    );
  });

  it('says how to get a reranking model that is missing', async () => {
    const answer = await send(stage.application, {
      method: 'POST',
      path: `${P}/rag/query`,
      body: { database: 'direct', query: 'ship', retrieval_strategy: 'lost' },
    });
    assert.equal(answer.status, 404);
    assert.match(answer.text, /quern pull nobody\/reranker/);
  });

  it('fails the files of a missing embedding model with the command that downloads it', async () => {
    const task = await stage.take(`${P}/datasets/absent`, { 'sky.txt': FILES['sky.txt'] });
    assert.match(JSON.stringify(task), /quern pull nobody\/nothing/);
    const answer = await send(stage.application, { method: 'POST', path: `${P}/rag/query`, body: { database: 'absent', query: 'ship' } });
    assert.equal(answer.status, 404);
    assert.match(answer.text, /quern pull nobody\/nothing.*base_url.*LexicalEmbedder/);
  });

  it('refuses a model that is there for something else', async () => {
    const answer = await send(stage.application, { method: 'POST', path: `${P}/rag/query`, body: { database: 'ranks', query: 'ship' } });
    assert.deepEqual([answer.status, /encoder_config.task reranking/.test(answer.text)], [400, true], answer.text);
  });

  it('chats with what it finds', async () => {
    await stage.call('POST', `${P}/chat/completions`, {
      messages: [{ role: 'user', content: 'where is the ship' }],
      database: 'direct',
      rag_top_k: 1,
    });
    const [system] = stage.provider.asked.at(-1)!.request.messages;
    assert.match(String(system!.content), /Source 1, "harbour.txt"[\s\S]*the ship sat in the harbour/);
  });
});
