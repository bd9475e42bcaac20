// transformers.js as a peer, in a process of its own.
import { basename, dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { peerPath } from './npm-peers.js';

/** What the peer loads first. */
export interface TransformersPlan {
  folder: string;
  dtype: 'fp32' | 'q8';
  threads: number;
}

/** Seconds that the texts took; 0 for loading. */
export interface TransformersResult {
  seconds: number;
}

interface Transformers {
  env: { localModelPath: string; allowRemoteModels: boolean };
  pipeline(task: string, model: string, options: object): Promise<(texts: string[], options: object) => Promise<unknown>>;
}

let embed: ((texts: string[], options: object) => Promise<unknown>) | undefined;

async function answer(message: TransformersPlan | { texts: string[]; batch: number }): Promise<TransformersResult> {
  if ('folder' in message) {
    const found = (await import(pathToFileURL(peerPath('@huggingface/transformers')).href)) as Transformers & { default?: Transformers };
    const { env, pipeline } = found.default ?? found;
    env.localModelPath = `${dirname(message.folder)}/`;
    env.allowRemoteModels = false;
    const session_options = { intraOpNumThreads: message.threads, interOpNumThreads: 1 };
    embed = await pipeline('feature-extraction', basename(message.folder), { dtype: message.dtype, device: 'cpu', session_options });
    return { seconds: 0 };
  }
  const started = performance.now();
  for (let at = 0; at < message.texts.length; at += message.batch)
    await embed!(message.texts.slice(at, at + message.batch), { pooling: 'mean', normalize: true });
  return { seconds: (performance.now() - started) / 1000 };
}

process.on('message', (message: TransformersPlan | { texts: string[]; batch: number }) => {
  answer(message).then(
    (result) => process.send!({ result }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
