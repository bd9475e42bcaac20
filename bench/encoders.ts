import { type Contestant, llama, ours, oursOverHttp, type Ranker, ROUND_TEXTS, rankers, transformersPeers } from './encoder-contestants.js';
import { unlessLacking } from './lacking.js';
import { median, type Row, table } from './measure.js';
import { processorMs } from './processes.js';
import { QUICK, sizeOf } from './size.js';

const FILES = QUICK ? ['model_int8.onnx'] : ['model.onnx', 'model_int8.onnx'];
const BATCHES = [1, 8, 64];
const ROUNDS = sizeOf('BENCH_ROUNDS', 5, 2);
/**
 * Rounds before those that count: until then, JavaScript on either side is still being compiled. The first size warms it up for all: one text at a time
 * went on becoming faster, on both sides, until some 2,500 calls.
 */
const FIRST_WARM_UP = QUICK ? 5 : 40;
const WARM_UP = 5;
/** Documents that are weighed against one query. */
const DOCUMENTS = ROUND_TEXTS;
const GOAL_LLAMA = '>= 4x';
const GOAL_TRANSFORMERS = '>= 1.5x';

/** The figures of one contestant. */
interface Reached {
  /** Texts or pairs per second, the median of the rounds. */
  readonly rate: number;
  /** Processor time of all its processes for one, in milliseconds, the least of the rounds: other programs hardly change it. */
  readonly processorMs: number;
}

/** Contestants take turns, so that a busy moment of the machine hits all. */
async function inTurn(contestants: readonly (Contestant | Ranker)[], size: number, warmUp = WARM_UP): Promise<Reached[]> {
  const rates = contestants.map((): number[] => []);
  const least = contestants.map(() => Number.POSITIVE_INFINITY);
  for (let round = -warmUp; round < ROUNDS; round += 1)
    for (const [index, { rate }] of contestants.entries()) {
      const before = processorMs(process.pid);
      const value = await rate(size, round + warmUp);
      if (round < 0) continue;
      rates[index]!.push(value);
      least[index] = Math.min(least[index]!, (processorMs(process.pid) - before) / ROUND_TEXTS);
    }
  return rates.map((all, index) => ({ rate: median(all), processorMs: least[index]! }));
}

/** The row of the rates, and that of the processor time. */
function rows(what: string, unit: string, own: Reached, other: Reached, goal: string): Row[] {
  const figure = ({ rate }: Reached): string => `${rate.toFixed(1)} ${unit}`;
  const time = ({ processorMs: ms }: Reached): string => `${ms.toFixed(2)} ms`;
  return [
    { what, ours: figure(own), peer: figure(other), ratio: `${(own.rate / other.rate).toFixed(2)}x`, goal },
    {
      what: '... processor time of each',
      ours: time(own),
      peer: time(other),
      ratio: `${(other.processorMs / own.processorMs).toFixed(2)}x`,
      goal: '',
    },
  ];
}

/** Every pairing of one graph: in process with in process, over HTTP with over HTTP. */
async function embeddings(file: string): Promise<Row[]> {
  const js = await unlessLacking(`encoders against transformers.js`, () => transformersPeers(file));
  const server = await unlessLacking('encoders against llama-server', () => llama(file));
  const [own, ownHttp] = [await ours(file), await oursOverHttp(file)];
  const pairs: [Contestant, Contestant, string][] = [
    ...(js
      ? ([
          [own, js.inProcess, GOAL_TRANSFORMERS],
          [ownHttp, js.http, GOAL_TRANSFORMERS],
        ] as [Contestant, Contestant, string][])
      : []),
    ...(server ? ([[ownHttp, server, GOAL_LLAMA]] as [Contestant, Contestant, string][]) : []),
  ];
  const contestants = [...new Set<Contestant>([own, ownHttp, ...pairs.map(([, other]) => other)])];
  const found: Row[] = [];
  for (const batch of BATCHES) {
    const rates = await inTurn(contestants, batch, batch === BATCHES[0] ? FIRST_WARM_UP : WARM_UP);
    const reached = (one: Contestant): Reached => rates[contestants.indexOf(one)]!;
    for (const [mine, other, goal] of pairs)
      found.push(...rows(`${file}, batch ${batch}, ${mine.name}, against ${other.name}`, 'texts/s', reached(mine), reached(other), goal));
  }
  for (const { close } of contestants) await close();
  return found;
}

async function reranking(file: string): Promise<Row[]> {
  const both = await rankers(file);
  const [own, other] = (await inTurn(both, DOCUMENTS)) as [Reached, Reached];
  for (const { close } of both) await close();
  return rows(`${file}, ${both[0].name} ${DOCUMENTS} documents, against transformers.js in process`, 'pairs/s', own, other, '');
}

/** Texts per second of encoders in MiniLM's shape, one thread each, against transformers.js and llama-server; pairs per second of a reranker. */
export async function benchEncoders(): Promise<void> {
  const found: Row[] = [];
  for (const file of FILES) found.push(...(await embeddings(file)));
  for (const file of FILES) found.push(...((await unlessLacking('reranking against transformers.js', () => reranking(file))) ?? []));
  table('Encoders in the shape of all-MiniLM-L6-v2, one thread each', found);
}
