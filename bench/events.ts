import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chat } from '../runtime/chat/chat.js';
import { Completions } from '../runtime/completions/completions.js';
import { Events } from '../runtime/events/events.js';
import { Models } from '../runtime/models/residency/models.js';
import { Projects } from '../runtime/projects/projects.js';
import { providerOf } from '../runtime/providers/index.js';
import { createUniversalProvider } from '../runtime/providers/universal.js';
import { openStore } from '../runtime/store/store.js';
import type { CompletionRequest } from '../schemas/generated/core/chat.js';
import { emptyDataDir } from '../test/support/daemon.js';
import { benchPath } from '../test/support/models/cache.js';
import { median, type Row, table } from './measure.js';
import { sizeOf } from './size.js';

const EVENTS = sizeOf('BENCH_EVENTS', 20_000, 2_000);
/** Events that end before the disk is waited for, so that none is lost. */
const AT_ONCE = 1_000;
const ROUNDS = sizeOf('BENCH_EVENT_ROUNDS', 6, 2);
const CHATS = 16;
const STREAMS = 8;
const TOKENS = 64;
const QUESTION = 'Where does the water of the river come from, and where does it go? '.repeat(16).slice(0, 1024);

/** Measures what keeping events costs, and prints the tables. */
export async function benchEvents(): Promise<void> {
  const dataDir = emptyDataDir();
  const folder = join(dataDir, 'projects', 'bench', 'events');
  mkdirSync(folder, { recursive: true });
  const model = { name: 'm', provider: 'universal', model: benchPath() };
  // A project file is YAML, and JSON is YAML.
  writeFileSync(
    join(folder, 'project.yaml'),
    JSON.stringify({ version: 'v1', name: 'events', namespace: 'bench', runtime: { models: [model] } }),
  );
  const store = await openStore(dataDir);
  const projects = new Projects({ dataDir });
  const events = new Events({ store, projects });
  await benchRecords(events, projects);
  await benchChats({ dataDir, store, projects, events });
  await events.close();
  await store.close();
}

const row = (what: string, ours: string, goal = '', ratio = ''): Row => ({ what, ours, peer: '', ratio, goal });

/** Events of a chat with documents: 1 KB asked, 1 KB answered, five steps. */
async function benchRecords(events: Events, projects: Projects): Promise<void> {
  const project = projects.load('bench', 'events');
  const passages = Array.from({ length: 5 }, (_, at) => ({ id: `c${at}`, source: 'river.md', score: 0.5 }));
  const record = (): void => {
    const recording = events.begin('inference', project, { sessionId: 's' });
    recording.note('request_received', { message_length: QUESTION.length, model: 'm', rag_enabled: true });
    recording.note('rag_query_start', { database: 'docs', top_k: 5 }, { query: QUESTION });
    recording.note('rag_retrieval_complete', { chunks_retrieved: 5, avg_score: 0.5 }, { top_chunks: passages });
    recording.note('llm_first_token');
    recording.note('response_generated', {}, { response: { choices: [{ message: { role: 'assistant', content: QUESTION } }] } });
    recording.end({
      model: 'm',
      tokens: { prompt: 300, completion: 200, total: 500 },
      data: { finish_reason: 'stop', history_messages: 0, passages },
      content: { messages: [{ role: 'user', content: QUESTION }], response: QUESTION, tool_calls: [], request: { temperature: 0.5 } },
    });
  };
  for (let at = 0; at < 500; at += 1) record();
  await events.flush();
  let tellingMs = 0;
  const started = performance.now();
  const before = process.cpuUsage();
  for (let at = 0; at < EVENTS; at += AT_ONCE) {
    const began = performance.now();
    for (let one = 0; one < AT_ONCE; one += 1) record();
    tellingMs += performance.now() - began;
    await events.flush();
  }
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  table('Event logs: chats of 1 KB with five steps', [
    row('events on disk per second', (EVENTS / seconds).toFixed(0)),
    row('event loop while a chat runs, ms per request', (tellingMs / EVENTS).toFixed(4), '< 0.2'),
    row('processor time with sealing and writing, ms per request', ((user + system) / 1000 / EVENTS).toFixed(3), '< 0.2'),
  ]);
}

interface Stage {
  readonly dataDir: string;
  readonly store: Awaited<ReturnType<typeof openStore>>;
  readonly projects: Projects;
  readonly events: Events;
}

/** Chats with the model of the chat benchmark, with and without events, one after the other in each round. */
async function benchChats({ dataDir, store, projects, events }: Stage): Promise<void> {
  const models = new Models({ dataDir });
  const providers = { universal: createUniversalProvider(new Completions({ models })) } as never;
  const chats = {
    off: new Chat({ projects, providers, providerOf, store }),
    on: new Chat({ projects, providers, providerOf, store, events }),
  };
  const rates: Record<keyof typeof chats, number[]> = { off: [], on: [] };
  const costs: Record<keyof typeof chats, number[]> = { off: [], on: [] };
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const which of round % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const)) {
      const before = process.cpuUsage();
      const rate = await chatsPerSecond(chats[which]);
      await events.flush();
      const { user, system } = process.cpuUsage(before);
      // The first round loads the model.
      if (round === 0) continue;
      rates[which].push(rate);
      costs[which].push((user + system) / 1000 / CHATS);
    }
  const [off, on] = [median(rates.off), median(rates.on)];
  const ratios = median(rates.on.map((rate, at) => rate / rates.off[at]!));
  table(`Chat with event logs on against off (${STREAMS} streams of ${TOKENS} tokens, the model of the chat benchmark, ${ROUNDS} rounds)`, [
    row('chats per second, off', off.toFixed(1)),
    row('chats per second, on', on.toFixed(1), '>= 0.98x', `${ratios.toFixed(3)}x`),
    row('processor time of the daemon per chat, off, ms', median(costs.off).toFixed(2)),
    row('processor time of the daemon per chat, on, ms', median(costs.on).toFixed(2)),
  ]);
  for (const chat of Object.values(chats)) await chat.close();
  await models.close();
}

async function chatsPerSecond(chat: Chat): Promise<number> {
  const request: CompletionRequest = { messages: [{ role: 'user', content: QUESTION }], temperature: 0, max_tokens: TOKENS, stream: true };
  let left = CHATS;
  const stream = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const call = { namespace: 'bench', project: 'events', request, stateful: false };
      const turn = await chat.complete(call, new AbortController().signal);
      for await (const _frame of turn.frames());
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: STREAMS }, stream));
  return CHATS / ((performance.now() - started) / 1000);
}
