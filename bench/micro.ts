import { Bench } from 'tinybench';
import { parseJsonInTurns } from '../gateway/http/json-pieces.js';
import { CHATML_TEMPLATE } from '../models/writers/chat-template.js';
import { loadCore } from '../native/loader.js';
import { ChatTemplate } from '../runtime/engines/language/templates/template.js';
import { EncoderTokenizer } from '../runtime/engines/tokenizers/tokenizer.js';
import { wordPiece } from '../test/support/models/writers/tokenizer-writer.js';
import { unlessLacking } from './lacking.js';
import { type Row, table } from './measure.js';
import { installPeers, peerModule } from './npm-peers.js';
import { sizeOf } from './size.js';
import { addAll } from './vector-contestants.js';
import { DIMENSIONS } from './vector-space.js';

/** Milliseconds that each contestant is measured; they take turns as tinybench has them. */
const TIME_MS = sizeOf('BENCH_MICRO_MS', 1_000, 100);
const ROWS = 10_000;
const K = 10;

/** Ours and what it is compared with, each doing the same work once. */
interface Pair {
  readonly what: string;
  readonly against: string;
  readonly ours: () => unknown;
  readonly peer: () => unknown;
}

async function scan(): Promise<Pair> {
  const rows = Float32Array.from({ length: ROWS * DIMENSIONS }, (_, at) => Math.sin(at * 12.9898));
  const query = rows.slice(0, DIMENSIONS);
  const index = loadCore().openVectorIndex({ dimensions: DIMENSIONS, metric: 'inner_product', storage: 'f32', scanBelow: 2 ** 32 - 1 });
  await addAll(index, rows);
  const loop = (): number => {
    let best = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < ROWS; row += 1) {
      let sum = 0;
      for (let at = 0, from = row * DIMENSIONS; at < DIMENSIONS; at += 1) sum += rows[from + at]! * query[at]!;
      if (sum > best) best = sum;
    }
    return best;
  };
  return {
    what: `exact scan of ${ROWS} x ${DIMENSIONS} vectors`,
    against: 'a loop in JavaScript',
    ours: () => index.search(query, K, { exact: true }),
    peer: loop,
  };
}

function json(): Pair {
  const rows = Array.from({ length: 10_000 }, (_, at) => ({ id: at, name: `row ${at}`, value: Math.sin(at), tags: ['a', 'b'] }));
  const body = Buffer.from(JSON.stringify({ model: 'm', data: rows }));
  return {
    what: `a body of ${Math.round(body.length / 1000)} kB, parsed in turns`,
    against: 'JSON.parse at once',
    ours: () => parseJsonInTurns(body),
    peer: () => JSON.parse(body.toString()),
  };
}

function template(): Pair {
  installPeers('@huggingface/jinja@0.5.11');
  const { Template } = peerModule<{ Template: new (text: string) => { render(values: object): string } }>('@huggingface/jinja');
  const messages = Array.from({ length: 40 }, (_, at) => ({ role: at % 2 ? 'assistant' : 'user', content: `turn ${at} `.repeat(20) }));
  const values = { messages, add_generation_prompt: true };
  const [own, other] = [new ChatTemplate(CHATML_TEMPLATE), new Template(CHATML_TEMPLATE)];
  return {
    what: 'a chat template over 40 messages, bounded',
    against: '@huggingface/jinja as it comes',
    ours: () => own.render(values),
    peer: () => other.render(values),
  };
}

function tokens(): Pair {
  installPeers('@huggingface/tokenizers@0.2.0');
  type Peer = { Tokenizer: new (definition: object, config: object) => { encode(text: string): { ids: number[] } } };
  const { Tokenizer } = peerModule<Peer>('@huggingface/tokenizers');
  const words = Array.from({ length: 400 }, (_, at) => `w${String.fromCharCode(97 + (at % 20), 97 + Math.floor(at / 20))}`);
  const { tokenizer, config } = wordPiece({ words, modelMaxLength: 512 }, true);
  const text = Array.from({ length: 20_000 }, (_, at) => words[(at * 17) % words.length]).join(' ');
  const [own, other] = [new EncoderTokenizer(tokenizer, config), new Tokenizer(tokenizer, config)];
  return {
    what: 'the first 512 tokens of a text of 80 kB',
    against: '@huggingface/tokenizers, which reads it whole',
    ours: () => own.body(text, 512).ids.slice(0, 512),
    peer: () => other.encode(text).ids.slice(0, 512),
  };
}

/** Kernels, JSON, templates and tokens in this process, each against the plain way, in turns. */
export async function benchMicro(): Promise<void> {
  const rows: Row[] = [];
  for (const make of [scan, json, template, tokens]) {
    const pair = await unlessLacking(`micro: ${make.name}`, make);
    if (!pair) continue;
    const bench = new Bench({ time: TIME_MS, warmupTime: TIME_MS / 4 }).add('ours', pair.ours).add('peer', pair.peer);
    await bench.run();
    const [ours, peer] = bench.tasks.map(({ result }) => {
      if (!('latency' in result)) throw new Error(`${pair.what}: ${'error' in result ? result.error : result.state}`);
      return result.latency.p50;
    }) as [number, number];
    const shown = (ms: number): string => ms.toPrecision(3);
    rows.push({
      what: `${pair.what}, ms, against ${pair.against}`,
      ours: shown(ours),
      peer: shown(peer),
      ratio: `${(peer / ours).toFixed(2)}x`,
      goal: '',
    });
  }
  table(`In process, medians of ${TIME_MS} ms each (tinybench)`, rows);
}
