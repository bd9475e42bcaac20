// Run as a child process with a data directory: processes its dataset, as the queue finds it, and says how far it is.
import { setTimeout as sleep } from 'node:timers/promises';
import { setLogLevel } from '../../../../../runtime/base/log.js';
import { openDatasetStage } from '../../../../support/dataset-stage.js';

setLogLevel('error');
const [dataDir = '', given = ''] = process.argv.slice(2);
const stage = await openDatasetStage({ dataDir });
stage.ingest.chunkMs = 1;
const id = given === '' ? await stage.datasets.processing.start('ns', 'p', 'docs', {}) : given;
for (;;) {
  const { state, meta } = stage.tasks.get('ns', 'p', id);
  process.stdout.write(`${JSON.stringify({ id, state, current: meta?.current ?? 0 })}\n`);
  if (state === 'SUCCESS' || state === 'FAILURE') break;
  await sleep(5);
}
await stage.close();
