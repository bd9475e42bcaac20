import { cpus } from 'node:os';
import { benchAnomaly } from './anomaly.js';
import { benchCache } from './cache.js';
import { benchChat } from './chat.js';
import { benchClassifiers } from './classifiers.js';
import { benchColumns } from './columns.js';
import { benchDownload } from './download.js';
import { benchEmbeds } from './embeds.js';
import { benchEncoders } from './encoders.js';
import { benchHttp } from './http.js';
import { benchIngest } from './ingest.js';
import { benchLoop } from './loop.js';
import { benchOcr } from './ocr.js';
import { benchQuality } from './quality.js';
import { benchRetrieval } from './retrieval.js';
import { benchSoak } from './soak.js';
import { benchStart } from './start.js';
import { benchStreams } from './streams.js';
import { benchText } from './text.js';
import { benchTurns } from './turns.js';
import { benchVectors } from './vectors.js';

const PARTS: Record<string, () => Promise<void>> = {
  download: benchDownload,
  start: benchStart,
  http: benchHttp,
  loop: benchLoop,
  turns: benchTurns,
  chat: benchChat,
  cache: benchCache,
  vectors: benchVectors,
  text: benchText,
  retrieval: benchRetrieval,
  ingest: benchIngest,
  quality: benchQuality,
  encoders: benchEncoders,
  columns: benchColumns,
  streams: benchStreams,
  embeds: benchEmbeds,
  ocr: benchOcr,
  soak: benchSoak,
  classifiers: benchClassifiers,
  anomaly: benchAnomaly,
};

// Every program under measurement is killed with this process.
process.setMaxListeners(100);

const picked = process.argv.slice(2);
process.stdout.write(`${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.versions.node}, ${process.platform}\n`);
for (const [name, run] of Object.entries(PARTS)) if (picked.length === 0 || picked.includes(name)) await run();
process.exit(0);
