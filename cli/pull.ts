import { Failure } from '../schemas/errors.js';
import { modelAndOptions, openModelCache } from './model-cache.js';
import { ProgressView } from './progress.js';

/** Downloads a model, by a running daemon or in this process, and shows how far it is. What was interrupted goes on when run again. */
export async function pull(args: string[]): Promise<void> {
  const { name, options } = modelAndOptions('pull', args);
  const cache = await openModelCache(options);
  const view = new ProgressView(process.stdout);
  let isComplete = false;
  try {
    for await (const event of cache.download(name)) {
      if (event.event === 'error') throw new Failure('unavailable', event.message);
      isComplete ||= event.event === 'complete';
      view.show(event);
    }
  } finally {
    await cache.close();
  }
  if (!isComplete) throw new Failure('unavailable', 'the download ended early; run the command again to go on.');
}
