import { randomBytes, randomInt } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { EventsConfig, ProjectConfig } from '../../schemas/generated/config/project.js';
import type { EventItem, EventList, EventRecord, EventType, FollowQuery, ListQuery } from '../../schemas/generated/core/events.js';
import type { JsonObject } from '../base/json.js';
import { log } from '../base/log.js';
import { breathe } from '../base/loop.js';
import { Counter, Histogram, SECONDS } from '../base/metrics.js';
import type { EventKey, Store, StoredEvent } from '../store/store.js';
import { EventConfigs } from './configs.js';
import { type EventFilter, Followers, filterOf, hasTests, matchesFilter } from './readers.js';
import { type EndedEvent, type EventProject, Recording, SERVER_LOG } from './recording.js';
import { EventRetention, KEPT } from './retention.js';
import { eventItemOf, storedEventOf } from './stored-event.js';

const ENDED = new Counter('quern_events_total', 'What projects and the server did, by type and outcome.', ['type', 'status']);
const TOOK = new Histogram('quern_event_seconds', 'How long it took, by type.', ['type'], SECONDS);
/** An event is on disk this long after its end, in milliseconds: those that end meanwhile share one flush. */
const FLUSH_MS = 100;
/** Events that wait for a disk; later ones are lost, which the log says. */
const MAX_WAITING = 5_000;
/** What a record takes beside its text. */
const HEAD_BYTES = 1_024;
const PRUNE_EVERY_MS = 3_600_000;
/** Records looked at before other work gets its turn. */
const PAGE = 256;
/** Projects whose deletion is remembered for events that have not ended yet. */
const MAX_ERASED = 1_000;

/** Where projects come from; `Projects` is one. */
interface EventProjects {
  load(namespace: string, name: string): { readonly config: { readonly events?: EventsConfig } };
  onErase?(listener: (namespace: string, name: string) => Promise<void>): void;
}

/** Takes events as they are stored. Must not throw, and nothing waits for it. */
export interface EventSink {
  /** `bare` makes the same without what people and models said. */
  add(event: StoredEvent, bare: () => StoredEvent): void;
}

/**
 * The event logs of projects, and that of the server (`SERVER_LOG`). An event is written after the answer that it tells of, together with others, and never delays one: what ended
 * in the last 100 ms before a crash is lost. Old events go by age and by size, as each project says.
 */
export class Events {
  readonly #store: Store;
  readonly #projects: EventProjects;
  readonly #configs: EventConfigs;
  readonly #retention: EventRetention;
  readonly #followers = new Followers();
  readonly #sink: EventSink | undefined;
  readonly #erased = new Map<string, number>();
  readonly #pruneTimer: NodeJS.Timeout;
  #waiting: EndedEvent[] = [];
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #number = randomInt(2 ** 24);
  #closed = false;

  constructor({ store, projects, sink }: { store: Store; projects: EventProjects; sink?: EventSink | undefined }) {
    this.#store = store;
    this.#sink = sink;
    this.#projects = projects;
    this.#configs = new EventConfigs(store);
    this.#retention = new EventRetention(store);
    this.#pruneTimer = setInterval(() => this.prune().catch(report), PRUNE_EVERY_MS);
    this.#pruneTimer.unref();
    projects.onErase?.((namespace, name) => this.erase(namespace, name));
  }

