import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Models } from '../runtime/models/residency/models.js';
import { Outbound } from '../runtime/net/outbound.js';
import type { Embedder } from '../runtime/rag/embedders/contract.js';
import { createEmbedders } from '../runtime/rag/embedders/index.js';
import { modelServices } from '../runtime/services/model-services.js';
import { openStore } from '../runtime/store/store.js';
import { QUESTION_CLASSES, QUESTIONS } from '../test/support/memory/questions.js';
import { plainAnswers, type Quizzed, quiz, recallAnswers, tell } from '../test/support/memory/quiz.js';
import { mindOver, openMemory } from '../test/support/memory/stage.js';
import { openSomeServices } from '../test/support/services.js';
import { skip } from './lacking.js';
import { type Row, table } from './measure.js';

/** Asks the questions in both ways: of the memory, and of the transcript alone. */
async function quizzed(embedder: Embedder): Promise<{ memory: Quizzed; transcript: Quizzed }> {
  const closes: (() => Promise<void>)[] = [];
  const store = await openMemory((close) => closes.push(close));
  const mind = mindOver({ of: async () => store });
  const records = await tell(store, embedder, (ids) => mind.forget(store, ids));
  const memory = await quiz(await recallAnswers(store, embedder, records));
  const transcript = await quiz(await plainAnswers(await openMemory((close) => closes.push(close)), embedder));
  for (const close of closes) await close();
  return { memory, transcript };
}

function rowOf(what: string, ours: number, peer: number): Row {
  return {
    what,
    ours: ours.toFixed(3),
    peer: peer.toFixed(3),
    ratio: `${(ours / Math.max(peer, 0.001)).toFixed(2)}x`,
    goal: ours >= peer ? 'at least as good' : 'worse',
  };
}

/** Asks a year of conversation a hundred questions, of its memory and of its transcript alone, by hashed words and by a model in `models`; prints recall@5 by class. */
export async function benchMemoryQuestions(model: string, models: string | undefined): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quern-bench-memory-'));
  if (models !== undefined && existsSync(models)) symlinkSync(models, join(dataDir, 'models'));
  const outbound = new Outbound();
  const opened = new Models({ dataDir });
  const store = await openStore(dataDir);
  const services = openSomeServices({ dataDir, models: opened, store, outbound });
  const embedders = createEmbedders({ outbound, runtime: modelServices({ core: services.core, outbound }).embed });
  const named = { LexicalEmbedder: {}, UniversalEmbedder: { model } } as const;
  for (const [type, config] of Object.entries(named)) {
    const embedder = embedders.of('bench', { name: 'bench', type: type as keyof typeof named, config });
    try {
      await embedder.embed(['Is it there?'], 'query', 'interactive', new AbortController().signal);
      const { memory, transcript } = await quizzed(embedder);
      const rows = QUESTION_CLASSES.map((of) => rowOf(`recall@5, ${of}`, memory.marks[of], transcript.marks[of]));
      table(`Memory: ${QUESTIONS.length} questions to a year of conversation, dense by ${type}; peer: the transcript alone`, [
        ...rows,
        rowOf('recall@5, all', memory.all, transcript.all),
      ]);
    } catch (error) {
      skip(`memory questions with dense by ${type}`, error);
    }
  }
  await opened.close();
  await outbound.close();
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
}
