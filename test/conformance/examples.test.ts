import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setLogLevel } from '../../runtime/base/log.js';
import { parseProjectFile } from '../../runtime/config/project-file.js';
import { BUILT_IN_EXAMPLES } from '../../runtime/examples/catalogue.js';
import { openRetrievalStage, type RetrievalStage } from '../support/retrieval-stage.js';

setLogLevel('error');

interface Asked {
  readonly question: string;
  /** The file that holds the answer. */
  readonly document: string;
  /** Words of it. */
  readonly answer: string;
}

interface Found {
  readonly content: string;
  readonly metadata: Record<string, unknown>;
}

const ids = readdirSync(BUILT_IN_EXAMPLES);

function questionsOf(id: string): Asked[] {
  const text = readFileSync(join(BUILT_IN_EXAMPLES, id, 'questions.yaml'), 'utf8');
  return parseProjectFile('questions.yaml', text, id).value.questions as Asked[];
}

describe('built-in examples', () => {
  let stage: RetrievalStage;

  before(async () => {
    stage = await openRetrievalStage();
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
  const holds = (found: readonly Found[], { document, answer }: Asked): boolean =>
    found.some(({ content, metadata }) => JSON.stringify(metadata).includes(document) && content.includes(answer));

  for (const id of ids) {
    describe(id, () => {
      before(async () => {
        const { task_ids: tasks } = await stage.call('POST', `/v1/examples/${id}/import-project`, { namespace: 'tests', name: id });
        assert.ok(tasks.length > 0);
        for (const task of tasks) await finished(`/v1/projects/tests/${id}/tasks/${task}`);
      });

      it('is large enough to be of use, and valid', async () => {
        const { project } = await stage.call('GET', `/v1/projects/tests/${id}`);
        assert.deepEqual([project.validation_error, project.notes, project.namespace, project.name], [null, [], 'tests', id]);
        const { datasets } = await stage.call('GET', `/v1/projects/tests/${id}/datasets`);
        const files = datasets.flatMap(({ details }: { details: { files_metadata: { chunk_count: number }[] } }) => details.files_metadata);
        const chunks = files.reduce((sum: number, file: { chunk_count: number }) => sum + file.chunk_count, 0);
        assert.ok(files.length >= 20 || chunks >= 100, `${files.length} files, ${chunks} chunks`);
      });

      it('finds the passage with the answer to each of its questions', async () => {
        const questions = questionsOf(id);
        assert.ok(questions.length >= 10);
        const missed: string[] = [];
        for (const one of questions) if (!holds(await ask(id, one.question), one)) missed.push(one.question);
        assert.deepEqual(missed, []);
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
});
