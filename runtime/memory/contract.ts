import type { MemoryStore as StoreConfig } from '../../schemas/generated/config/memory.js';

/** What a record is. Nodes, edges and facts belong to the graph; the others are what was said, measured or seen. */
export type MemoryType = 'text' | 'telemetry' | 'chat' | 'audio' | 'node' | 'edge' | 'fact';

/** The kinds of stores by the names that project files, `clear` and `stats` use. */
export type KindName = 'working_memory' | 'timeseries' | 'spatial' | 'graph';

/** A place on the Earth in degrees: `lat` from -90 to 90, `lon` from -180 to 180. */
export interface Place {
  readonly lat: number;
  readonly lon: number;
}

/** Whom a record is about or comes from; `forget` removes by either. */
export interface Who {
  readonly user?: string;
  readonly session?: string;
}

/** Where a record comes from: a message of a chat, a document, an event, or other records (their ids) that it was made of. */
export interface Provenance {
  readonly message?: string;
  readonly document?: string;
  readonly event?: string;
  readonly records?: readonly string[];
}

/** When something holds, in milliseconds since 1970: from `fromMs`, and before `toMs`; without `toMs` it still does. */
export interface Validity {
  readonly fromMs: number;
  readonly toMs?: number;
}

/** A node of the graph. Nodes are told apart by their names, 1 to 256 characters, as they are written. */
export interface GraphNode {
  readonly name: string;
}

/** An edge between two nodes by their names, which need no record of their own. `weight`: what it costs to follow it, 0 or more. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly relation: string;
  readonly weight: number;
}

/** A record as it is given. What it has decides which kinds of stores keep it: a place the spatial one, a node or an edge the graph, all others working memory and the time series. */
export interface NewMemory {
  /** A UUID; a new one where it is absent. One that is there already is refused (`conflict`). */
  readonly id?: string;
  readonly type: MemoryType;
  /** Any JSON value of at most 256 KiB. */
  readonly data: unknown;
  /** What searches read; made of `data` where it is absent. */
  readonly text?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** When it happened, in milliseconds since 1970: from the year 1 to 9999. Now where it is absent. */
  readonly timeMs?: number;
  readonly place?: Place;
  readonly who?: Who;
  readonly tags?: readonly string[];
  /** The name of the time series that it is a point of; `default` where it is absent. */
  readonly series?: string;
  readonly node?: GraphNode;
  /** Of an edge, and of a fact that joins two nodes. */
  readonly edge?: GraphEdge;
  /** Of nodes, edges and facts: from `timeMs` on where it is absent. */
  readonly valid?: Validity;
  /** The id of the fact that took the place of this one. */
  readonly supersededBy?: string;
  /** Who took a fact from the words of another record; absent of what is given from outside, which cannot say this. */
  readonly takenBy?: 'rules' | 'model';
  /** How sure it is that a fact holds, 0 to 1. */
  readonly confidence?: number;
  readonly provenance?: Provenance;
  /** What equal records have in common, such as a hash of a fact's normalised words: `withHash` finds them. At most 64 characters. */
  readonly hash?: string;
}

/** A record as it is kept. */
export interface MemoryRecord extends NewMemory {
  readonly id: string;
  /** Its place in the order of arrival in its store, from 1; no other record ever gets it. */
  readonly seq: number;
  readonly text: string;
  readonly timeMs: number;
  /** When it came, in milliseconds since 1970. */
  readonly addedMs: number;
  /** The kinds that keep it now; a record that none keeps any more is gone. */
  readonly kinds: readonly KindName[];
}

/** What reads have in common. All conditions must hold. */
export interface ReadFilter {
  /** Of `timeMs`, both included. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /**
   * The read is answered as of this moment: records of a later time are not there, and of nodes, edges and facts only what held then. Absent:
   * all times, and of nodes, edges and facts what holds now; reads of `records` take those that ended too.
   */
  readonly asOfMs?: number;
  readonly types?: readonly MemoryType[];
  readonly user?: string;
  readonly session?: string;
  /** All of these. */
  readonly tags?: readonly string[];
  /** At most so many, 1 to 1,000; 100 where it is absent. */
  readonly limit?: number;
}

/** Reads of working memory: what came lately. */
export interface WorkingReads {
  /** The newest first, by arrival. Records past their time are never among them. */
  newest(filter: ReadFilter): Promise<MemoryRecord[]>;
}

/** What is known of one bucket of time. Absent numbers: no point of the bucket has a number there. */
export interface SeriesBucket {
  /** When the bucket begins, in milliseconds since 1970. */
  readonly fromMs: number;
  /** Points with a value. */
  readonly count: number;
  readonly mean: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly sum: number | null;
  /** The oldest and the newest value, whatever it is. */
  readonly first: unknown;
  readonly last: unknown;
}