  /** Begins an event, which is kept when it is ended. `startedMs`: milliseconds since 1970, of one that began before. */
  begin(type: EventType, project: EventProject, about: { sessionId?: string | undefined; startedMs?: number } = {}): Recording {
    const nowMs = Date.now();
    const { sessionId, startedMs = nowMs } = about;
    const fromMs = performance.now() - (nowMs - startedMs);
    const requestId = `req_${randomBytes(6).toString('hex')}`;
    const known = { id: this.#newId(type, startedMs), requestId, type, project, sessionId, startedMs, fromMs };
    return new Recording(known, (ended) => this.#add(ended));
  }

  /** A page of a project's events, the newest first. Throws `invalid` for a time that is none, and what the project's `load` throws. */
  async list(namespace: string, project: string, query: ListQuery): Promise<EventList> {
    this.#require(namespace, project);
    const { limit = 10, offset = 0 } = query;
    const filter = filterOf(query);
    await this.flush();
    const events: EventItem[] = [];
    let total = 0;
    // Where nothing but times is asked for, only the records that are shown are read.
    const readsAll = hasTests(filter);
    for await (const keys of this.#pages(namespace, project, filter)) {
      const shownKeys = readsAll ? keys : keys.slice(Math.max(0, offset - total), Math.max(0, offset - total) + limit - events.length);
      if (!readsAll) total += keys.length;
      for (const key of shownKeys) {
        const item = this.#store.eventHeads.get(key)?.item;
        if (!item || (readsAll && !matchesFilter(filter, item))) continue;
        if (!readsAll || (total >= offset && events.length < limit)) events.push(item);
        if (readsAll) total += 1;
      }
    }
    return { total, events, limit, offset };
  }

  /** One event with all that is kept of it. Throws `not_found`. */
  async get(namespace: string, project: string, id: string): Promise<EventRecord> {
    this.#require(namespace, project);
    await this.flush();
    const found = this.#store.events.get([namespace, project, id]);
    if (!found)
      throw new Failure('not_found', `Event '${id.slice(0, 200)}' not found in ${logName(namespace, project)}`, { code: 'EventNotFound' });
    return { ...found, events: found.sub_events };
  }

  /** The hash of a configuration as events name it; it must not change any more. */
  hashOf(config: ProjectConfig): string {
    return this.#configs.hashOf(config);
  }

  /** The configuration that an event ran on, without its secrets. */
  config(namespace: string, project: string, hash: string): JsonObject | undefined {
    return this.#configs.get(namespace, project, hash);
  }

  /** Events as they are stored from now on, until `signal` aborts. Throws `too_many`, and what the project's `load` throws. */
  follow(namespace: string, project: string, filter: FollowQuery, signal: AbortSignal): AsyncIterable<EventItem> {
    this.#require(namespace, project);
    return this.#followers.add({ namespace, project, filter }, signal);
  }

  /** Resolves when every event that has ended is on disk, or is lost. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write()).catch(report);
    return this.#flushing;
  }

  /** Removes what projects do not keep any more; done every hour. */
  async prune(): Promise<void> {
    for (const [namespace, project] of this.#retention.projects()) {
      if (this.#closed) return;
      await this.#retention.prune(namespace, project, this.#settings(namespace, project));
      await this.#retention.pruneConfigs(namespace, project);
    }
    this.#configs.forget();
  }

  /** Removes all events of a project that is gone, those that have not ended yet included. */
  async erase(namespace: string, project: string): Promise<void> {
    if (this.#erased.size >= MAX_ERASED) this.#erased.delete(this.#erased.keys().next().value!);
    this.#erased.set(`${namespace}/${project}`, performance.now());
    this.#followers.end(namespace, project);
    await this.flush();
    await this.#retention.erase(namespace, project);
    this.#configs.forget();
  }

  /** Ends all streams, so that a daemon that stops does not wait for their readers. */
  endStreams(): void {
    this.#followers.close();
  }

  /** Writes what waits and ends everything that follows. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#pruneTimer);
    this.endStreams();
    await this.flush();
  }

  /** Throws what the project's `load` throws. */
  #require(namespace: string, project: string): void {
    if (!isServerLog(namespace, project)) this.#projects.load(namespace, project);
  }

  #newId(type: EventType, atMs: number): string {
    this.#number = (this.#number + 1) % 2 ** 24;
    const [date, time] = new Date(atMs).toISOString().slice(0, 19).split('T');
    return `evt_${date!.replaceAll('-', '')}_${time!.replaceAll(':', '')}_${type}_${this.#number.toString(16).padStart(6, '0')}`;
  }

  #add(event: EndedEvent): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(event);
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
  }

  async #write(): Promise<void> {
    if (this.#lost > 0) log('warn', `${this.#lost} events were lost: ${MAX_WAITING} waited for the disk already`);
    this.#lost = 0;
    const ended = this.#waiting;
    if (ended.length === 0) return;
    this.#waiting = [];
    const written: { event: EndedEvent; record: StoredEvent; bytes: number }[] = [];
    try {
      await this.#store.write(async (batch) => {
        for (const event of ended) {
          const { namespace, name, config } = event.project;
          if ((this.#erased.get(`${namespace}/${name}`) ?? Number.NEGATIVE_INFINITY) >= event.fromMs) continue;
          const hash = this.#configs.add(batch, namespace, name, config);
          const record = storedEventOf(event, hash, config.events?.content ?? KEPT.content);
          ENDED.add([record.type, record.status]);
          TOOK.observe([record.type], (event.toMs - event.fromMs) / 1000);
          batch.put('events', [namespace, name, event.id], record);
          const bytes = batch.changes.at(-1)!.value!.length + HEAD_BYTES;
          batch.put('eventHeads', [namespace, name, event.startedMs, event.id], { item: eventItemOf(record), bytes });
          written.push({ event, record, bytes });
          await breathe();
        }
      });
    } catch (failure) {
      this.#configs.forget();
      log('warn', `${ended.length} events could not be stored`, { cause: failure });
      return;
    }
    await this.#stored(written);
  }

  /** Tells of events that are on disk now, and makes room for the next. */
  async #stored(written: readonly { event: EndedEvent; record: StoredEvent; bytes: number }[]): Promise<void> {
    const projects = new Map<string, EventProject>();
    for (const { event, record, bytes } of written) {
      const { namespace, name } = event.project;
      this.#retention.added(namespace, name, bytes);
      this.#followers.tell(eventItemOf(record));
      if (this.#sink) {
        this.#sink.add(record, () => storedEventOf(event, record.config_hash, 'off'));
        await breathe();
      }
      projects.set(`${namespace}/${name}`, event.project);
    }
    for (const { namespace, name, config } of projects.values()) await this.#retention.prune(namespace, name, config.events);
  }

