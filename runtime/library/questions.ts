import { randomBytes } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { NewQuestion, QuestionChange, QuestionList, StoredQuestion } from '../../schemas/generated/core/questions.js';
import { Locks } from '../base/gate.js';
import { breathe } from '../base/loop.js';
import { quote } from '../base/names.js';
import type { LoadedProject, Projects } from '../projects/projects.js';
import { databaseOf } from '../rag/retrieval.js';
import { conditionsOf } from '../rag/stores/metadata.js';
import type { Store } from '../store/store.js';

/** Questions of a project. */
const MOST_QUESTIONS = 1_000;
const PAGE = 200;
const ID = /^q_[0-9a-f]{32}$/;

/** Test questions of projects, kept until somebody deletes them. What is acknowledged is on disk. All calls throw what the project's `load` throws. */
export class Questions {
  readonly #store: Store;
  readonly #projects: Pick<Projects, 'load'>;
  /** Changes in one project come one after the other. */
  readonly #locks = new Locks();

  constructor(store: Store, projects: Pick<Projects, 'load' | 'onErase'>) {
    this.#store = store;
    this.#projects = projects;
    projects.onErase((namespace, project) => this.#erase(namespace, project));
  }

  /** A page of them, the oldest first. */
  async list(namespace: string, project: string, limit: number, cursor?: string): Promise<QuestionList> {
    this.#projects.load(namespace, project);
    // The next key after the last one.
    const start = [namespace, project, cursor === undefined ? '' : `${cursor}\0`] as const;
    const questions: StoredQuestion[] = [];
    for (const { value } of this.#store.questions.page({ start, end: [namespace, project, '\uffff'], limit })) {
      questions.push(value);
      await breathe();
    }
    return { questions, next: questions.length < limit ? null : questions.at(-1)!.id, total: this.#ids(namespace, project).length };
  }

  /** All of them, or those of some ids, in the order of these. Throws `not_found`. */
  async all(namespace: string, project: string, ids?: readonly string[] | null): Promise<StoredQuestion[]> {
    this.#projects.load(namespace, project);
    const found: StoredQuestion[] = [];
    for (const id of ids ?? this.#ids(namespace, project)) {
      found.push(this.#get(namespace, project, id));
      await breathe();
    }
    return found;
  }

  /** Throws `conflict` where there are as many as there may be. */
  add(namespace: string, project: string, wanted: NewQuestion): Promise<StoredQuestion> {
    checkQuestion(this.#projects.load(namespace, project), wanted);
    return this.#locks.run(`${namespace}/${project}`, async () => {
      if (this.#ids(namespace, project).length >= MOST_QUESTIONS)
        throw new Failure('conflict', `There are ${MOST_QUESTIONS} test questions in this project, which is the most. Delete some first.`, {
          code: 'TooManyQuestions',
        });
      const nowMs = Date.now();
      const id = `q_${nowMs.toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`;
      return this.#put(
        namespace,
        project,
        changedQuestion({ id, query: '', relevant: [], created_at: new Date(nowMs).toISOString() }, wanted),
      );
    });
  }

  /** Throws `not_found`. */
  change(namespace: string, project: string, id: string, change: QuestionChange): Promise<StoredQuestion> {
    checkQuestion(this.#projects.load(namespace, project), change);
    return this.#locks.run(`${namespace}/${project}`, () =>
      this.#put(namespace, project, changedQuestion(this.#get(namespace, project, id), change)),
    );
  }

  /** Throws `not_found`. */
  async delete(namespace: string, project: string, id: string): Promise<void> {
    this.#projects.load(namespace, project);
    this.#get(namespace, project, id);
    await this.#locks.run(`${namespace}/${project}`, () =>
      this.#store.write((batch) => batch.remove('questions', [namespace, project, id])),
    );
  }

  #ids(namespace: string, project: string): string[] {
    const range = { start: [namespace, project, ''], end: [namespace, project, '\uffff'], limit: MOST_QUESTIONS };
    return this.#store.questions.keys(range).map(([, , id]) => id);
  }

  #get(namespace: string, project: string, id: string): StoredQuestion {
    const found = ID.test(id) ? this.#store.questions.get([namespace, project, id]) : undefined;
    if (found) return found;
    throw new Failure('not_found', `There is no test question ${quote(id)} in ${namespace}/${project}.`, { code: 'QuestionNotFound' });
  }

  async #put(namespace: string, project: string, question: StoredQuestion): Promise<StoredQuestion> {
    await this.#store.write((batch) => batch.put('questions', [namespace, project, question.id], question));
    return question;
  }

  async #erase(namespace: string, project: string): Promise<void> {
    for (;;) {
      const ids = this.#ids(namespace, project).slice(0, PAGE);
      if (ids.length === 0) return;
      await this.#store.write((batch) => {
        for (const id of ids) batch.remove('questions', [namespace, project, id]);
      });
    }
  }
}

/** Throws for what could not be asked later: `invalid` for a blank question, `not_found` for a database, `bad_request` for filters. */
function checkQuestion({ config }: Pick<LoadedProject, 'config'>, { query, database, filters }: QuestionChange): void {
  if (query?.trim() === '') throw new Failure('invalid', 'The question is blank: "query" needs words.', { code: 'BlankQuestion' });
  if (typeof database === 'string') databaseOf(config, database);
  if (filters) conditionsOf(filters);
}

function changedQuestion(before: StoredQuestion, change: QuestionChange): StoredQuestion {
  const members = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(members) as unknown as StoredQuestion;
}
