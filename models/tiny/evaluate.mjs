// Evaluates a GGUF through the daemon: `node models/tiny/evaluate.mjs [file.gguf] [--json out.json] [--answers] [--only KIND] [--plain] [--held-out FILE] [--items FOLDER] [--development FOLDER]`.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePrompts, items } from './eval/items.mjs';
import { loopShare, sameValue } from './eval/score.mjs';

const MAIN = join(import.meta.dirname, '..', '..', 'build', 'cli', 'main.js');
const READY_TRIES = 600;
const MAX_TOKENS = 160;
/** Share of an answer that must be one repeated run of words to count as a loop. */
const LOOP_SHARE = 0.3;

const args = process.argv.slice(2);
/** What turns off the sampling that the file recommends. */
const PLAIN = args.includes('--plain') ? { presence_penalty: 0, dry_multiplier: 0 } : {};
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const file = resolve(args.find((arg) => arg.endsWith('.gguf')) ?? join(import.meta.dirname, 'quern-tiny.gguf'));

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

async function startDaemon() {
  const [port, runtimePort] = [await freePort(), await freePort()];
  const dataDir = mkdtempSync(join(tmpdir(), 'quern-evaluate-'));
  const options = ['start', '--port', port, '--runtime-port', runtimePort, '--data-dir', dataDir].map(String);
  const child = spawn(process.execPath, [MAIN, ...options], { stdio: 'ignore' });
  const base = `http://127.0.0.1:${runtimePort}`;
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    if (
      await fetch(`${base}/health`).then(
        (reply) => reply.ok,
        () => false,
      )
    )
      return { base, child };
    await new Promise((done) => setTimeout(done, 100));
  }
  child.kill();
  throw new Error('the daemon did not start; run it by hand to see why');
}

async function ask(base, { messages, tools, think }) {
  const body = {
    model: file,
    messages,
    temperature: 0,
    max_tokens: MAX_TOKENS,
    think: think ?? false,
    ...PLAIN,
    ...(tools ? { tools } : {}),
  };
  const began = performance.now();
  const reply = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const record = await reply.json();
  if (!reply.ok) throw new Error(`${reply.status}: ${JSON.stringify(record)}`);
  const [{ message, finish_reason: finish }] = record.choices;
  const calls = (message.tool_calls ?? []).map((call) => ({ name: call.function.name, arguments: JSON.parse(call.function.arguments) }));
  return { content: message.content ?? '', calls, finish, tokens: record.usage.completion_tokens, ms: performance.now() - began };
}

/** The last answer of an item; items of several turns hear their own answers. */
async function answerOf(base, item) {
  if (!item.turns) return ask(base, item);
  const messages = [];
  let answer;
  for (const turn of item.turns) {
    messages.push({ role: 'user', content: turn });
    answer = await ask(base, { messages });
    messages.push({ role: 'assistant', content: answer.content });
  }
  return answer;
}

function memoryOf(child) {
  const kilobytes = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  const hosts = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return { daemonMb: Math.round(kilobytes(child.pid) / 1024), hostMb: Math.round(Math.max(0, ...hosts.map(kilobytes)) / 1024) };
}

function means(rows) {
  const sums = {};
  for (const scores of rows) {
    for (const [name, value] of Object.entries(scores)) {
      sums[name] ??= { total: 0, count: 0 };
      sums[name].total += Number(value);
      sums[name].count += 1;
    }
  }
  return Object.fromEntries(
    Object.entries(sums).map(([name, { total, count }]) => [name, { mean: Math.round((1000 * total) / count) / 1000, items: count }]),
  );
}

async function handWritten(base, folder) {
  const byKind = new Map();
  for (const item of items(folder).filter(({ kind }) => option('--only') === undefined || kind === option('--only'))) {
    const answer = await answerOf(base, item);
    const scores = item.score(answer);
    byKind.set(item.kind, [...(byKind.get(item.kind) ?? []), scores]);
    if (args.includes('--answers')) {
      const asked = item.turns?.at(-1) ?? item.messages.at(-1).content;
      console.error(JSON.stringify({ kind: item.kind, asked, wanted: item.wanted, said: answer.content, calls: answer.calls, scores }));
    }
  }
  return Object.fromEntries([...byKind].map(([kind, rows]) => [kind, means(rows)]));
}

/** Dialogues of the generator that training never drew: the share of answers that are the expected text or call. */
async function heldOut(base, path) {
  const byKind = new Map();
  for (const line of readFileSync(path, 'utf8').trim().split('\n')) {
    const { kind, messages, tools, think, answer } = JSON.parse(line);
    const { content, calls } = await ask(base, { messages, tools, think });
    const wanted = /^<tool_call>\n(.*)\n<\/tool_call>$/.exec(answer);
    const right = wanted ? calls.length === 1 && sameValue(calls[0], JSON.parse(wanted[1])) : content.trim() === answer;
    byKind.set(kind, [...(byKind.get(kind) ?? []), { right }]);
    if (args.includes('--answers'))
      console.error(JSON.stringify({ kind, asked: messages.at(-1).content, wanted: answer, said: content, calls, right }));
  }
  return Object.fromEntries([...byKind].map(([kind, rows]) => [kind, means(rows)]));
}

async function free(base, folder) {
  const rows = [];
  let tokens = 0;
  let ms = 0;
  for (const prompt of freePrompts(folder)) {
    const answer = await ask(base, { messages: [{ role: 'user', content: prompt }] });
    tokens += answer.tokens;
    ms += answer.ms;
    rows.push({ ended: answer.finish === 'stop', loop: loopShare(answer.content) > LOOP_SHARE, empty: answer.content.trim() === '' });
    if (args.includes('--answers')) console.error(JSON.stringify({ kind: 'free', asked: prompt, said: answer.content }));
  }
  // Of short answers, prompts and requests included: what one client sees.
  return { free: means(rows), speed: { tokens, perSecond: Math.round((1000 * tokens) / ms) } };
}

/** The folder of harder items that whoever trains may look at; it is kept with the training code. */
const development = option('--development');
const isPart = Boolean(option('--only') ?? option('--items'));
const { base, child } = await startDaemon();
try {
  const result = {
    file: file.split('/').at(-1),
    sha256: createHash('sha256').update(readFileSync(file)).digest('hex'),
    hand_written: await handWritten(base, option('--items')),
    ...(development === undefined
      ? {}
      : { development: { ...(await handWritten(base, development)), 'free prompts': (await free(base, development)).free } }),
    held_out: option('--held-out') ? await heldOut(base, option('--held-out')) : {},
    ...(isPart ? {} : await free(base)),
    memory: memoryOf(child),
  };
  const text = JSON.stringify(result, null, 2);
  console.log(text);
  if (option('--json')) writeFileSync(option('--json'), `${text}\n`);
} finally {
  child.kill();
}
