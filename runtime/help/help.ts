import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FIRST_MODEL } from '../../models/built-in.js';
import type { Message } from '../../schemas/generated/common.js';
import type { CompletionRequest } from '../../schemas/generated/core/chat.js';
import type { HealthSeed } from '../../schemas/generated/core/system.js';
import { log } from '../base/log.js';
import { isName } from '../base/names.js';
import type { Chat, ChatCall } from '../chat/chat.js';
import { lastQuestion, sourceOf } from '../chat/passages.js';
import type { ChatTurn } from '../chat/turn.js';
import { type PlainFile, plainFile, takeIn } from '../examples/plain-file.js';
import { HELP_PROJECT, isHelpProject } from '../projects/cache.js';
import type { Hit } from '../rag/contract.js';
import type { Tasks } from '../tasks/tasks.js';
import { type Findings, type FindingsParts, findingsOf } from './findings.js';
import { PAGES, placeHelpProject } from './project.js';

/** The folder of this program: `docs` and `README.md` lie in it. */
const PROGRAM = join(import.meta.dirname, '../../..');

/** Pages of measurements: their many words would be found before what explains a thing. */
const FIGURES = ['benchmarks.md'];

/** Pages that an answer names. */
const MAX_PAGES = 3;
const MAX_EXCERPT_CHARS = 240;
/** Shorter words say little of what a sentence is about. */
const LEAST_WORD_CHARS = 4;

/** A first question waits so long for the pages. */
const READY_LIMIT_MS = 10_000;
const NOT_READY = '\n\nThe pages of the documentation are still being read: ask again in a moment for an answer from them.';
/** Conversations that are remembered for what they were told of a project. */
const MAX_TOLD = 1000;

/** What the help is made of. */
export interface HelpParts extends FindingsParts {
  readonly dataDir: string;
  readonly chat: Chat;
  readonly tasks: Tasks;
}

/**
 * The help project: answers about this program from its own pages, and says what is wrong with a project of the user. Its pages go into its
 * database at the first question, and again when they have changed.
 */
export class Help {
  readonly #parts: HelpParts;
  /** What each conversation was told last. */
  readonly #told = new Map<string, string>();
  #preparing: Promise<void> | undefined;
  #prepared = false;

  constructor(parts: HelpParts) {
    this.#parts = parts;
  }

  /** Takes in what the database lacks of the pages; resolves when they can be asked. Throws what the work throws; the next call tries again. */
  async ready(): Promise<void> {
    if (this.#prepared) return;
    this.#preparing ??= this.#prepare().finally(() => {
      this.#preparing = undefined;
    });
    await this.#preparing;
  }

  /**
   * Opens a turn of the help project. `activeProject`: `namespace/project` that the user works on, of which the answer says what is wrong, once in a
   * conversation unless it changes. Throws as `Chat.complete` does.
   */
  async complete(call: ChatCall, activeProject: string | undefined, signal: AbortSignal): Promise<ChatTurn> {
    const isReady = await this.#readySoon(signal);
    const findings = await this.#findings(activeProject);
    const context = contextOf(findings, activeProject);
    const request: CompletionRequest = { ...call.request, messages: context ? [context, ...call.request.messages] : call.request.messages };
    const news = newsOf(findings, activeProject);
    const isTold = call.stateful && this.#told.get(call.sessionId ?? '') === news;
    // JSON stays what it is.
    const isText = (call.request.response_format?.type ?? 'text') === 'text';
    const frame: ChatCall['frame'] = isText
      ? (hits) => ({ before: isTold ? '' : news, after: isReady ? citations(hits, lastQuestion(call.request.messages)) : NOT_READY })
      : undefined;
    const turn = await this.#parts.chat.complete({ ...call, request, frame }, signal);
    if (isText && turn.sessionId !== undefined) this.#remember(turn.sessionId, news);
    return turn;
  }

  /** What `/health` says of it. */
  async seed(): Promise<HealthSeed> {
    const pages = await helpPages();
    const state = this.#prepared ? 'they can be asked' : 'they are read at the first question';
    return {
      name: HELP_PROJECT.name,
      ...(pages.length > 0
        ? { status: 'healthy', message: `the help has ${pages.length} pages; ${state}` }
        : { status: 'degraded', message: 'the help has no pages: the folder docs of this program is missing' }),
      latency_ms: 0,
      namespace: HELP_PROJECT.namespace,
      runtime: { provider: 'universal', model: FIRST_MODEL.name },
    };
  }

  /** Whether the pages can be asked; false where that takes too long, or fails. */
  async #readySoon(signal: AbortSignal): Promise<boolean> {
    if (this.#prepared) return true;
    const ready = this.ready().then(
      () => true,
      (cause: unknown) => {
        log('warn', 'the pages of the help could not be taken in', { cause });
        return false;
      },
    );
    const late = sleep(READY_LIMIT_MS, false, { signal, ref: false }).catch(() => false);
    return Promise.race([ready, late]);
  }

  async #prepare(): Promise<void> {
    const { dataDir, datasets, tasks } = this.#parts;
    const { namespace, name: project } = HELP_PROJECT;
    placeHelpProject(dataDir);
    const pages = await helpPages();
    await takeIn(datasets, { namespace, project, dataset: PAGES }, pages);
    const names = new Set(pages.map(({ name }) => name));
    const { datasets: shown } = await datasets.list(namespace, project, { details: true });
    const files = shown.find(({ name }) => name === PAGES)?.details?.files_metadata ?? [];
    const gone = files.filter(({ original_file_name: name }) => !names.has(name));
    for (const { hash } of gone) await datasets.removal.file(namespace, project, PAGES, hash, { bytes: true });
    const unread = files.filter((file) => !gone.includes(file) && file.chunk_count === 0).map(({ hash }) => hash);
    if (unread.length > 0) {
      const id = await datasets.processing.start(namespace, project, PAGES, { hashes: unread });
      const { state, error } = await tasks.finished(namespace, project, id, new AbortController().signal);
      if (state !== 'SUCCESS') log('warn', 'the pages of the help were not read; the next start tries again', { error });
    }
    this.#prepared = true;
  }

  async #findings(activeProject: string | undefined): Promise<Findings> {
    if (!activeProject) return { problems: [], facts: [] };
    const [namespace = '', name = '', ...rest] = activeProject.split('/');
    if (rest.length > 0 || !isName(namespace) || !isName(name))
      return { problems: ['The header X-Active-Project must name a project as namespace/project.'], facts: [] };
    return isHelpProject(namespace, name) ? { problems: [], facts: [] } : findingsOf(this.#parts, namespace, name);
  }

  #remember(sessionId: string, news: string): void {
    this.#told.delete(sessionId);
    this.#told.set(sessionId, news);
    if (this.#told.size > MAX_TOLD) this.#told.delete(this.#told.keys().next().value!);
  }
}

