// A thread that tokenises the long texts of one model; see `long-texts.ts`.
import { parentPort, workerData } from 'node:worker_threads';
import { toWire } from '../../../hosts/protocol.js';
import { TextTokenizer } from '../../tokenizers/text-tokenizer.js';
import { exportFacts } from './export-files.js';
import type { LongAnswer, LongText } from './long-texts.js';

const { tokenizer, tokenizerConfig } = exportFacts(workerData as string);
const opened = new TextTokenizer(tokenizer, tokenizerConfig);

function answer({ text, framed }: LongText): LongAnswer {
  try {
    return { ids: opened.encode(text, framed) };
  } catch (error) {
    return { failure: toWire(error) };
  }
}

parentPort!.on('message', (task: LongText) => parentPort!.postMessage(answer(task)));