  #settings(namespace: string, project: string): EventsConfig {
    if (isServerLog(namespace, project)) return {};
    try {
      return this.#projects.load(namespace, project).config.events ?? {};
    } catch {
      return {};
    }
  }

  /** The keys of a project's events between two times, the newest first, in pages. */
  async *#pages(
    namespace: string,
    project: string,
    { fromMs = 0, toMs = Number.POSITIVE_INFINITY }: EventFilter,
  ): AsyncGenerator<EventKey[]> {
    let start: (string | number)[] = [namespace, project, toMs, '\uffff'];
    // No id is empty, so that events of the first moment are included.
    const end = [namespace, project, Math.max(0, fromMs), ''];
    for (let last: EventKey | undefined; ; ) {
      const found = this.#store.eventHeads.keys({ start, end, limit: PAGE, reverse: true });
      // A range begins with its first key, which was the last of the page before.
      yield last !== undefined && found[0]?.[3] === last[3] ? found.slice(1) : found;
      last = found.at(-1);
      if (last === undefined || found.length < PAGE) return;
      start = [...last];
      await breathe();
    }
  }
}

const isServerLog = (namespace: string, project: string): boolean => namespace === SERVER_LOG.namespace && project === SERVER_LOG.name;

const logName = (namespace: string, project: string): string =>
  isServerLog(namespace, project) ? 'the log of the server' : `project '${namespace}/${project}'`;

function report(error: unknown): void {
  log('warn', 'the event log could not be tidied up', { error });
}
