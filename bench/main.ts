import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { benchAccounts } from './accounts.js';
import { benchAnomaly } from './anomaly.js';
import { benchAudio } from './audio.js';
import { benchCache } from './cache.js';
import { benchChat } from './chat.js';
import { benchClassifiers } from './classifiers.js';
import { benchColumns } from './columns.js';
import { benchDownload } from './download.js';
import { benchEmbeds } from './embeds.js';
import { benchEncoders } from './encoders.js';
import { benchEvents } from './events.js';
import { benchHttp } from './http.js';
import { benchIngest } from './ingest.js';
import { Lacking, skip, skippedLines } from './lacking.js';
import { benchLoop } from './loop.js';
import { ROOT, takeTables } from './measure.js';
import { benchMemory } from './memory.js';
import { benchMicro } from './micro.js';
import { benchOcr } from './ocr.js';
import { benchPeers } from './peers.js';
import { benchQuality } from './quality.js';
import { circumstancesOf, sectionOf, withSection } from './report.js';
import { benchRetrieval } from './retrieval.js';
import { QUICK } from './size.js';
import { benchSoak } from './soak.js';
import { benchSpeech } from './speech.js';
import { benchStart } from './start.js';
import { benchStreams } from './streams.js';
import { benchText } from './text.js';
import { benchTools } from './tools.js';
import { benchTranscription } from './transcription.js';
import { benchTurns } from './turns.js';
import { benchVectors } from './vectors.js';
import { benchVoice } from './voice.js';
import { benchWeb } from './web.js';

/** What is only done where it is named: it builds or takes much longer than the rest. */
const ON_DEMAND: Record<string, () => Promise<void>> = { peers: benchPeers, soak: benchSoak };
const PARTS: Record<string, () => Promise<void>> = {
  download: benchDownload,
  start: benchStart,
  http: benchHttp,
  loop: benchLoop,
  micro: benchMicro,
  turns: benchTurns,
  tools: benchTools,
  events: benchEvents,
  chat: benchChat,
  cache: benchCache,
  vectors: benchVectors,
  text: benchText,
  memory: benchMemory,
  retrieval: benchRetrieval,
  ingest: benchIngest,
  quality: benchQuality,
  encoders: benchEncoders,
  columns: benchColumns,
  streams: benchStreams,
  embeds: benchEmbeds,
  ocr: benchOcr,
  classifiers: benchClassifiers,
  anomaly: benchAnomaly,
  speech: async () => {
    await benchSpeech();
    await benchTranscription();
  },
  voice: benchVoice,
  audio: benchAudio,
  accounts: benchAccounts,
  web: benchWeb,
};

/** The page that `--write` writes to. */
const PAGE = join(ROOT, 'docs/benchmarks.md');
const ALL = { ...ON_DEMAND, ...PARTS };

// Every program under measurement is killed with this process.
process.setMaxListeners(100);

const FLAGS = ['--quick', '--write'];
const words = process.argv.slice(2);
const unknown = words.filter((word) => !FLAGS.includes(word) && !Object.hasOwn(ALL, word));
if (unknown.length > 0) {
  process.stderr.write(
    `bench: there is no part ${unknown.join(', ')}; the parts are ${Object.keys(ALL).join(', ')}. --quick makes them small, --write puts their tables into docs/benchmarks.md.\n`,
  );
  process.exit(2);
}
const picked = words.filter((word) => !FLAGS.includes(word));
process.stdout.write(`${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.versions.node}, ${process.platform}\n`);
const began = performance.now();
let failed = false;
for (const [name, run] of Object.entries(picked.length > 0 ? ALL : PARTS)) {
  if (picked.length > 0 && !picked.includes(name)) continue;
  const started = performance.now();
  const circumstances = words.includes('--write') ? circumstancesOf(name, QUICK) : undefined;
  takeTables();
  try {
    await run();
    const tables = takeTables();
    if (circumstances && tables.length > 0)
      writeFileSync(PAGE, withSection(readFileSync(PAGE, 'utf8'), name, sectionOf(circumstances, tables)));
    process.stderr.write(`bench: ${name} took ${((performance.now() - started) / 1000).toFixed(0)} s\n`);
  } catch (error) {
    if (!(error instanceof Lacking)) {
      failed = true;
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    }
    skip(name, error);
  }
}
process.stdout.write(`${skippedLines()}\nThe run took ${((performance.now() - began) / 60_000).toFixed(1)} minutes.\n`);
process.exit(failed ? 1 : 0);
