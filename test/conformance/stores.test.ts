import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Outbound } from '../../runtime/net/outbound.js';
import type { Metric } from '../../runtime/rag/stores/contract.js';
import { openStore } from '../../runtime/rag/stores/index.js';
import { openStore as openState, type Store } from '../../runtime/store/store.js';
import type { StoreType } from '../../schemas/generated/config/rag.js';
import { ScriptedQdrant } from '../support/scripted-qdrant.js';
import { storeSuite } from './store-suite.js';

const directory = mkdtempSync(join(tmpdir(), 'quern-stores-'));
const outbound = new Outbound();
let state: Store;
let opened = 0;

before(async () => {
  mkdirSync(join(directory, 'project'));
  state = await openState(directory);
});
after(async () => {
  await state.close();
  await outbound.close();
  rmSync(directory, { recursive: true, force: true });
});

const open = (type: StoreType, config: object) => (metric: Metric, enable_deduplication: boolean) => {
  opened += 1;
  const name = `conformance_${process.pid}_${opened}`;
  const distance = { cosine: 'Cosine', l2: 'Euclid', ip: 'Dot' }[metric];
  const scope = { namespace: 'ns', project: 'p', directory: join(directory, 'project'), store: state, outbound };
  const options = { distance, distance_function: metric, metric, collection_name: name, enable_deduplication };
  return openStore({ name, type, config: { ...options, ...config } }, scope);
};

let scripted: ScriptedQdrant;
before(async () => {
  scripted = await ScriptedQdrant.start();
});
after(() => scripted.stop());

/** The suite on a real server, when a variable names one. */
function onServer(type: StoreType, variable: string, config: object = {}): void {
  const host = process.env[variable];
  storeSuite(`${type} on the server of ${variable}`, open(type, { ...config, host }), {
    skip: host === undefined ? `${variable} names no server` : false,
  });
}

storeSuite('NativeStore', open('NativeStore', {}));
storeSuite('QdrantStore without a host', open('QdrantStore', { vector_size: 3 }));

storeSuite('QdrantStore on a scripted server', (...wanted) =>
  open('QdrantStore', { vector_size: 3, host: '127.0.0.1', port: scripted.port })(...wanted),
);
onServer('ChromaStore', 'CHROMA_URL');
onServer('QdrantStore', 'QDRANT_URL', { vector_size: 3 });
