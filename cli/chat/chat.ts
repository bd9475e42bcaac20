import { text as readAll } from 'node:stream/consumers';
import { Failure } from '../../schemas/errors.js';
import { type DaemonClient, withDaemon } from '../daemon/client.js';
import { type Call, numberOf, type ProjectName, type Run, textOf } from '../verb.js';
import { contentOf } from './attachments.js';
import { printAnswer, Talk } from './talk.js';

/** Talks with a model: one question where words or a pipe bring it, else a conversation. */
export const run: Run = (call) => converse(call, call.words[0]!, call.words.slice(1));

/** Talks with a project, with its prompts, tools and documents. */
export const chat: Run = (call) => converse(call, call.project, call.words);

async function converse(call: Call, partner: string | ProjectName, words: readonly string[]): Promise<undefined> {
  const piped = call.input.isTTY ? '' : await readAll(call.input);
  const question = [words.join(' '), piped.trimEnd()].filter(Boolean).join('\n\n');
  await withDaemon(call, async (daemon) => {
    if (typeof partner === 'string' && call.input.isTTY && !call.out.isJson) await pullWhereMissing(call, daemon, partner);
    const talk = talkOf(call, daemon, partner);
    if (question !== '') await answerOnce(call, talk, question);
    else if (call.input.isTTY && !call.out.isJson) await (await import('./repl.js')).converseAtTerminal(call, talk);
    else throw new Failure('bad_request', 'there is nothing to answer: give a question as words or on standard input.');
  });
  return undefined;
}

/** Fetches a model that is not on this machine, as people who sit at a terminal know it from Ollama; programs are told that it is missing. */
async function pullWhereMissing(call: Call, daemon: DaemonClient, model: string): Promise<void> {
  if (/\.gguf$/i.test(model)) return;
  try {
    await daemon.ask('/api/show', { api: 'runtime', json: { model } });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not_found') return;
    const { download } = await import('../models/pull.js');
    await download(model, call.daemon, call.out, daemon.signal!);
  }
}

function talkOf(call: Call, daemon: DaemonClient, partner: string | ProjectName): Talk {
  const talk = new Talk(daemon, partner);
  talk.system = textOf(call, 'system') ?? '';
  talk.set('temperature', numberOf(call, 'temperature'));
  talk.set('max_tokens', numberOf(call, 'max-tokens'));
  if (typeof partner !== 'string') talk.set('model', textOf(call, 'model'));
  return talk;
}

async function answerOnce(call: Call, talk: Talk, question: string): Promise<void> {
  const files = (call.flags.file ?? []) as readonly string[];
  const content = call.words.length > 0 || files.length > 0 ? await contentOf(question, files) : question;
  await printAnswer(talk, content, { out: call.out, isVerbose: call.flags.verbose === true });
}