/** The problems as text before an answer; empty without any. */
function newsOf({ problems }: Findings, activeProject = ''): string {
  if (problems.length === 0) return '';
  return `About ${activeProject.slice(0, 200)}:\n${problems.map((problem) => `- ${problem}`).join('\n')}\n\n`;
}

/** What the model is told of the project that the user works on. */
function contextOf({ problems, facts }: Findings, activeProject: string | undefined): Message | undefined {
  const lines = [...facts, ...problems];
  if (!activeProject || lines.length === 0) return undefined;
  return { role: 'system', content: `### The project that the user works on\n\n${lines.join('\n')}` };
}

/** The pages that explain this program: its README and what lies directly in `docs`, by name. None where the program came without them. */
export async function helpPages(program: string = PROGRAM): Promise<PlainFile[]> {
  const docs = join(program, 'docs');
  const names = (await readdir(docs).catch(() => [] as string[])).filter((name) => name.endsWith('.md') && !FIGURES.includes(name)).sort();
  const paths = [join(program, 'README.md'), ...names.map((name) => join(docs, name))];
  const pages = await Promise.all(paths.map(plainFile));
  return pages.filter((page) => page !== undefined);
}

/** What stands behind an answer: the pages that it is made from, the best first, each with what comes nearest to the question. Empty without passages. */
export function citations(hits: readonly Hit[], question: string): string {
  const asked = wordsOf(question);
  const pages = new Map<string, string>();
  for (const hit of hits) {
    const page = sourceOf(hit);
    if (page !== undefined && !pages.has(page) && pages.size < MAX_PAGES) pages.set(page, nearestSentence(hit.text, asked));
  }
  const lines = [...pages].map(([page, text]) => `- ${page === 'README.md' ? page : `docs/${page}`}: ${text}`);
  return lines.length === 0 ? '' : `\n\nSources:\n${lines.join('\n')}`;
}

/** The sentence or line of a passage that shares most words with the question; of several the longest. */
function nearestSentence(text: string, asked: ReadonlySet<string>): string {
  const rated = sentencesOf(text).map((sentence) => ({
    sentence,
    shared: [...wordsOf(sentence)].filter((word) => asked.has(word)).length,
  }));
  const [best] = rated.sort((a, b) => b.shared - a.shared || b.sentence.length - a.sentence.length);
  const { sentence } = best ?? { sentence: '' };
  return sentence.length > MAX_EXCERPT_CHARS ? `${sentence.slice(0, MAX_EXCERPT_CHARS - 3)}...` : sentence;
}

/** Sentences of Markdown; a row of a table, a heading and an item of a list are one each. */
function sentencesOf(text: string): string[] {
  const lines = text.replaceAll(/\n(?![\n|#*`-]|\d+\.)/g, ' ').split('\n');
  const sentences = lines.flatMap((line) => (line.startsWith('|') ? [line] : line.split(/(?<=[.!?]) (?=\p{Lu})/u)));
  return sentences.map((one) => one.replaceAll(/\s+/g, ' ').trim()).filter((one) => one !== '');
}

function wordsOf(text: string): Set<string> {
  return new Set((text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? []).filter((word) => word.length >= LEAST_WORD_CHARS));
}
