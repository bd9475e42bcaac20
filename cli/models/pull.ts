import { Failure } from '../../schemas/errors.js';
import type { Run } from '../verb.js';
import { openModelCache } from './model-cache.js';
import { ProgressView } from './progress.js';

/** Downloads a model, by a running daemon or in this process, and shows how far it is. What was interrupted goes on when run again. */
export const pull: Run = async ({ words: [name], daemon, out }) => {
  if (name === undefined) return (await import('./recommend.js')).recommend(out);
  const cache = await openModelCache(daemon);
  const view = new ProgressView(out);
  let isComplete = false;
  try {
    for await (const event of cache.download(name)) {
      if (event.event === 'error') throw new Failure('unavailable', event.message);
      isComplete ||= event.event === 'complete';
      out.value(event);
      view.show(event);
    }
  } finally {
    await cache.close();
  }
  if (!isComplete) throw new Failure('unavailable', 'the download ended early; run the command again to go on.');
  return undefined;
};
