/** The list of a project's conversations: pages, search, and what is done to one of them. */
import type { Conversation, ConversationList, ImportReply } from '$schemas/core/conversations';
import { ask, get, isAbort, send, sentence } from '../../lib/api';
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
  isLoading = $state(false);
  problem = $state('');
  #asking: AbortController | undefined;

  constructor(readonly place: string) {}

  get #path(): string {
    return `${this.place}/conversations`;
  }

  /** Reads the first page of what the search and the choice of archived ones ask for. */
  load(): Promise<void> {
    return this.#read(null);
  }

  /** Reads the page behind those that are shown. */
  async more(): Promise<void> {
    if (this.next !== null && !this.isLoading) await this.#read(this.next);
  }

  /** Reads again as many as are shown, and those that came before them. */
  refresh(): Promise<void> {
    return this.#read(null, this.list.length);
  }

  async #read(cursor: string | null, most = 0): Promise<void> {
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    this.isLoading = true;
    const query = new URLSearchParams({ limit: String(Math.min(LARGEST_PAGE, Math.max(PAGE, most))), archived: String(this.archived) });
    if (this.search.trim() !== '') query.set('search', this.search.trim());
    if (cursor !== null) query.set('cursor', cursor);
    try {
      const page = await get<ConversationList>(`${this.#path}?${query}`, { signal: asking.signal });
      const shown = this.list;
      const known = new Set(page.conversations.map(({ id }) => id));
      this.list = cursor === null ? page.conversations : [...this.list.filter(({ id }) => !known.has(id)), ...page.conversations];
      // Conversations beyond the largest page stay as they were read before.
      const rest =
        cursor === null && most > page.conversations.length && page.next !== null ? shown.filter(({ id }) => !known.has(id)) : [];
      if (rest.length > 0) this.list = [...this.list, ...rest];
      [this.next, this.total, this.isLoaded, this.problem] = [page.next, page.total, true, ''];
    } catch (error) {
      if (isAbort(error)) return;
      this.problem = sentence(error);
    }
    if (this.#asking === asking) this.isLoading = false;
  }

  async create(settings: Conversation['settings']): Promise<Conversation> {
    const { conversation } = await send<{ conversation: Conversation }>(this.#path, { settings });
    // A list that was asked for before may tell of it already.
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
