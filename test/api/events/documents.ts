import assert from 'node:assert/strict';
import { found, LOGS, list, names } from '../../support/events-stage.js';
import { DOCUMENTS } from '../../support/retrieval-project.js';
import type { Scenario } from '../../support/scenario.js';

/** Events of files and tasks. */
export const DOCUMENT_EVENTS: Scenario[] = [
  list('each file is an event', '?type=rag_processing&limit=100', (body) => {
    assert.equal(body.total, Object.keys(DOCUMENTS).length);
    found.id = body.events[0].event_id;
  }),
  {
    name: 'with what became of it',
    path: () => `${LOGS}/${found.id}`,
    json: (body) => {
      assert.deepEqual(names(body), ['file_received', 'file_parsed', 'processing_complete']);
      assert.deepEqual(
        [body.status, body.data.status, body.data.dataset, body.data.database],
        ['completed', 'success', 'docs', 'first_db'],
      );
      assert.ok(body.data.stored_count > 0 && body.data.filename in DOCUMENTS);
    },
  },
  list('and so is the task', '?type=dataset_ingestion', (body) => {
    assert.equal(body.total, 1);
    found.id = body.events[0].event_id;
  }),
  {
    name: 'with its counts',
    path: () => `${LOGS}/${found.id}`,
    json: (body) => {
      const files = Object.keys(DOCUMENTS).length;
      assert.deepEqual([body.data.processed_files, body.data.failed_files, body.data.total_files], [files, 0, files]);
      assert.equal(body.sub_events.at(-1).data.files.length, files);
    },
  },
  {
    name: 'it cannot be run again',
    method: 'POST',
    path: () => `${LOGS}/${found.id}/replay`,
    body: {},
    status: 400,
    contains: ['dataset_ingestion'],
  },
];
