import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ConversationStage } from '../support/conversation-stage.js';
import { formOf, hashOf } from '../support/dataset-stage.js';
import { until } from '../support/until.js';

const FILES = {
  apples: 'Apples are kept in the cellar, at four degrees.',
  pears: 'Pears ripen on the window sill.',
  plums: 'Plums are dried.',
};

describe('test questions of a project', () => {
  let stage: ConversationStage;
  const lab = { namespace: 'lab', project: 'fruit' };
  const json = (endpoint: string, body?: unknown, ids: Record<string, string> = {}, query = '') =>
    stage.json(endpoint, { ids: { ...lab, dataset: 'docs', ...ids }, body, query });
  const refused = async (endpoint: string, body: unknown, ids: Record<string, string> = {}): Promise<[number, string]> => {
    const { status, text } = await stage.ask(endpoint, { ids: { ...lab, ...ids }, body });
    return [status, text];
  };
  before(async () => {
    stage = await ConversationStage.open();
    await json('project_create', { name: 'fruit' });
    await json('dataset_create', { name: 'docs', data_processing_strategy: 'universal_processor', database: 'main_database' });
    for (const [name, text] of Object.entries(FILES))
      await stage.json('dataset_data_upload', { ids: { ...lab, dataset: 'docs' }, ...formOf([['file', `${name}.txt`, text]]) });
    const { task_id: task } = await json('dataset_actions', { action_type: 'process' });
    await until(
      async () => /SUCCESS|FAILURE/.test((await json('task_get', undefined, { task_id: task })).state),
      'the files are processed',
    );
  });
  after(() => stage?.close());

  it('are kept, changed, listed in pages and deleted', async () => {
    const { question } = await json('question_add', {
      query: 'Where are apples?',
      relevant: [{ file_hash: hashOf(FILES.apples) }],
      note: null,
    });
    assert.match(question.id, /^q_[0-9a-f]{32}$/);
    assert.equal('note' in question, false);
    const other = (await json('question_add', { query: 'pears', database: 'main_database', filters: { file_name: 'pears.txt' } })).question;
    const page = await json('questions_list', undefined, {}, '?limit=1');
    assert.deepEqual([page.questions, page.next, page.total], [[question], question.id, 2]);
    const rest = await json('questions_list', undefined, {}, `?limit=5&cursor=${page.next}`);
    assert.deepEqual([rest.questions, rest.next], [[other], null]);
    const changed = await json('question_change', { note: 'of the cellar', filters: null }, { question_id: other.id });
    assert.equal(changed.question.note, 'of the cellar');
    assert.equal('filters' in changed.question, false);
    await json('question_delete', undefined, { question_id: other.id });
    assert.equal((await refused('question_delete', undefined, { question_id: other.id }))[0], 404);
    assert.equal((await refused('question_change', {}, { question_id: '..%2F..' }))[0], 404);
    // What could not be asked later is refused at once, also as a change.
    for (const [body, status, says] of [
      [{ query: ' \n' }, 422, /blank/],
      [{ query: 'x', database: 'nowhere' }, 404, /nowhere/],
      [{ query: 'x', filters: { page: { $near: 3 } } }, 400, /\$near/],
    ] as const)
      for (const [endpoint, ids] of [
        ['question_add', {}],
        ['question_change', { question_id: question.id }],
      ] as const) {
        const [told, text] = await refused(endpoint, body, ids);
        assert.deepEqual([told, says.test(text)], [status, true], text);
      }
    assert.equal((await json('questions_list')).total, 1);
  });

  it('tell of each strategy what it finds', async () => {
    await json('question_add', { query: 'pears ripen', relevant: [{ file_hash: hashOf(FILES.pears), text: 'the  window sill' }] });
    await json('question_add', {
      query: 'plums',
      relevant: [{ file_hash: hashOf(FILES.plums), chunk_id: 'another' }, { file_hash: hashOf(FILES.plums) }],
    });
    await json('question_add', { query: 'nothing is said of what should be found' });
    const { k, runs } = await json('questions_recall', { k: 2 });
    assert.equal(k, 2);
    assert.deepEqual(
      runs.map((run: { strategy: string }) => run.strategy),
      ['hybrid_search', 'basic_search'],
    );
    const [hybrid] = runs;
    assert.deepEqual(
      hybrid.questions.map(({ query, found, rank, recall }: Record<string, unknown>) => [query, found, rank, recall]),
      [
        ['Where are apples?', true, 1, 1],
        ['pears ripen', true, 1, 1],
        ['plums', true, 1, 0.5],
      ],
    );
    assert.deepEqual([hybrid.mrr, Math.round(hybrid.recall_at_k * 100)], [1, 83]);
    assert.ok(hybrid.mean_ms > 0);
    const only = await json('questions_recall', { strategies: ['basic_search'], questions: [hybrid.questions[0].id] });
    assert.deepEqual([only.runs.length, only.runs[0].questions.length], [1, 1]);
  });

  it('are asked in a conversation, whose answer cites what it was given', async () => {
    const { conversation } = await json('conversation_create', { settings: { max_tokens: 3, top_k_passages: 1 } });
    const body = { message: { content: 'Where are apples kept?' } };
    const { events } = await stage.ask('conversation_turn', { ids: { ...lab, conversation_id: conversation.id }, body });
    const [cited, ...others] = JSON.parse(events.at(-2)!).citations;
    assert.deepEqual(others, []);
    const { n, text, document, file_hash: hash, dataset, page } = cited;
    assert.deepEqual([n, text, document, hash, dataset, page], [1, FILES.apples, 'apples.txt', hashOf(FILES.apples), 'docs', null]);
    const { text: file } = await stage.ask('dataset_data_read', { ids: { ...lab, dataset, file_hash: hash } });
    assert.equal(file, FILES.apples);
  });

  it('are refused with a reason', async () => {
    assert.match((await refused('questions_recall', { strategies: ['none'] })).join(' '), /^404 .*none/);
    assert.match((await refused('questions_recall', { database: 'none' })).join(' '), /^404 .*none/);
    assert.match((await refused('questions_recall', { questions: ['q_0'] })).join(' '), /^404 .*q_0/);
    assert.match((await refused('questions_recall', { k: 0 })).join(' '), /^422/);
    assert.match((await refused('question_add', { query: '' })).join(' '), /^422/);
    assert.match((await refused('question_add', { query: 'a', relevant: [{ file_hash: 'a', page: 1 }] })).join(' '), /^422 .*page/);
    assert.match((await refused('questions_recall', {}, { namespace: 'ns', project: 'p' })).join(' '), /^400 .*[Nn]o test question/);
  });

  it('go with their project', async () => {
    await json('project_delete', undefined, {}, '?purge=true').catch(() => json('project_delete'));
    await json('project_create', { name: 'fruit' });
    assert.equal((await json('questions_list')).total, 0);
  });

  it('stand beside a list of all projects', async () => {
    const { projects, total } = await stage.json('projects_all');
    assert.deepEqual(projects, [
      { namespace: 'lab', name: 'fruit' },
      { namespace: 'ns', name: 'p' },
    ]);
    assert.equal(total, 2);
  });
});
