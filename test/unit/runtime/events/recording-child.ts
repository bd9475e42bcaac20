// Ends an event every few milliseconds, for ever, and tells its parent of each one with the moment of its end.
import { setTimeout as sleep } from 'node:timers/promises';
import { Events } from '../../../../runtime/events/events.js';
import { openStore } from '../../../../runtime/store/store.js';

const [dir] = process.argv.slice(2);
const config = { version: 'v1', runtime: { models: [] } } as never;
const events = new Events({ store: await openStore(dir!), projects: { load: () => ({ config }) } });
for (;;) {
  const recording = events.begin('inference', { namespace: 'ns', name: 'p', config });
  recording.end({ model: 'm', content: { response: 'x'.repeat(2_000) } });
  process.send!({ id: recording.id, endedMs: Date.now() });
  await sleep(3);
}
