import { Failure } from '../../schemas/errors.js';
import type { QuestionAnswer, TrialQuestion } from '../../schemas/generated/core/generations.js';
import { check } from '../../schemas/validate.js';
import { sameJson } from '../base/json.js';
import type { LoadedProject } from '../projects/projects.js';
import type { ChatCall } from './open-turn.js';
import { sourcesOf } from './passages.js';
import type { ChatTurn } from './turn.js';

/** Both answers to a question draw by it, so that the same settings write the same. */
const SEED = 1;
/** Characters of a passage that are shown. */
const PASSAGE_CHARS = 1000;
/** Passages that are shown. */
const PASSAGES = 20;

/** Why a question cannot be asked of these settings; undefined where it can. */
function whyNotAskable({ config }: LoadedProject, { database }: TrialQuestion): string | undefined {
  const known = (config.rag?.databases ?? []).map(({ name }) => name);
  if (database === undefined || known.includes(database)) return undefined;
  return `There is no database "${database}" in these settings; they have ${known.join(', ') || 'none'}.`;
}

/** What a project answers to a question, in no session; tools of servers are not called and nothing is kept. A failure is part of the answer. */
export async function trialOf(
  project: LoadedProject,
  question: TrialQuestion,
  signal: AbortSignal,
  open: (call: ChatCall) => Promise<ChatTurn>,
): Promise<QuestionAnswer> {
  const { query, database } = question;
  const messages = [{ role: 'user' as const, content: query }];
  const request = check<ChatCall['request']>('core/chat#CompletionRequest', { messages, seed: SEED, ...(database ? { database } : {}) });
  const startedMs = performance.now();
  const failed = (error: string): QuestionAnswer => ({
    error,
    model: null,
    response: null,
    passages: [],
    duration_ms: performance.now() - startedMs,
  });
  const wrong = whyNotAskable(project, question);
  if (wrong !== undefined) return failed(wrong);
  try {
    const turn = await open({
      namespace: project.namespace,
      project: project.name,
      request,
      stateful: false,
      unrecorded: true,
      // A repetition acts on nothing outside.
      replay: { of: '', history: [] },
    });
    const { choices } = (await turn.body()) as { choices: { message: { content: string | null } }[] };
    const passages = sourcesOf(turn.passages, PASSAGES).map(({ id, source, content, score }) => ({
      id: String(id),
      source: source === null ? null : String(source),
      content: String(content).slice(0, PASSAGE_CHARS),
      score: Number(score),
    }));
    return {
      error: null,
      model: turn.model,
      response: choices[0]?.message.content ?? '',
      passages,
      duration_ms: performance.now() - startedMs,
    };
  } catch (failure) {
    if (signal.aborted || !(failure instanceof Failure)) throw failure;
    return failed(failure.message);
  }
}

/** The names of what is not the same in two answers; scores and times are not looked at. */
export function trialDifferences(now: QuestionAnswer, would: QuestionAnswer): string[] {
  const ids = ({ passages }: QuestionAnswer): string[] => passages.map(({ id }) => id);
  return [
    ...(now.model === would.model ? [] : ['model']),
    ...(sameJson(ids(now), ids(would)) ? [] : ['passages']),
    ...(now.response === would.response ? [] : ['text']),
    ...((now.error === null) === (would.error === null) ? [] : ['status']),
  ];
}