/** Reads of time series. */
export interface SeriesReads {
  /** Points of all series, the newest time first. */
  newest(filter: ReadFilter): Promise<MemoryRecord[]>;
  /** The names of the series that have points, at most 1,000. */
  names(): Promise<string[]>;
  /** Points in the order of their times; the newest first with `newestFirst`. */
  range(series: string, filter: ReadFilter, newestFirst?: boolean): Promise<MemoryRecord[]>;
  /**
   * One bucket per `everyMs` that has points, from the one that holds `fromMs` on. `field`: the member of `data` whose values count; absent:
   * `data` itself.
   */
  downsample(series: string, everyMs: number, field: string | undefined, filter: ReadFilter): Promise<SeriesBucket[]>;
}

/** A record with its distance from the point that was asked about, in metres along the surface. */
export interface PlacedRecord {
  readonly record: MemoryRecord;
  readonly distanceM: number;
}

/** A box of degrees. It goes over the date line where `west` is greater than `east`. */
export interface Box {
  readonly south: number;
  readonly west: number;
  readonly north: number;
  readonly east: number;
}

/** Reads of places. */
export interface PlaceReads {
  /** Not farther than `radiusM` metres, the nearest first. */
  within(centre: Place, radiusM: number, filter: ReadFilter): Promise<PlacedRecord[]>;
  /** In a box, its borders included, the newest time first. */
  box(box: Box, filter: ReadFilter): Promise<MemoryRecord[]>;
  /** The `filter.limit` nearest, the nearest first. */
  nearest(centre: Place, filter: ReadFilter): Promise<PlacedRecord[]>;
}

/** A part of the graph. Nodes that have no record of their own are told by their names alone. */
export interface Subgraph {
  /** With the number of edges between it and the start. */
  readonly nodes: readonly { readonly name: string; readonly depth: number; readonly record: MemoryRecord | null }[];
  readonly edges: readonly MemoryRecord[];
  /** True when bounds cut it short. */
  readonly truncated: boolean;
}

/** A way through the graph: its nodes, one more than its edges. */
export interface GraphPath {
  readonly nodes: readonly string[];
  readonly edges: readonly MemoryRecord[];
  /** The sum of the edges' weights. */
  readonly weight: number;
}

/** Which way edges are followed. */
export type Direction = 'out' | 'in' | 'both';

/** Reads of the graph. Edges are followed both ways unless `direction` says otherwise; depths go up to the store's `max_path_depth`. */
export interface GraphReads {
  /** The newest record of a node. */
  node(name: string, filter?: ReadFilter): Promise<MemoryRecord | undefined>;
  /** Nodes, edges and facts by arrival, the newest first. */
  newest(filter: ReadFilter): Promise<MemoryRecord[]>;
  /** Edges of a node, the newest first; with `ofAllTimes` those too that hold no more, or not yet. */
  edges(
    name: string,
    filter: ReadFilter & { readonly direction?: Direction; readonly relation?: string; readonly ofAllTimes?: boolean },
  ): Promise<MemoryRecord[]>;
  /** What is at most `depth` edges away, nearest first. `filter.limit` bounds its nodes. */
  neighbourhood(name: string, depth: number, filter: ReadFilter & { readonly direction?: Direction }): Promise<Subgraph>;
  /** Ways without a node twice, the shortest first; at most `filter.limit`. `truncated` when bounds of work cut the search short. */
  paths(
    from: string,
    to: string,
    filter: ReadFilter & { readonly direction?: Direction; readonly depth?: number },
  ): Promise<{ paths: GraphPath[]; truncated: boolean }>;
  /** The way with the fewest edges or the least weight; undefined where there is none. */
  shortestPath(
    from: string,
    to: string,
    by: 'hops' | 'weight',
    filter: ReadFilter & { readonly direction?: Direction },
  ): Promise<GraphPath | undefined>;
}

/** Changes that are made together or not at all. */
export interface MemoryChange {
  readonly add?: readonly NewMemory[];
  /** The only change of a kept record: a fact, node or edge ends to hold; without `toMs` it holds again. Unknown ids are passed over. */
  readonly end?: readonly { readonly id: string; readonly toMs?: number; readonly supersededBy?: string }[];
  /** Unknown ids are passed over. */
  readonly remove?: readonly string[];
  /** Small values (JSON) that lie beside the records, such as the cursor of a consolidation, by name. `null` removes one. */
  readonly notes?: Readonly<Record<string, unknown>>;
  /** What was read to make the change. The change is refused with `conflict` (NoteChanged) where a note has another value by now; absent ones are undefined. */
  readonly expected?: Readonly<Record<string, unknown>>;
  /** Of `add`, records whose `provenance.records` are all gone by now are left out, and end nothing. */
  readonly onlySourced?: boolean;
}

