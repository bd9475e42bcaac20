// transformers.js as a peer, in a process of its own: asked over the channel to its parent, or over HTTP as a server of twenty lines would do it.
import { createServer } from 'node:http';
import { basename, dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { peerPath } from './npm-peers.js';

/** Pairs that go through the peer's reranker at a time, as Python's CrossEncoder does unless told otherwise. */
const PAIRS = 32;

/** The model that the peer loads first. */
export interface TransformersPlan {
  folder: string;
  dtype: 'fp32' | 'q8';
  threads: number;
  task: 'embedding' | 'reranking';
  /** The port on which the peer answers `POST /v1/embeddings`. */
  port: number;
}

/** Texts to embed, a batch a call, or to weigh against a query. */
export interface TransformersWork {
  texts: string[];
  batch: number;
  query?: string;
}

/** Seconds that the texts took; 0 for loading. */
export interface TransformersResult {
  seconds: number;
}

type Embed = (texts: string[], options: object) => Promise<{ tolist(): number[][] }>;
type Load<Loaded> = (model: string, options: object) => Promise<Loaded>;

interface Transformers {
  env: { localModelPath: string; allowRemoteModels: boolean };
  pipeline(task: string, model: string, options: object): Promise<Embed>;
  AutoTokenizer: { from_pretrained: Load<(texts: string[], options: object) => object> };
  AutoModelForSequenceClassification: { from_pretrained: Load<(inputs: object) => Promise<unknown>> };
}

let embed: Embed | undefined;
let score: ((query: string, documents: string[]) => Promise<unknown>) | undefined;

const vectors = (texts: string[]): ReturnType<Embed> => embed!(texts, { pooling: 'mean', normalize: true });

async function load({ folder, dtype, threads, task, port }: TransformersPlan): Promise<void> {
  const found = (await import(pathToFileURL(peerPath('@huggingface/transformers')).href)) as Transformers & { default?: Transformers };
  const { env, pipeline, AutoTokenizer, AutoModelForSequenceClassification } = found.default ?? found;
  env.localModelPath = `${dirname(folder)}/`;
  env.allowRemoteModels = false;
  const options = { dtype, device: 'cpu', session_options: { intraOpNumThreads: threads, interOpNumThreads: 1 } };
  if (task === 'reranking') {
    const tokenizer = await AutoTokenizer.from_pretrained(basename(folder), {});
    const model = await AutoModelForSequenceClassification.from_pretrained(basename(folder), options);
    score = async (query, documents) =>
      model(tokenizer(Array<string>(documents.length).fill(query), { text_pair: documents, padding: true, truncation: true }));
    return;
  }
  embed = await pipeline('feature-extraction', basename(folder), options);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', async () => {
      const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[] };
      const data = (await vectors(input)).tolist().map((embedding, index) => ({ object: 'embedding', index, embedding }));
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
}

async function answer(message: TransformersPlan | TransformersWork): Promise<TransformersResult> {
  if ('folder' in message) {
    await load(message);
    return { seconds: 0 };
  }
  const { texts, batch, query } = message;
  const started = performance.now();
  const step = query === undefined ? batch : PAIRS;
  for (let at = 0; at < texts.length; at += step) {
    const some = texts.slice(at, at + step);
    await (query === undefined ? vectors(some) : score!(query, some));
  }
  return { seconds: (performance.now() - started) / 1000 };
}

process.on('message', (message: TransformersPlan | TransformersWork) => {
  answer(message).then(
    (result) => process.send!({ result }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
