// Ends an event every few milliseconds, for ever, and tells its parent which of them are stored.
import { setTimeout as sleep } from 'node:timers/promises';
import { Events } from '../../../../runtime/events/events.js';
import { openStore } from '../../../../runtime/store/store.js';

const [dir] = process.argv.slice(2);
const config = { version: 'v1', runtime: { models: [] } } as never;
const events = new Events({ store: await openStore(dir!), projects: { load: () => ({ config }) } });

async function recording(): Promise<void> {
  for (;;) {
    events.begin('inference', { namespace: 'ns', name: 'p', config }).end({ model: 'm', content: { response: 'x'.repeat(2_000) } });
    await sleep(3);
  }
}

async function telling(): Promise<void> {
  for await (const { event_id: id } of events.follow('ns', 'p', {}, new AbortController().signal)) process.send!(id);
}

await Promise.all([telling(), recording()]);
