import { setImmediate } from 'node:timers/promises';
import { puppetPath } from '../test/support/models/cache.js';
import { pagePng } from '../test/support/vision/glyphs.js';

/** Where the parts of a daemon are. */
export interface Addresses {
  readonly core: string;
  readonly runtime: string;
  /** A model of the hub that the daemon knows. */
  readonly remoteModel: string;
}

/** Sends requests that vanish with the client's signal, and counts nothing itself. */
export interface Sender {
  /** The body of an answer whatever its status; undefined where the client has gone. */
  send(url: string, init?: RequestInit): Promise<string | undefined>;
  /** Counts an answer that only says inside that it failed. */
  failed(said: string): void;
}

/** A kind of request that clients make over and over. */
export interface Kind {
  readonly name: string;
  /** How often it comes, against the others. */
  readonly share: number;
  act(sender: Sender, number: number): Promise<void>;
}

const QUESTIONS = ['hello', 'json please', 'ponder this', 'emoji', 'languages', 'lines', 'weather', 'code'];
const words = (number: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `word${(number * 31 + at * 7) % 97}`).join(' ');
const json = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const BACKENDS = ['ecod', 'hbos', 'knn', 'isolation_forest', 'loda'];
const backend = (number: number): string => BACKENDS[number % BACKENDS.length]!;
/** A name that clients meet at, one for each backend. */
const shared = (number: number): string => `soak-${backend(number)}`;
/** 40 rows of three numbers. */
const samples = (number: number): object[] =>
  Array.from({ length: 40 }, (_, at) => ({ a: Math.sin((number + at) * 7.1), b: Math.cos((number + at) * 3.3), c: (number + at) % 97 }));
const anomalyFit = (number: number): object => ({
  model: shared(number),
  backend: backend(number),
  overwrite: true,
  schema: { a: 'numeric', b: 'numeric', c: 'numeric' },
  data: samples(number),
});
const classifierFit = (number: number): object => ({
  model: shared(number),
  overwrite: true,
  training_data: Array.from({ length: 12 }, (_, at) => ({ text: words(number + at, 6), label: ['one', 'two', 'three'][at % 3] })),
});

/** Makes what the requests of classical ML are about. */
async function prepare(core: string): Promise<void> {
  const made = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(`${core}/v1/ml/${path}`, json(body));
    const said = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${said}`);
  };
  for (const number of BACKENDS.keys()) {
    await made('polars/buffers', { buffer_id: shared(number) });
    await made('anomaly/fit', anomalyFit(number));
    await made('classifier/fit', classifierFit(number));
  }
}

function form(name: string, content: string | Uint8Array<ArrayBuffer>): RequestInit {
  const body = new FormData();
  body.append('file', new Blob([content]), name);
  return { method: 'POST', body };
}

function member(text: string | undefined, name: string): string | undefined {
  return new RegExp(`"${name}":\\s*"([^"]+)"`).exec(text ?? '')?.[1];
}

/** Downloads a model and removes it again; one client at a time, for a model that arrives cannot be removed. */
function downloads(core: string, model: string): Kind {
  let busy = false;
  return {
    name: 'downloads',
    share: 2,
    act: async (sender) => {
      // A client that has nothing else to do must not take the loop from the others.
      if (busy) return setImmediate();
      busy = true;
      const said = await sender.send(`${core}/v1/models/download`, json({ model_name: model }));
      if (said?.includes('"event":"error"')) sender.failed(said);
      if (said?.includes('"event":"done"')) await sender.send(`${core}/v1/models/${model}`, { method: 'DELETE' });
      busy = false;
    },
  };
}

/** The kinds of the soak, for a daemon with the tiny models and the project `ns/p`. */
export async function soakKinds({ core, runtime, remoteModel }: Addresses): Promise<Kind[]> {
  const image = new Uint8Array(await pagePng(320, 160, [{ text: 'QUERN 42', x: 32, y: 32 }]));
  const model = puppetPath();
  const project = `${core}/v1/projects/ns/p`;
  const posting = (name: string, share: number, path: string, body: (number: number) => object): Kind => ({
    name,
    share,
    act: async (sender, number) => {
      await sender.send(/^\/v1\/(projects|ml)\//.test(path) ? core + path : runtime + path, json(body(number)));
    },
  });
  await prepare(core);
  return [
    posting('chat', 6, '/v1/chat/completions', (number) => ({
      model,
      stream: number % 3 !== 0,
      max_tokens: 48,
      messages: [{ role: 'user', content: `${QUESTIONS[number % QUESTIONS.length]} ${words(number, number % 40)}` }],
    })),
    posting('embeddings', 6, '/v1/embeddings', (number) => ({
      model: 'tiny/embedder',
      input: Array.from({ length: 1 + (number % 16) }, (_, at) => words(number + at, 1 + ((number * 13 + at) % 30))),
    })),
    posting('rerank', 3, '/v1/rerank', (number) => ({
      model: 'tiny/reranker',
      query: words(number, 4),
      documents: ['a', 'b c', words(number, 9)],
    })),
    posting('classify', 3, '/v1/classify', (number) => ({ model: 'tiny/nli', texts: [words(number, 12)] })),
    posting('ocr', 1, '/v1/ocr', () => ({ model: 'tesseract', images: [Buffer.from(image).toString('base64')], languages: ['en'] })),
    posting('anomaly streams', 4, '/v1/ml/anomaly/stream', (number) => ({
      model: shared(number),
      backend: backend(number),
      data: samples(number),
      min_samples: 100,
      retrain_interval: 50,
      window_size: 400,
      rolling_windows: [5],
    })),
    posting('anomaly fits', 1, '/v1/ml/anomaly/fit', anomalyFit),
    posting('anomaly scores', 2, '/v1/ml/anomaly/score', (number) => ({
      model: shared(number),
      backend: backend(number),
      data: samples(number + 1),
    })),
    posting('buffers', 2, '/v1/ml/polars/append', (number) => ({ buffer_id: shared(number), data: samples(number) })),
    posting('features', 1, '/v1/ml/polars/features', (number) => ({ buffer_id: shared(number), rolling_windows: [5, 20], tail: 5 })),
    posting('classifier fits', 1, '/v1/ml/classifier/fit', classifierFit),
    posting('predictions', 2, '/v1/ml/classifier/predict', (number) => ({ model: shared(number), texts: [words(number, 6)] })),
    posting('rag query', 6, '/v1/projects/ns/p/rag/query', (number) => ({ query: words(number, 5), database: 'main_db', top_k: 5 })),
    {
      name: 'files',
      share: 3,
      act: async (sender) => {
        const id = member(await sender.send(`${runtime}/v1/files`, form('page.png', image)), 'id');
        if (id === undefined) return;
        await sender.send(`${runtime}/v1/files/${id}/images`);
        await sender.send(`${runtime}/v1/files/${id}`, { method: 'DELETE' });
      },
    },
    downloads(core, remoteModel),
    {
      name: 'uploads',
      share: 2,
      act: async (sender, number) => {
        const content = `${number} ${words(number, 200 + (number % 3000))}`;
        const hash = member(await sender.send(`${project}/datasets/docs/data`, form(`soak-${number}.txt`, content)), 'hash');
        if (hash !== undefined) await sender.send(`${project}/datasets/docs/data/${hash}?remove_from_disk=true`, { method: 'DELETE' });
      },
    },
  ];
}
