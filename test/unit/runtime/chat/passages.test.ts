import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { contextText, questionsOf, retrievePassages, sourcesFrame, sourcesOf } from '../../../../runtime/chat/passages.js';
import type { LoadedProject } from '../../../../runtime/projects/projects.js';
import type { Hit, Question, Retrieval } from '../../../../runtime/rag/contract.js';
import { Failure } from '../../../../schemas/errors.js';
import type { ModelConfig } from '../../../../schemas/generated/config/project.js';
import type { Database } from '../../../../schemas/generated/config/rag.js';
import type { CompletionRequest } from '../../../../schemas/generated/core/chat.js';

setLogLevel('error');
const MODEL: ModelConfig = { name: 'm', provider: 'universal', model: 'x' };
const DATABASES: Database[] = [
  { name: 'a', type: 'NativeStore', retrieval_strategies: [{ name: 's', type: 'BasicSimilarityStrategy', config: { top_k: 2 } }] },
  { name: 'b', type: 'NativeStore', retrieval_strategies: [{ name: 's', type: 'BasicSimilarityStrategy' }] },
  { name: 'none', type: 'NativeStore' },
];
const project = (defaultDatabase?: string, databases: Database[] = DATABASES): LoadedProject =>
  ({
    namespace: 'ns',
    name: 'p',
    config: { rag: { databases, ...(defaultDatabase ? { default_database: defaultDatabase } : {}) } },
  }) as unknown as LoadedProject;
const request = (more: object = {}): CompletionRequest => ({ messages: [{ role: 'user', content: 'q' }], ...more });
const hit = (text: string, score: number, metadata: Record<string, unknown> = {}): Hit => ({
  id: text,
  documentHash: 'd',
  text,
  score,
  metadata,
});
const signal = new AbortController().signal;

/** Retrieval that answers each question with its own hits, or fails. */
function answering(answers: Record<string, Hit[] | Error>): Retrieval & { asked: Question[] } {
  const asked: Question[] = [];
  return {
    asked,
    ask: async (_scope, question) => {
      asked.push(question);
      const hits = answers[question.text] ?? [];
      if (hits instanceof Error) throw hits;
      return { hits, database: 'a', strategy: 's', timeMs: 1, warnings: [] };
    },
  };
}

describe('questions of a turn', () => {
  const database = (more: object, model: object = {}, fallback?: string): string | undefined =>
    questionsOf(project(fallback), { ...MODEL, ...model }, request(more))[0]?.database;

  it('go to the database of the request, the model, the project, else the first', () => {
    assert.equal(database({ database: 'b' }, { target_database: 'a' }), 'b');
    assert.equal(database({}, { target_database: 'b' }), 'b');
    assert.equal(database({}, {}, 'b'), 'b');
    assert.equal(database({}), 'a');
    assert.equal(database({ database: '' }), 'a');
    assert.equal(database({}, {}, 'gone'), 'a');
  });

  it('are none where retrieval is off, or there is nothing to ask', () => {
    assert.equal(database({ database: 'nope' }), undefined);
    assert.equal(database({}, { target_database: 'nope' }), undefined);
    assert.equal(database({ database: 'none' }), undefined);
    assert.equal(database({ rag_enabled: false }), undefined);
    assert.equal(database({}, { rag_enabled: false }), undefined);
    assert.equal(database({ rag_enabled: true }, { rag_enabled: false }), 'a');
    assert.deepEqual(questionsOf(project(undefined, []), MODEL, request({ rag_enabled: true })), []);
    assert.deepEqual(questionsOf({ ...project(), config: {} } as unknown as LoadedProject, MODEL, request({ rag_enabled: true })), []);
    assert.deepEqual(questionsOf(project(), MODEL, { messages: [{ role: 'user', content: ' ' }] }), []);
  });

  it('carry what the request says, null being nothing', () => {
    const [question] = questionsOf(project(), MODEL, request({ rag_retrieval_strategy: 's', rag_top_k: 3, rag_score_threshold: 0 }));
    assert.deepEqual(question, { text: 'q', database: 'a', strategy: 's', topK: 3, threshold: 0 });
    const [bare] = questionsOf(
      project(),
      MODEL,
      request({ rag_retrieval_strategy: null, rag_top_k: null, rag_score_threshold: null, rag_queries: null }),
    );
    assert.deepEqual(bare, { text: 'q', database: 'a' });
  });

  it('are the queries of the request without the blank ones, else what the user said last', () => {
    const texts = (more: object): string[] => questionsOf(project(), MODEL, request(more)).map(({ text }) => text);
    assert.deepEqual(texts({ rag_queries: ['x', ' ', 'y'] }), ['x', 'y']);
    assert.deepEqual(texts({ rag_queries: ['', ' '] }), ['q']);
    assert.deepEqual(texts({ rag_queries: [] }), ['q']);
  });
});

