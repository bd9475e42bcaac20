/** One conversation: its messages, the branch that is shown, and the turn under way. Turns go on while another view is open. */
import type { Attachment, Conversation, ConversationPage, Message, Settings, TurnBegun, TurnRequest } from '$schemas/core/conversations';
import { ApiError, ask, events, get, isAbort, type ServerEvent, send, sentence } from '../../lib/api';
import { inOrder } from '../../lib/overlap.svelte';
import { newId } from '../../lib/plain-http';
import { GrowingAnswer } from './answer.svelte';
import { ROOT, Tree } from './tree';

/** What the reader asks for with a turn. */
type Turn = Omit<TurnRequest, 'client_id'>;
export type ToolResults = NonNullable<Turn['tool_results']>;
/** A question on its way. */
export interface Asking {
  readonly content: string;
  readonly attachments: readonly Attachment[];
  readonly clientId: string;
  readonly ontaken?: () => void;
}
type Attached = NonNullable<NonNullable<Turn['message']>['attachments']>;

export class Thread {
  conversation = $state.raw<Conversation>();
  /** The messages that are shown, oldest first. */
  path = $state.raw<readonly Message[]>([]);
  /** A question that the daemon has not taken yet. */
  asked = $state.raw<{ content: string; attachments: readonly Attachment[] }>();
  answer = $state.raw<GrowingAnswer>();
  isLoaded = $state(false);
  /** Why the conversation cannot be shown. */
  failure = $state.raw<ApiError>();
  /** What went wrong with the last turn. */
  trouble = $state('');
  #tree = new Tree();
  #ending: AbortController | undefined;
  /** The answer of the turn that began last. */
  #last: GrowingAnswer | undefined;
  readonly #readInOrder = inOrder();
  /** The read that waits for the one under way. */
  #nextRead: Promise<void> | undefined;
  readonly #changeInOrder = inOrder();
  /** Grows when a change or a turn begins and when it is stored: what was read meanwhile may be older. */
  #version = 0;
  /** The leaf of the branch that was chosen, while the daemon does not know it yet. */
  #chosenLeaf: string | undefined;

  constructor(
    readonly place: string,
    readonly id: string,
  ) {}

