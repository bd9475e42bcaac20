import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeMiniLmShape } from '../models/tiny-encoders/minilm-shape.js';
import { wordPiece } from '../models/writers/tokenizer-writer.js';
import { EncoderClient } from '../runtime/engines/onnx/client.js';
import { Circuit } from '../runtime/hosts/circuit.js';
import { freePort } from '../test/support/daemon.js';
import { answers, ask, ended, median, part, program, type Row, table } from './measure.js';
import { installPeers } from './npm-peers.js';
import { PEERS } from './peers.js';
import type { TransformersPlan, TransformersResult } from './transformers-js.js';

const TRANSFORMERS = '@huggingface/transformers@4.3.1';
/** The thread that every contestant gets: the daemon leaves the other core to the rest. */
const THREADS = 1;
const BATCHES = [1, 8, 64];
const ROUNDS = 3;
/** Texts of one round, at least a batch. */
const TEXTS = 64;
const FLAT_TEXTS = 100_000;
const FLAT_AT_ONCE = 500;
const MEBIBYTE = 1024 * 1024;
const GOAL_LLAMA = 4;
const GOAL_TRANSFORMERS = 1.5;
const LENGTHS = [6, 9, 12, 15, 20, 28, 40, 64];
const VOCABULARY_WORDS = 400;

const word = (index: number): string => `w${'abcdefghijklmnopqrst'[index % 20]}${'abcdefghijklmnopqrst'[Math.floor(index / 20) % 20]}`;
/** Texts of 6 to 64 words, as questions and passages are. */
const texts = (count: number, seed = 0): string[] =>
  Array.from({ length: count }, (_, row) =>
    Array.from({ length: LENGTHS[(row * 5 + seed) % LENGTHS.length]! }, (_, at) =>
      word((row * 31 + at * 17 + seed) % VOCABULARY_WORDS),
    ).join(' '),
  );

/** A repository with random weights in MiniLM's shape, made once. */
function modelFolder(): string {
  const folder = join(PEERS, 'models/minilm-shape');
  if (existsSync(join(folder, 'onnx/model_int8.onnx'))) return folder;
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const { tokenizer, config } = wordPiece(
    { words: Array.from({ length: VOCABULARY_WORDS }, (_, index) => word(index)), modelMaxLength: 512 },
    true,
  );
  const json = (name: string, value: object): void => writeFileSync(join(folder, name), JSON.stringify(value));
  json('tokenizer.json', tokenizer);
  json('tokenizer_config.json', config);
  json('config.json', { model_type: 'bert', max_position_embeddings: 512, hidden_size: 384, vocab_size: 30_522, pad_token_id: 0 });
  const { float, int8 } = writeMiniLmShape();
  writeFileSync(join(folder, 'onnx/model.onnx'), float);
  writeFileSync(join(folder, 'onnx/model_int8.onnx'), int8);
  // The name that transformers.js looks for.
  writeFileSync(join(folder, 'onnx/model_quantized.onnx'), int8);
  return folder;
}

async function client(folder: string, file: string): Promise<EncoderClient> {
  const files = { name: file, format: 'onnx' as const, model: join(folder, 'onnx', file), folder, pooling: 'mean' as const, notes: [] };
  const options = { threads: THREADS, device: 'cpu' };
  return EncoderClient.load({ task: 'embedding', files, options, circuit: new Circuit(file) }, new AbortController().signal);
}

/** Texts per second, a batch a call, one call after the other. */
async function rate(batch: number, round: number, embed: (some: string[]) => Promise<unknown>): Promise<number> {
  const all = texts(Math.max(TEXTS, batch), round);
  const started = performance.now();
  for (let at = 0; at < all.length; at += batch) await embed(all.slice(at, at + batch));
  return (all.length * 1000) / (performance.now() - started);
}

