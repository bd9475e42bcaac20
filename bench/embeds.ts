import { freePort } from '../test/support/ports.js';
import { dataDirWithModel, embedOver, modelName } from './encoder-contestants.js';
import { mixedTexts, texts } from './encoder-models.js';
import { answers, ask, ended, type LoopDelay, quern, type Row, table } from './measure.js';
import { descendants, residentBytes } from './processes.js';
import { sizeOf } from './size.js';

/** Texts of the long run; `BENCH_EMBEDS=100000` is the full one. */
const EMBEDS = sizeOf('BENCH_EMBEDS', 2_000, 500);
const CLIENTS = 4;
const TEXTS_A_CALL = 50;
const SINGLES = 500;
const SINGLE_CLIENTS = 16;
const MEBIBYTE = 1024 * 1024;

/** Runs `count` pieces of work, a few at a time. */
async function together(clients: number, count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: clients }, one));
}

const delayRow = (what: string, { p99Ms, maxMs, ownP99Ms }: LoopDelay): Row => {
  return {
    what: `${what}: event loop p99 (max; p99 of its own processor time), ms`,
    ours: `${p99Ms.toFixed(2)} (${maxMs.toFixed(0)}; ${ownP99Ms.toFixed(2)})`,
    peer: '',
    ratio: '',
    goal: 'p99 <= 5',
  };
};

/** The daemon's event loop under many small calls and under few large ones, and the memory of all its processes over the latter. */
export async function benchEmbeds(): Promise<void> {
  const port = await freePort();
  const daemon = quern('runtime', port, dataDirWithModel(), true);
  const url = `http://127.0.0.1:${port}`;
  await answers(`${url}/health`);
  const model = modelName('model_int8.onnx');
  const delays = async (work: () => Promise<void>): Promise<LoopDelay> => {
    await ask<LoopDelay>(daemon, { probe: 'reset' });
    await work();
    return ask<LoopDelay>(daemon, { probe: 'read' });
  };
  await embedOver(url, model, texts(TEXTS_A_CALL));
  const small = await delays(() => together(SINGLE_CLIENTS, SINGLES, (index) => embedOver(url, model, texts(1, index))));
  const calls = Math.ceil(EMBEDS / TEXTS_A_CALL);
  const memory = (): [daemon: number, hosts: number] => {
    const hosts = descendants(daemon.pid!).map(residentBytes);
    return [residentBytes(daemon.pid!), hosts.reduce((sum, bytes) => sum + bytes, 0)];
  };
  let early: [number, number] = [0, 0];
  const large = await delays(() =>
    together(CLIENTS, calls, async (index) => {
      await embedOver(url, model, mixedTexts(TEXTS_A_CALL, index));
      if (index === Math.floor(calls / 10)) early = memory();
    }),
  );
  const end = memory();
  await ended(daemon);
  table('Embeddings over HTTP under load, int8', [
    delayRow(`${SINGLES} calls of one text, ${SINGLE_CLIENTS} clients`, small),
    delayRow(`${calls} calls of ${TEXTS_A_CALL} texts, ${CLIENTS} clients`, large),
    memoryRow('the host', early[1], end[1]),
    memoryRow('the daemon', early[0], end[0]),
  ]);
}

function memoryRow(whose: string, early: number, end: number): Row {
  const mebibytes = (bytes: number): string => `${(bytes / MEBIBYTE).toFixed(0)} MiB`;
  return {
    what: `memory of ${whose} after ${EMBEDS} texts of mixed length (peer column: after a tenth)`,
    ours: mebibytes(end),
    peer: mebibytes(early),
    ratio: (end / early).toFixed(2),
    goal: '<= 1.10',
  };
}
