import { linkSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EncoderClient } from '../runtime/engines/encoders/onnx/client.js';
import { CircuitBreaker } from '../runtime/hosts/circuit-breaker.js';
import { emptyDataDir } from '../test/support/daemon.js';
import { freePort } from '../test/support/ports.js';
import { ggufPath, modelFolder, texts } from './encoder-models.js';
import { answers, ask, ended, part, program, quern, started } from './measure.js';
import { installPeers } from './npm-peers.js';
import { llamaServer } from './peers.js';
import type { TransformersPlan, TransformersResult, TransformersWork } from './transformers-js.js';

const TRANSFORMERS = '@huggingface/transformers@4.3.1';
/** The thread that every contestant gets: the daemon leaves the other core to the rest. */
const THREADS = 1;
/** Texts of one round: whole batches of each size that is measured. */
export const ROUND_TEXTS = 64;
/** Tokens of llama-server's context: several texts at a time, each below 128. */
const LLAMA_CONTEXT = 4096;

/** A contestant that makes embeddings. */
export interface Contestant {
  readonly name: string;
  /** Texts per second, a batch a call, one call after the other. */
  readonly rate: (batch: number, round: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** A contestant that weighs documents against a query. */
export interface Ranker {
  readonly name: string;
  /** Pairs per second of one query with so many documents. */
  readonly rate: (documents: number, round: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

async function timed(batch: number, round: number, embed: (some: string[]) => Promise<unknown>): Promise<number> {
  const all = texts(ROUND_TEXTS, round);
  const started = performance.now();
  for (let at = 0; at < all.length; at += batch) await embed(all.slice(at, at + batch));
  return (all.length * 1000) / (performance.now() - started);
}

/** Asks for embeddings as clients do and reads the whole answer. */
export async function embedOver(url: string, model: string, input: readonly string[]): Promise<void> {
  const answer = await fetch(`${url}/v1/embeddings`, {
    method: 'POST',
    body: JSON.stringify({ model, input }),
    headers: { 'content-type': 'application/json' },
  });
  if (!answer.ok) throw new Error(await answer.text());
  await answer.json();
}

const overHttp = (url: string, model: string): Contestant['rate'] => {
  return (batch, round) => timed(batch, round, (some) => embedOver(url, model, some));
};

/** Our encoder in its host process, asked by the daemon's own code. */
async function client(task: 'embedding' | 'reranking', file: string): Promise<EncoderClient> {
  const folder = modelFolder(task === 'embedding' ? 'vectors' : 'classification');
  const files = { name: file, format: 'onnx' as const, model: join(folder, 'onnx', file), folder, pooling: 'mean' as const, notes: [] };
  return EncoderClient.load(
    { task, files, options: { threads: THREADS, device: 'cpu' }, circuit: new CircuitBreaker(file) },
    new AbortController().signal,
  );
}

/** Our encoder, asked without HTTP. */
export async function ours(file: string): Promise<Contestant> {
  const engine = await client('embedding', file);
  const { signal } = new AbortController();
  return {
    name: `in process (${engine.info.engine})`,
    rate: (batch, round) => timed(batch, round, (some) => engine.embed(some, { signal })),
    close: () => engine.close(),
  };
}

/** A data directory in which `bench/minilm` is the model. */
export function dataDirWithModel(): string {
  const dataDir = emptyDataDir();
  const from = modelFolder('vectors');
  for (const name of readdirSync(from, { recursive: true }) as string[]) {
    if (!statSync(join(from, name)).isFile() || name.endsWith('model_quantized.onnx')) continue;
    const to = join(dataDir, 'models/bench/minilm', name);
    mkdirSync(dirname(to), { recursive: true });
    linkSync(join(from, name), to);
  }
  return dataDir;
}

/** Our daemon, asked over HTTP. */
export async function oursOverHttp(file: string): Promise<Contestant> {
  const port = await freePort();
  const daemon = quern('runtime', port, dataDirWithModel());
  const url = `http://127.0.0.1:${port}`;
  await answers(`${url}/health`);
  await embedOver(url, modelName(file), ['a']);
  const { engines } = (await (await fetch(`${url}/health`)).json()) as { engines: { options: { engine?: string } }[] };
  return { name: `over HTTP (${engines[0]?.options.engine})`, rate: overHttp(url, modelName(file)), close: () => ended(daemon) };
}

/** What our daemon calls a graph of `dataDirWithModel`. */
export const modelName = (file: string): string => (file === 'model_int8.onnx' ? 'bench/minilm:INT8' : 'bench/minilm');

async function transformersJs(
  task: TransformersPlan['task'],
  file: string,
): Promise<{ port: number; work: Work; close: () => Promise<void> }> {
  installPeers(TRANSFORMERS);
  const child = part('transformers-js');
  const port = await freePort();
  const folder = modelFolder(task === 'embedding' ? 'vectors' : 'classification');
  const plan: TransformersPlan = { folder, dtype: file === 'model_int8.onnx' ? 'q8' : 'fp32', threads: THREADS, task, port };
  await ask<TransformersResult>(child, plan);
  const work = async (asked: TransformersWork): Promise<number> => {
    const { seconds } = await ask<TransformersResult>(child, asked);
    return asked.texts.length / seconds;
  };
  return { port, work, close: () => ended(child) };
}

type Work = (asked: TransformersWork) => Promise<number>;

/** transformers.js called in its process, and the same process behind a bare HTTP server. */
export async function transformersPeers(file: string): Promise<{ inProcess: Contestant; http: Contestant }> {
  const { port, work, close } = await transformersJs('embedding', file);
  return {
    inProcess: {
      name: 'transformers.js in process',
      rate: (batch, round) => work({ texts: texts(ROUND_TEXTS, round), batch }),
      close,
    },
    http: { name: 'transformers.js behind HTTP', rate: overHttp(`http://127.0.0.1:${port}`, 'peer'), close: async () => {} },
  };
}

/** llama-server with a model of the same shape. */
export async function llama(file: string): Promise<Contestant> {
  const binary = llamaServer();
  const port = await freePort();
  const type = file === 'model_int8.onnx' ? 'Q8_0' : 'F32';
  // Attention is computed for a whole batch, so that larger ones would cost it more; so would more sequences.
  const sizes = ['-c', String(LLAMA_CONTEXT), '-b', '512', '-ub', '512', '-np', '4'];
  const server = ['-m', ggufPath(type), '--port', String(port), '--embeddings', '--pooling', 'mean', '-t', String(THREADS)];
  const child = program(binary, [...server, '-tb', String(THREADS), ...sizes]);
  const url = `http://127.0.0.1:${port}`;
  await started(child, `${url}/health`);
  return { name: `llama-server (${type})`, rate: overHttp(url, 'peer'), close: () => ended(child) };
}

/** The two rerankers: ours and transformers.js. */
export async function rankers(file: string): Promise<[Ranker, Ranker]> {
  const engine = await client('reranking', file);
  const { signal } = new AbortController();
  const query = texts(1, 3)[0]!;
  const { work, close } = await transformersJs('reranking', file);
  return [
    {
      name: `rerank (${engine.info.engine})`,
      rate: async (documents, round) => {
        const some = texts(documents, round);
        const started = performance.now();
        await engine.score(query, some, { signal });
        return (documents * 1000) / (performance.now() - started);
      },
      close: () => engine.close(),
    },
    {
      name: 'transformers.js',
      rate: (documents, round) => work({ texts: texts(documents, round), batch: documents, query }),
      close,
    },
  ];
}