/** What a change did, told after it is on disk. `removed`: records that no kind keeps any more, by `seq`. */
export interface MemoryChanged {
  readonly added: readonly MemoryRecord[];
  readonly ended: readonly MemoryRecord[];
  readonly removed: readonly number[];
  /** All that was there before is gone; it is not named in `removed`. */
  readonly isCleared?: true;
}

/** How much a store holds. */
export interface MemoryCounts {
  /** All records; one may be in several kinds. */
  readonly records: number;
  readonly kinds: Readonly<Partial<Record<KindName, number>>>;
  readonly nodes: number;
  readonly edges: number;
  /** Records that more than one kind keeps. */
  readonly links: number;
  /** Bytes of the records, without their indexes. */
  readonly bytes: number;
}

/**
 * One store of a project. What resolves is on disk. A kind that the project does not turn on is undefined. Failures: `invalid` for values out of
 * range, `too_large` for a record above its limit, `conflict`, `disk_full`, `unavailable`.
 */
export interface MemoryStore {
  readonly namespace: string;
  readonly project: string;
  readonly name: string;
  /** As the project file has it, with the defaults filled in. */
  readonly config: StoreConfig;
  readonly working: WorkingReads | undefined;
  readonly series: SeriesReads | undefined;
  readonly places: PlaceReads | undefined;
  readonly graph: GraphReads | undefined;
  /** Makes changes in one transaction; returns the records that were added. Throws `conflict` (MemoryKindOff) for a record that no kind of the store takes. */
  write(change: MemoryChange): Promise<MemoryRecord[]>;
  /** Throws what adding a record now would throw, but for a full disk. */
  admit(memory: NewMemory): void;
  /**
   * Adds `count` records that come in batches of at most 1,000, all or none, also when the process ends meanwhile: the next start then takes them
   * back. Changes of others are made between the batches.
   */
  addTogether(count: number, batches: AsyncIterable<readonly NewMemory[]>): Promise<void>;
  get(id: string): MemoryRecord | undefined;
  /** Whether a kind that is turned on keeps a record still: what none does is not shown, whether or not it is removed yet. */
  shows(record: MemoryRecord): boolean;
  /** The records of these numbers that are still there, in the order asked. */
  bySeq(seqs: readonly number[]): MemoryRecord[];
  /** Records with this `hash`, the newest first; at most 100. */
  withHash(hash: string): MemoryRecord[];
  /** Facts and nodes that name a record as a `source` of theirs; or facts, nodes and edges that name it as their `successor`, which took their place. */
  naming(id: string, as: 'source' | 'successor'): AsyncIterable<MemoryRecord>;
  /** Records of all kinds that are shown, by arrival, the newest first; looks at 100,000 at most. */
  newest(filter: ReadFilter): Promise<MemoryRecord[]>;
  /** All records of `filter`, without its limit, in the order of arrival behind `afterSeq`. Bounded in memory. */
  records(filter?: ReadFilter & { readonly afterSeq?: number }): AsyncIterable<MemoryRecord>;
  /** Up to this `seq` all records are there that ever will be: an import under way has numbers behind it, and what comes next. */
  settledSeq(): number;
  /** A value that `write` noted. */
  note(name: string): unknown;
  /** Empties one kind, or all; notes go with all. Returns what each lost. */
  clear(kind: KindName | 'all'): Promise<MemoryCounts>;
  /** Removes what is past its time or above a cap now; done when records are added and every few minutes too. Returns how many places of records in kinds that were. */
  prune(): Promise<number>;
  /** Removes every record of a user or a session, and its bytes from the disk, copies of the state store included. Returns how many. */
  forget(who: Who): Promise<number>;
  /** Takes the bytes of what was removed and cleared off the disk, copies of the state store included. */
  scrub(): Promise<void>;
  counts(): MemoryCounts;
  /** Calls back after each change, until the returned function is called. */
  watch(listener: (changed: MemoryChanged) => void): () => void;
}

/** The stores of all projects. */
export interface Memories {
  /**
   * Opens a store of a project; its `default_store`, or else its first, where no name is given. Throws `not_found`
   * (MemoryNotConfigured, MemoryStoreNotFound), and what loading the project throws.
   */
  of(namespace: string, project: string, storeName?: string): Promise<MemoryStore>;
  /** The stores that a project has on the disk and no more in its file; what they keep can only be forgotten. */
  dropped(namespace: string, project: string): Promise<MemoryStore[]>;
  /** Ends the work in the background. */
  close(): Promise<void>;
}
