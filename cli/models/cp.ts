import { withDaemon } from '../daemon/client.js';
import type { Run } from '../verb.js';

/** Gives a model a second name, under which it can be asked and shown. */
export const cp: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [source = '', destination = ''] = call.words;
    (await daemon.reply('/api/copy', { api: 'runtime', json: { source, destination } })).discard();
    return { result: { source, destination }, show: () => call.out.line(`${destination} is ${source} too`) };
  });