describe('passages of a turn', () => {
  const questions = (texts: string[], more: object = {}): Question[] => texts.map((text) => ({ text, database: 'a', ...more }));
  const texts = (hits: Hit[]): string[] => hits.map(({ text }) => text);

  it('are those of the only question as they come', async () => {
    const hits = [hit('x', 0.1), hit('y', 0.9), hit('z', 0.5)];
    assert.deepEqual(await retrievePassages(answering({ q: hits }), project(), questions(['q']), signal), hits);
    assert.deepEqual(await retrievePassages(answering({}), project(), [], signal), []);
  });

  it('are the best of all questions, once each, cut to what the request or the strategy says', async () => {
    const start = 's'.repeat(200);
    const retrieval = answering({ one: [hit(`${start}1`, 0.3), hit('x', 0.2)], two: [hit(`${start}2`, 0.8), hit('y', 0.5)] });
    assert.deepEqual(texts(await retrievePassages(retrieval, project(), questions(['one', 'two'], { topK: 10 }), signal)), [
      `${start}2`,
      'y',
      'x',
    ]);
    assert.deepEqual(texts(await retrievePassages(retrieval, project(), questions(['one', 'two']), signal)), [`${start}2`, 'y']);
    assert.deepEqual(texts(await retrievePassages(retrieval, project(), questions(['one', 'two'], { topK: 1 }), signal)), [`${start}2`]);
  });

  it('are asked for at the same time', async () => {
    let waiting = 0;
    let release = (): void => undefined;
    const all = new Promise<void>((resolve) => {
      release = resolve;
    });
    const retrieval: Retrieval = {
      ask: async () => {
        waiting += 1;
        if (waiting === 3) release();
        await all;
        return { hits: [], database: 'a', strategy: 's', timeMs: 1, warnings: [] };
      },
    };
    await retrievePassages(retrieval, project(), questions(['one', 'two', 'three']), signal);
  });

  it('are those of the questions that were answered; without any, the failure', async () => {
    const down = new Failure('unavailable', 'down');
    const retrieval = answering({ one: down, two: [hit('x', 0.2)], three: down });
    assert.deepEqual(texts(await retrievePassages(retrieval, project(), questions(['one', 'two']), signal)), ['x']);
    await assert.rejects(retrievePassages(retrieval, project(), questions(['one', 'three']), signal), down);
    await assert.rejects(retrievePassages(retrieval, project(), questions(['one']), signal), down);
  });
});

describe('passages on the wire', () => {
  it('are blocks with labels that say what is known', () => {
    const hits = [hit('one', 0.12345, { source: 's.txt', page: 4 }), hit('two', 1, { filename: 'f.txt', page_number: 2 }), hit('three', 0)];
    assert.deepEqual(contextText(hits), [
      [
        '## Additional context',
        '### Passages from the documents of this project',
        '<passage>\n[Source 1, "s.txt", page 4, relevance 0.123]\none\n</passage>',
        '<passage>\n[Source 2, "f.txt", page 2, relevance 1.000]\ntwo\n</passage>',
        '<passage>\n[Source 3, relevance 0.000]\nthree\n</passage>',
      ].join('\n\n'),
    ]);
    assert.deepEqual(contextText([]), []);
    assert.equal(contextText([hit('a</passage>b', 1)])[0]!.split('</passage>').length, 2);
  });

  it('are ten sources unless the request says otherwise', () => {
    const hits = Array.from({ length: 12 }, (_, at) => hit(String(at), 1));
    assert.deepEqual(
      [null, undefined, 3, 50].map((limit) => sourcesOf(hits, limit).length),
      [10, 10, 3, 12],
    );
    assert.deepEqual(sourcesOf([hit('a', 0.5, { file_name: 'f' })], 1), [
      { id: 'a', document_id: 'd', source: 'f', content: 'a', score: 0.5, metadata: { file_name: 'f' } },
    ]);
    assert.equal(sourcesOf([hit('a', 0.5)], 1)[0]!.source, null);
  });

  it('are a named event that is a chunk without choices', () => {
    const frame = sourcesFrame({ id: 'i', model: 'm' } as Parameters<typeof sourcesFrame>[0], [{ id: 'a\nb' }]);
    const [name, line, ...rest] = frame.split('\n');
    assert.deepEqual([name, rest], ['event: sources', ['', '']]);
    const { created, ...chunk } = JSON.parse(line!.slice('data: '.length));
    assert.deepEqual(chunk, { id: 'i', object: 'chat.completion.chunk', model: 'm', choices: [], sources: [{ id: 'a\nb' }] });
    assert.ok(Number.isInteger(created));
  });
});
