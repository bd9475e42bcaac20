/** The list of a project's conversations: pages, search, and what is done to one of them. */
import type { Conversation, ConversationList, ImportReply } from '$schemas/core/conversations';
import { ask, get, send, sentence } from '../../lib/api';
import { Latest } from '../../lib/overlap.svelte';
import { threadOf } from './thread.svelte';

const PAGE = 50;
/** The most conversations of one page, which is the daemon's limit. */
const LARGEST_PAGE = 200;

export class Conversations {
  list = $state.raw<readonly Conversation[]>([]);
  next = $state<string | null>(null);
  total = $state(0);
  search = $state('');
  archived = $state(false);
  isLoaded = $state(false);
  problem = $state('');
  readonly #reading = new Latest();
  /** What the list was asked for; what is typed since is not in it. */
  #wanted = { search: '', archived: false };

  constructor(readonly place: string) {}

  get #path(): string {
    return `${this.place}/conversations`;
  }

  /** Reads the first page of what the search and the choice of archived ones ask for. */
  load(): Promise<void> {
    this.#wanted = { search: this.search.trim(), archived: this.archived };
    return this.#read(null);
  }

  /** Reads the page behind those that are shown. */
  async more(): Promise<void> {
    if (this.next !== null && !this.#reading.isBusy) await this.#read(this.next);
  }

  /** Reads again as many as are shown, and those that came before them. */
  refresh(): Promise<void> {
    return this.#read(null, this.list.length);
  }

  #read(cursor: string | null, most = 0): Promise<void> {
    const { search, archived } = this.#wanted;
    const query = new URLSearchParams({ limit: String(Math.min(LARGEST_PAGE, Math.max(PAGE, most))), archived: String(archived) });
    if (search !== '') query.set('search', search);
    if (cursor !== null) query.set('cursor', cursor);
    return this.#reading.run(
      (signal) => get<ConversationList>(`${this.#path}?${query}`, { signal }),
      (page) => {
        const known = new Set(page.conversations.map(({ id }) => id));
        const others = this.list.filter(({ id }) => !known.has(id));
        // Conversations beyond the largest page stay as they were read before.
        const rest = cursor === null && most > page.conversations.length && page.next !== null ? others : [];
        this.list = cursor === null ? [...page.conversations, ...rest] : [...others, ...page.conversations];
        [this.next, this.total, this.isLoaded, this.problem] = [page.next, page.total, true, ''];
      },
      (error) => (this.problem = sentence(error)),
    );
  }

  async create(settings: Conversation['settings']): Promise<Conversation> {
    const { conversation } = await send<{ conversation: Conversation }>(this.#path, { settings });
    // A list that comes now may be older than it, or tell of it already.
    if (this.#reading.isBusy) void this.refresh();
    if (!this.list.some(({ id }) => id === conversation.id)) {
      this.list = [conversation, ...this.list];
      this.total += 1;
    }
    return conversation;
  }

  async change(id: string, part: Partial<Pick<Conversation, 'title' | 'pinned' | 'archived'>>): Promise<void> {
    await threadOf(this.place, id).change(part);
    await this.refresh();
  }

  async remove(id: string): Promise<void> {
    await ask(`${this.#path}/${id}`, { method: 'DELETE' });
    this.list = this.list.filter((one) => one.id !== id);
    this.total -= 1;
    // A list that was asked for before still tells of it.
    if (this.#reading.isBusy) void this.refresh();
  }

  /** Shows what a turn has changed of a conversation. */
  show(conversation: Conversation): void {
    if (this.list.some(({ id }) => id === conversation.id))
      this.list = this.list.map((one) => (one.id === conversation.id ? conversation : one));
  }

  /** Makes a new conversation with the messages up to this one. */
  async branch(id: string, message: string): Promise<Conversation> {
    const { conversation } = await send<{ conversation: Conversation }>(`${this.#path}/${id}/branch`, { message });
    await this.refresh();
    return conversation;
  }

  /** Saves a conversation, or all of them, as a file. */
  async export(format: 'json' | 'markdown', id?: string): Promise<Blob> {
    const response = await ask(id === undefined ? `${this.#path}/export` : `${this.#path}/${id}/export?format=${format}`);
    return response.blob();
  }

  async import(file: File): Promise<ImportReply> {
    const form = new FormData();
    form.append('file', file);
    const answer = await get<ImportReply>(`${this.#path}/import`, { method: 'POST', body: form });
    await this.load();
    return answer;
  }
}