interface Contestant {
  readonly name: string;
  readonly rate: (batch: number, round: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

async function ours(folder: string, file: string): Promise<Contestant> {
  const engine = await client(folder, file);
  const signal = new AbortController().signal;
  return { name: file, rate: (batch, round) => rate(batch, round, (some) => engine.embed(some, { signal })), close: () => engine.close() };
}

async function transformersJs(folder: string, dtype: 'fp32' | 'q8'): Promise<Contestant> {
  installPeers(TRANSFORMERS);
  const child = part('transformers-js');
  const plan: TransformersPlan = { folder, dtype, threads: THREADS };
  await ask<TransformersResult>(child, plan);
  return {
    name: `transformers.js ${dtype}`,
    rate: async (batch, round) => {
      const { seconds } = await ask<TransformersResult>(child, { texts: texts(Math.max(TEXTS, batch), round), batch });
      return Math.max(TEXTS, batch) / seconds;
    },
    close: () => ended(child),
  };
}

/** llama-server with an embedding model of MiniLM's shape, where `LLAMA_SERVER` and `LLAMA_EMBED_MODEL` (a GGUF file) name them. */
async function llama(): Promise<Contestant | undefined> {
  const { LLAMA_SERVER: binary, LLAMA_EMBED_MODEL: model } = process.env;
  if (!binary || !model) return undefined;
  const port = await freePort();
  const child = program(binary, [
    '-m',
    model,
    '--port',
    String(port),
    '--embeddings',
    '--pooling',
    'mean',
    '-t',
    String(THREADS),
    '-ub',
    '2048',
    '-b',
    '2048',
  ]);
  await answers(`http://127.0.0.1:${port}/health`);
  const embed = async (input: string[]): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/embeddings`, {
      method: 'POST',
      body: JSON.stringify({ input }),
      headers: { 'content-type': 'application/json' },
    });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.arrayBuffer();
  };
  return { name: 'llama-server', rate: (batch, round) => rate(batch, round, embed), close: () => ended(child) };
}

async function compare(mine: Contestant, peer: Contestant, goal: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const batch of BATCHES) {
    const rates: [number[], number[]] = [[], []];
    // The first round warms up; contestants take turns, so that a busy moment of the machine hits both.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const both = [await mine.rate(batch, round), await peer.rate(batch, round)];
      if (round > 0) both.forEach((value, index) => void rates[index]!.push(value));
    }
    const [own, other] = rates.map(median) as [number, number];
    const figure = (value: number): string => `${value.toFixed(1)} texts/s`;
    rows.push({
      what: `${mine.name}, batch ${batch}, against ${peer.name}`,
      ours: figure(own),
      peer: figure(other),
      ratio: (own / other).toFixed(2),
      goal: `>= ${goal}`,
    });
  }
  return rows;
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}

/** Memory of the host over many texts of mixed length: after a tenth of them, and at the end. */
async function flatMemory(folder: string): Promise<Row> {
  const engine = await client(folder, 'model_int8.onnx');
  const signal = new AbortController().signal;
  const count = Number(process.env.QUERN_BENCH_TEXTS ?? FLAT_TEXTS);
  let early = 0;
  for (let done = 0; done < count; done += FLAT_AT_ONCE) {
    await engine.embed(texts(FLAT_AT_ONCE, done), { signal, urgency: 'bulk' });
    if (early === 0 && done >= count / 10) early = residentBytes(engine.pid!);
  }
  const end = residentBytes(engine.pid!);
  await engine.close();
  const mebibytes = (bytes: number): string => `${(bytes / MEBIBYTE).toFixed(0)} MiB`;
  return {
    what: `memory after ${count} texts (peer column: after a tenth)`,
    ours: mebibytes(end),
    peer: mebibytes(early),
    ratio: (end / early).toFixed(2),
    goal: '<= 1.10',
  };
}

/** Texts per second of encoders in MiniLM's shape, one thread each, against transformers.js and llama-server; memory over many texts. */
export async function benchEncoders(): Promise<void> {
  const folder = modelFolder();
  const rows: Row[] = [];
  for (const [file, dtype] of [
    ['model.onnx', 'fp32'],
    ['model_int8.onnx', 'q8'],
  ] as const) {
    const mine = await ours(folder, file);
    for (const peer of [await transformersJs(folder, dtype), await llama()]) {
      if (!peer) continue;
      rows.push(...(await compare(mine, peer, peer.name === 'llama-server' ? GOAL_LLAMA : GOAL_TRANSFORMERS)));
      await peer.close();
    }
    await mine.close();
  }
  rows.push(await flatMemory(folder));
  table('Encoders', rows);
}
