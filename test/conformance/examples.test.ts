import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { setLogLevel } from '../../runtime/base/log.js';
import { parseProjectFile } from '../../runtime/config/project-file.js';
import { BUILT_IN_EXAMPLES } from '../../runtime/examples/catalogue.js';
import { decodeWhole } from '../../runtime/speech/decode/decode.js';
import { openRetrievalStage, type RetrievalStage } from '../support/retrieval-stage.js';
import { FINISH, type Step } from '../unit/runtime/chat/scripted-provider.js';

setLogLevel('error');

interface Asked {
  readonly question: string;
  /** The file that holds the answer; the only one, where answers are no labels. */
  readonly document: string;
  /** Words of it. */
  readonly answer: string;
}

interface Found {
  readonly content: string;
  readonly metadata: Record<string, unknown>;
}

/** Part of an example's questions whose passage may come second or later: in quite other words than the passage's, words alone find it late. */
const LATE = 0.1;

const ids = readdirSync(BUILT_IN_EXAMPLES);

/** What `questions.yaml` of an example says. */
// biome-ignore lint/suspicious/noExplicitAny: sections of every shape
function expected(id: string): Record<string, any> {
  return parseProjectFile('questions.yaml', readFileSync(join(BUILT_IN_EXAMPLES, id, 'questions.yaml'), 'utf8'), id).value;
}

function questionsOf(id: string): Asked[] {
  return expected(id).questions;
}

/** The rows of a table of an example, by the names of its columns. */
function rowsOf(id: string, file: string): Record<string, string>[] {
  return parse(readFileSync(join(BUILT_IN_EXAMPLES, id, 'files', file), 'utf8'), { columns: true });
}