  get #path(): string {
    return `${this.place}/conversations/${encodeURIComponent(this.id)}`;
  }

  /** Whether an answer is being written, from here or from another page. */
  get isRunning(): boolean {
    return this.answer !== undefined || this.isElsewhere;
  }

  /** Whether another page asked for the answer that is being written. */
  get isElsewhere(): boolean {
    return this.answer === undefined && this.path.at(-1)?.status === 'running';
  }

  /** Reads the conversation, all its pages. */
  load(): Promise<void> {
    this.#nextRead ??= this.#readInOrder(() => {
      this.#nextRead = undefined;
      return this.#read();
    });
    return this.#nextRead;
  }

  async #read(): Promise<void> {
    const version = this.#version;
    const tree = new Tree();
    let conversation: Conversation;
    let from: number | null = 0;
    try {
      do {
        const page: ConversationPage = await get<ConversationPage>(`${this.#path}?from=${from}&limit=2000`);
        conversation = page.conversation;
        for (const message of page.messages) tree.put(message);
        from = page.next;
      } while (from !== null);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // What is shown already stays while the daemon is away.
      if (error.status === 404 || !this.isLoaded) this.failure = error;
      return;
    }
    if (this.answer) return;
    if (version !== this.#version) return this.#read();
    [this.#tree, this.conversation, this.failure, this.isLoaded] = [tree, conversation, undefined, true];
    const leaf = this.#chosenLeaf ?? conversation.current;
    this.#show(leaf && tree.get(leaf) ? leaf : tree.leafBelow(ROOT));
  }

  /** Reads the conversation again where another page has changed it. */
  async refresh(): Promise<void> {
    if (this.answer || !this.isLoaded) return;
    const version = this.#version;
    const page = await get<ConversationPage>(`${this.#path}?limit=1`).catch((error: unknown) => error as ApiError);
    if (page instanceof Error) {
      if (page instanceof ApiError && page.status === 404) this.failure = page;
      return;
    }
    const { updated_at: updatedAt, messages } = page.conversation;
    if (version !== this.#version || updatedAt !== this.conversation?.updated_at || messages !== this.#tree.size) await this.load();
    else this.conversation = page.conversation;
  }

  /** Does a change behind those that were asked for before. */
  #change(work: () => Promise<void>): Promise<void> {
    this.#version += 1;
    return this.#changeInOrder(work).finally(() => (this.#version += 1));
  }

  change(part: Partial<Pick<Conversation, 'title' | 'pinned' | 'archived'>> & { settings?: Settings; current?: string }): Promise<void> {
    return this.#change(async () => {
      const { conversation } = await send<{ conversation: Conversation }>(this.#path, part, { method: 'PATCH' });
      this.conversation = conversation;
    });
  }

  siblings(id: string): readonly string[] {
    return this.#tree.siblings(id);
  }

  /** Shows the branch of a sibling, and keeps that choice. */
  async showBranch(id: string): Promise<void> {
    this.#show(this.#tree.leafBelow(id));
    const leaf = this.path.at(-1)!.id;
    this.#chosenLeaf = leaf;
    try {
      await this.change({ current: leaf });
    } finally {
      if (this.#chosenLeaf === leaf) this.#chosenLeaf = undefined;
    }
  }

  /**
   * Asks behind the last message that is shown, or behind `parent`; resolves to whether the daemon has taken the question. `clientId` is the same for each try
   * of one question; `ontaken` is called when the question is on the daemon's disk.
   */
  async ask({ content, attachments, clientId, ontaken }: Asking, parent?: string | null): Promise<boolean> {
    this.#refuseSecondTurn();
    this.asked = { content, attachments };
    // The message that a question stands behind is known only when the conversation was read.
    try {
      if (!this.isLoaded) await this.load();
    } finally {
      if (!this.isLoaded) this.asked = undefined;
    }
    if (!this.isLoaded) return false;
    const behind = parent === undefined ? (this.path.at(-1)?.id ?? null) : parent;
    const turn = { parent: behind, message: { content, attachments: attachments as Attached } };
    return this.#run(turn, new GrowingAnswer(behind), clientId, ontaken);
  }

  /** Asks for another answer in the place of this one. */
  async regenerate({ parent }: Message, settings?: Settings): Promise<boolean> {
    this.#refuseSecondTurn();
    return this.#run({ parent, regenerate: true, ...(settings ? { settings } : {}) }, new GrowingAnswer(parent));
  }

  /** Has the model go on with an answer. */
  async goOn(message: Message): Promise<boolean> {
    this.#refuseSecondTurn();
    return this.#run({ continue: message.id }, new GrowingAnswer(message.parent, message.content));
  }

  /** Goes on with what the tools of the client gave. */
  async giveResults(message: Message, results: ToolResults): Promise<boolean> {
    this.#refuseSecondTurn();
    return this.#run({ parent: message.id, tool_results: results }, new GrowingAnswer(message.id));
  }

  /** Ends the answer that is being written; what is there is kept. */
  async stop(): Promise<void> {
    const answer = this.answer;
    await send(`${this.#path}/stop`, {}).catch(() => this.#ending?.abort());
    // Where the daemon could not be told, the turn ends with its connection.
    if (answer) setTimeout(() => this.answer === answer && this.#ending?.abort(), 3_000);
    else await this.load();
  }

  /** Writes another text in the place of an answer. */
  async rewrite(id: string, content: string): Promise<void> {
    await this.#change(async () => {
      const { message } = await send<{ message: Message }>(`${this.#path}/messages/${id}`, { content }, { method: 'PATCH' });
      this.#tree.put(message);
      this.#show(this.path.at(-1)?.id ?? null);
    });
  }

  /** Removes a message and what hangs below it; a branch beside it is shown then. */
  async remove(id: string): Promise<void> {
    await this.#change(async () => {
      const { conversation } = await get<{ conversation: Conversation }>(`${this.#path}/messages/${id}`, { method: 'DELETE' });
      const parent = this.#tree.get(id)?.parent ?? ROOT;
      this.#tree.remove(id);
      this.conversation = conversation;
      this.#show(this.#tree.leafBelow(parent));
    });
  }

  /** Throws where a turn of this page is under way. */
  #refuseSecondTurn(): void {
    if (this.answer || this.asked) throw new Error('An answer is being written here. Wait for its end, or stop it.');
  }

  #show(leaf: string | null): void {
    this.path = this.#tree.pathTo(leaf);
  }

  async #run(turn: Turn, answer: GrowingAnswer, clientId: string = newId(), ontaken?: () => void): Promise<boolean> {
    const before = this.path;
    this.#version += 1;
    [this.answer, this.#last, this.trouble] = [answer, answer, ''];
    this.#show(answer.parent);
    this.#ending = new AbortController();
    let isTaken = false;
    let trouble = '';
    try {
      // What was chosen before, such as another model, is to hold for this turn.
      await this.#changeInOrder(async () => undefined);
      const response = await ask(`${this.#path}/turns`, {
        json: turn,
        signal: this.#ending.signal,
        headers: { 'Idempotency-Key': clientId },
      });
      for await (const event of events(response, { comments: true })) {
        if (event.event === 'turn') {
          isTaken = true;
          this.#begin(JSON.parse(event.data) as TurnBegun, answer);
          ontaken?.();
        } else if (isStored(event)) this.#end(JSON.parse(event.data) as Message);
        else if (event.data !== '[DONE]') answer.take(event);
      }
    } catch (error) {
      if (error instanceof ApiError) trouble = error.message;
      else if (!isAbort(error))
        trouble = `The connection broke while the answer was written (${sentence(error)}). What was written is kept.`;
    }
    // A stored answer ends the turn before its stream does: another turn may be under way by now.
    if (this.answer !== answer) return isTaken;
    [this.answer, this.asked] = [undefined, undefined];
    if (!isTaken) this.path = before;
    await this.load().catch(() => undefined);
    // Another turn may have come and gone while this one's conversation was read.
    if (this.#last !== answer) return isTaken;
    if (isTaken && this.path.at(-1)?.id !== answer.id) this.#keep(answer);
    this.trouble = trouble;
    return isTaken;
  }

  #begin({ conversation, user, tool_results: results, assistant }: TurnBegun, answer: GrowingAnswer): void {
    this.conversation = conversation;
    for (const message of [...(user ? [user] : []), ...(results ?? [])]) this.#tree.put(message);
    [answer.id, answer.parent] = [assistant.id, assistant.parent];
    answer.wait = 'Loading the model ...';
    this.asked = undefined;
    this.#show(assistant.parent);
  }

  #end(message: Message): void {
    this.#version += 1;
    this.#tree.put(message);
    this.answer = undefined;
    this.#show(message.id);
    if (this.conversation) this.conversation = { ...this.conversation, current: message.id, messages: this.#tree.size };
  }

  /** Shows what came of an answer while the daemon cannot be asked what it kept. */
  #keep({ id, parent, text, thinking }: GrowingAnswer): void {
    this.#tree.put({ id, parent, role: 'assistant', content: text, thinking, status: 'cut', created_at: new Date().toISOString() });
    this.#show(id);
  }
}

/** Whether an event holds the message as it was stored; chunks, which have no name of their own, are events of the name `message` too. */
const isStored = ({ event, data }: ServerEvent): boolean => event === 'message' && data.startsWith('{"id":"msg_');

const threads = new Map<string, Thread>();
const KEPT_THREADS = 20;

/** The thread of a conversation; the same one while its turn goes on. */
export function threadOf(place: string, id: string): Thread {
  const name = `${place} ${id}`;
  const thread = threads.get(name) ?? new Thread(place, id);
  threads.delete(name);
  threads.set(name, thread);
  for (const [old, { isRunning }] of threads) if (threads.size > KEPT_THREADS && !isRunning && old !== name) threads.delete(old);
  return thread;
}