describe('built-in examples', () => {
  let stage: RetrievalStage;

  /** Tasks of each example: all are processed side by side. */
  const tasks = new Map<string, string[]>();

  before(async () => {
    stage = await openRetrievalStage();
    for (const id of ids) {
      const made = await stage.call('POST', `/v1/examples/${id}/import-project`, { namespace: 'tests', name: id });
      tasks.set(id, made.task_ids);
    }
  });
  after(() => stage.close());

  const finished = async (path: string): Promise<void> => {
    for (;;) {
      const task = await stage.call('GET', path);
      if (task.state === 'SUCCESS') return;
      assert.notEqual(task.state, 'FAILURE', JSON.stringify(task.result));
      await sleep(20);
    }
  };
  const ask = async (id: string, question: string): Promise<Found[]> =>
    (await stage.call('POST', `/v1/projects/tests/${id}/rag/query`, { query: question, top_k: 5 })).results;
  const isFrom = ({ metadata }: Found, document: string): boolean => JSON.stringify(metadata).includes(JSON.stringify(document));
  const holds = (found: readonly Found[], { document, answer }: Asked): boolean =>
    found.some((one) => isFrom(one, document) && one.content.includes(answer));

  for (const id of ids) {
    describe(id, () => {
      before(async () => {
        const own = tasks.get(id)!;
        assert.ok(own.length > 0);
        for (const task of own) await finished(`/v1/projects/tests/${id}/tasks/${task}`);
      });

      it('is large enough to be of use, and valid', async () => {
        const { project } = await stage.call('GET', `/v1/projects/tests/${id}`);
        assert.deepEqual([project.validation_error, project.notes, project.namespace, project.name], [null, [], 'tests', id]);
        const { datasets } = await stage.call('GET', `/v1/projects/tests/${id}/datasets`);
        const files = datasets.flatMap(({ details }: { details: { files_metadata: { chunk_count: number }[] } }) => details.files_metadata);
        const chunks = files.reduce((sum: number, file: { chunk_count: number }) => sum + file.chunk_count, 0);
        assert.ok(files.length >= 20 || chunks >= 100, `${files.length} files, ${chunks} chunks`);
      });

      it('finds the passage with the answer to each of its questions, nearly always in the first place, and in no other document', async () => {
        const questions = questionsOf(id);
        assert.ok(questions.length >= 10);
        // Labels are not of one document alone.
        const isUnique = expected(id).answers !== 'labels';
        const [missed, late, elsewhere]: [string[], string[], string[]] = [[], [], []];
        for (const one of questions) {
          const found = await ask(id, one.question);
          if (!holds(found, one)) missed.push(one.question);
          else if (!holds(found.slice(0, 1), one)) late.push(one.question);
          if (isUnique && found.some((other) => !isFrom(other, one.document) && other.content.includes(one.answer)))
            elsewhere.push(one.question);
        }
        assert.deepEqual({ missed, elsewhere }, { missed: [], elsewhere: [] });
        assert.ok(late.length <= questions.length * LATE, late.join('\n'));
      });

      it('does not find an answer whose document is taken away', async () => {
        const [one] = questionsOf(id);
        const { datasets } = await stage.call('GET', `/v1/projects/tests/${id}/datasets`);
        for (const dataset of datasets)
          for (const { hash, original_file_name: name } of dataset.details.files_metadata)
            if (name === one!.document) await stage.call('DELETE', `/v1/projects/tests/${id}/datasets/${dataset.name}/data/${hash}`);
        assert.equal(holds(await ask(id, one!.question), one!), false);
      });
    });
  }

  it('readings of the cold store raise the alarms of a stream, and no other', async () => {
    const { stream, alarms } = expected('cold-store').readings;
    const rows = rowsOf('cold-store', 'readings.csv');
    const data = rows.map(({ room_a_celsius: a, room_b_celsius: b, freezer_celsius: c }) => ({ a: Number(a), b: Number(b), c: Number(c) }));
    const { results } = await stage.call('POST', '/v1/ml/anomaly/stream', { model: 'cold-rooms', data, ...stream });
    const raised = results.flatMap((result: { is_anomaly: boolean }, at: number) => (result.is_anomaly ? [rows[at]!.time] : []));
    assert.deepEqual(raised, alarms);
  });

  it('the phrases teach a classifier that labels others, in each language', async () => {
    const questions = questionsOf('phrases');
    const tables = [...new Set(questions.map(({ document }) => document))];
    assert.ok(tables.length >= 5);
    const fit = { model: 'travellers', base_model: 'quern-tfidf', training_data: tables.flatMap((table) => rowsOf('phrases', table)) };
    const { model } = await stage.call('POST', '/v1/ml/classifier/fit', fit);
    const { data } = await stage.call('POST', '/v1/ml/classifier/predict', { model, texts: questions.map(({ question }) => question) });
    assert.deepEqual(
      data.map(({ label }: { label: string }) => label),
      questions.map(({ answer }) => answer),
    );
  });

  it('answers about receipts have the form of the class that came with the project', async () => {
    const asked = { messages: [{ role: 'user', content: 'How much did we pay for tracing paper?' }] };
    stage.provider.say([{ type: 'text', text: '{"kind":"receipt","seller":"PELL AND INK","total":41.05}' }, FINISH]);
    await stage.call('POST', '/v1/projects/tests/receipts/chat/completions', asked);
    const { request } = stage.provider.asked.at(-1)!;
    assert.match(JSON.stringify(request.response_format), /"name":"Receipt".*"seller".*"lines"/);
    assert.match(JSON.stringify(request.messages), /PELL AND INK/);
  });

  it('the concierge has questions in sound, and a voice', async () => {
    const { project } = await stage.call('GET', '/v1/projects/tests/concierge');
    assert.equal(project.config.voice.llm_model, 'default');
    const folder = join(BUILT_IN_EXAMPLES, 'concierge', 'sounds');
    for (const name of readdirSync(folder)) {
      const pcm = await decodeWhole(readFileSync(join(folder, name)));
      assert.ok(pcm.length > 16_000 && pcm.length < 160_000, `${name}: ${pcm.length} samples`);
    }
  });

  it('the tool server of the library starts once it is approved, and answers what a chat asks', async () => {
    const servers = '/v1/projects/tests/tool-library/mcp/servers';
    const [waiting] = (await stage.call('GET', servers)).servers;
    assert.deepEqual([waiting.name, waiting.state, waiting.approved, waiting.tools], ['stock', 'off', false, []]);
    await stage.call('POST', `${servers}/stock/approve?fingerprint=${waiting.fingerprint}`);
    const call: Step = { type: 'tool_call', index: 0, id: 'one', name: 'stock__state_of', arguments: '{"number":207}' };
    stage.provider.say(({ messages }) => {
      const result = messages.find(({ role }) => role === 'tool');
      return result ? [{ type: 'text', text: String(result.content) }, FINISH] : [call, { ...FINISH, reason: 'tool_calls' } as Step];
    });
    const asked = { messages: [{ role: 'user', content: 'Is the long ladder free?' }] };
    const { choices } = await stage.call('POST', '/v1/projects/tests/tool-library/chat/completions', asked);
    assert.match(choices[0].message.content, /207 long ladder: free, on shelf hall/);
    const [running] = (await stage.call('GET', servers)).servers;
    assert.deepEqual(
      [running.state, running.tools.map((tool: { tool: string; ask: boolean }) => [tool.tool, tool.ask])],
      [
        'ready',
        [
          ['find_things', false],
          ['state_of', false],
          ['reserve', true],
        ],
      ],
    );
  });
});
