import { createHash, randomUUID } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import { isObject } from '../base/json.js';
import type { Embedder } from '../rag/embedders/contract.js';
import type { MemoryRecord, MemoryStore, NewMemory, Provenance, Validity } from './contract.js';
import { isSingle, NODE_UNITS, nameKey, OPPOSITES, SPEAKER, type Statement, speakerNode } from './extraction/statement.js';
import { holdsAt } from './filter.js';

/** What a fact says; `data` of its record, but for `by`. */
export interface FactData {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  /** That this is not so. */
  readonly negated: boolean;
  /** Who took it from the words: rules, or a chat model that was held to them; a client that added it did so itself. */
  readonly by: 'rules' | 'model' | 'client';
}

/** A statement with the record that says it. */
export interface Finding {
  readonly statement: Statement;
  readonly source: MemoryRecord;
  readonly by: 'rules' | 'model';
}

/** Changes that take findings in; see `MemoryChange`. */
export interface FactChanges {
  readonly add: NewMemory[];
  readonly end: { readonly id: string; readonly toMs: number; readonly supersededBy: string }[];
}

/** Compares two short texts, 0 to 1. */
export type Likeness = (a: string, b: string) => Promise<number>;

/** Objects that are so much alike are the same, where their figures are. */
const SAME = 0.92;
/** Facts of one subject and relation that a new one is compared with, the latest. */
const COMPARED = 200;

/** What a fact's record says. A client may add facts with any `data`: names in it count where its ends bear them out, and of one without ends only its text is known. */
export function factData({ data, edge, text, who, takenBy }: MemoryRecord): FactData {
  const by = takenBy ?? 'client';
  if (!edge) return { subject: '', relation: '', object: text, negated: false, by };
  const said = isObject(data) ? data : {};
  const named = (name: unknown, end: string): string => (typeof name === 'string' && nodeOf(name, who?.user) === end ? name : end);
  const { from, to, relation } = edge;
  return { subject: named(said.subject, from), relation, object: named(said.object, to), negated: said.negated === true, by };
}

/** The node that a name stands for, in what a user says. */
export function nodeOf(name: string, user: string | undefined): string {
  return name === SPEAKER ? speakerNode(user) : name;
}

/** A fact that may be ended or repeated by another. */
interface KnownFact {
  readonly id: string;
  readonly data: FactData;
  readonly valid: Validity;
  readonly user: string | undefined;
  readonly session: string | undefined;
  /** Of a fact that is added by the same changes; its end can still be written into it. */
  readonly isNew: boolean;
}

/**
 * Takes findings into the facts of a store. Facts are added and ended, never changed or removed: what is said again in a session is one fact; what a
 * thing has one of at a time, and what is denied, ends the fact before it from then on, both kept; an older saying that comes late stands between
 * those of the times around it.
 */
export class FactBook {
  readonly #store: MemoryStore;
  readonly #likeness: Likeness;
  readonly #run: string;
  readonly #known = new Map<string, KnownFact[]>();
  readonly #add = new Map<string, NewMemory>();
  readonly #end: FactChanges['end'] = [];

  /** `run` names the work that the facts come from, so that it can be taken back. */
  constructor(store: MemoryStore, likeness: Likeness, run: string) {
    this.#store = store;
    this.#likeness = likeness;
    this.#run = run;
  }

  /** The changes of all findings so far. */
  get changes(): FactChanges {
    return { add: [...this.#add.values()], end: this.#end };
  }

  /** Takes one finding in; false where it is known already, or says nothing that can be kept. */
  async take({ statement, source, by }: Finding): Promise<boolean> {
    const data: FactData = {
      subject: cleanName(statement.subject),
      relation: statement.relation,
      object: cleanName(statement.object),
      negated: statement.negated,
      by,
    };
    if (data.subject === '' || data.object === '') return false;
    const { user, session } = source.who ?? {};
    const fact: KnownFact = { id: randomUUID(), data, valid: { fromMs: statement.validFrom }, user, session, isNew: true };
    const others = await this.#knownFacts(data.subject, user, [
      data.relation,
      ...(OPPOSITES[data.relation] ? [OPPOSITES[data.relation]!] : []),
    ]);
    for (const other of others)
      if (other.session === session && isSaidFrom(other, fact.valid.fromMs) && (await this.#isSame(other.data, data))) return false;
    const ended: KnownFact[] = [];
    let valid = fact.valid;
    let supersededBy: string | undefined;
    for (const other of others) {
      if (!(await this.#contradicts(other.data, data, statement.isBeside))) continue;
      if (other.valid.fromMs <= fact.valid.fromMs) {
        if ((other.valid.toMs ?? Number.POSITIVE_INFINITY) > fact.valid.fromMs) ended.push(other);
      } else if (valid.toMs === undefined || other.valid.fromMs < valid.toMs) {
        valid = { fromMs: fact.valid.fromMs, toMs: other.valid.fromMs };
        supersededBy = other.id;
      }
    }
    for (const other of ended) this.#endFact(other, fact);
    this.#add.set(fact.id, factRecord(fact, valid, supersededBy, { statement, source, by }, this.#run));
    this.#known.get(keyOf(data.subject, user, data.relation))!.push({ ...fact, valid });
    return true;
  }

  #endFact(other: KnownFact, by: KnownFact): void {
    const toMs = by.valid.fromMs;
    const valid = { ...other.valid, toMs };
    const added = this.#add.get(other.id);
    if (added) this.#add.set(other.id, { ...added, valid, supersededBy: by.id });
    else this.#end.push({ id: other.id, toMs, supersededBy: by.id });
    for (const list of this.#known.values()) {
      const at = list.indexOf(other);
      if (at >= 0) list[at] = { ...other, valid };
    }
  }

  async #isSame(a: FactData, b: FactData): Promise<boolean> {
    return a.relation === b.relation && a.negated === b.negated && (await this.#sameObject(a.object, b.object));
  }

  /** `isBeside`: `b` says itself that it takes no other's place. */
  async #contradicts(a: FactData, b: FactData, isBeside = false): Promise<boolean> {
    if (OPPOSITES[a.relation] === b.relation) return !a.negated && !b.negated && (await this.#sameObject(a.object, b.object));
    if (a.relation !== b.relation) return false;
    if (a.negated !== b.negated) return this.#sameObject(a.object, b.object);
    return !isBeside && isSingle(a.relation) && !a.negated && !(await this.#sameObject(a.object, b.object));
  }

  async #sameObject(a: string, b: string): Promise<boolean> {
    const [left, right] = [nameKey(a), nameKey(b)];
    if (left === right) return true;
    return figuresOf(left) === figuresOf(right) && (await this.#likeness(left, right)) >= SAME;
  }

  async #knownFacts(subject: string, user: string | undefined, relations: readonly string[]): Promise<KnownFact[]> {
    const all: KnownFact[] = [];
    for (const relation of relations) {
      const key = keyOf(subject, user, relation);
      let list = this.#known.get(key);
      if (!list) {
        const filter = { direction: 'out' as const, relation, ofAllTimes: true, types: ['fact' as const], limit: COMPARED };
        const found = (await this.#store.graph?.edges(nodeOf(subject, user), user === undefined ? filter : { ...filter, user })) ?? [];
        list = found.filter(({ who }) => who?.user === user).map(knownFact);
        this.#known.set(key, list);
      }
      all.push(...list);
    }
    return all;
  }
}

/** Whether a fact says already what is said again from a moment on: it holds then, or still. One that had ended by then is told anew. */
function isSaidFrom({ valid: { fromMs, toMs } }: KnownFact, atMs: number): boolean {
  return toMs === undefined || fromMs === atMs || holdsAt({ fromMs, toMs }, atMs);
}

function knownFact(one: MemoryRecord): KnownFact {
  return {
    id: one.id,
    data: factData(one),
    valid: one.valid ?? { fromMs: one.timeMs },
    user: one.who?.user,
    session: one.who?.session,
    isNew: false,
  };
}

function keyOf(subject: string, user: string | undefined, relation: string): string {
  return JSON.stringify([subject, user ?? null, relation]);
}

/** What equal facts of a user have in common, whoever heard them where. */
export function factHash({ subject, relation, object, negated }: Omit<FactData, 'by'>, user: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([user ?? null, nameKey(subject), relation, nameKey(object), negated]))
    .digest('hex');
}

function factRecord(
  { id, data: { by: _by, ...data }, user }: KnownFact,
  valid: Validity,
  supersededBy: string | undefined,
  { statement, source, by }: Finding,
  run: string,
): NewMemory {
  return {
    id,
    type: 'fact',
    data,
    text: statement.text,
    timeMs: source.timeMs,
    ...(source.who ? { who: source.who } : {}),
    ...(source.tags ? { tags: source.tags } : {}),
    edge: { from: nodeOf(data.subject, user), to: nodeOf(data.object, user), relation: data.relation, weight: 1 },
    valid,
    ...(supersededBy === undefined ? {} : { supersededBy }),
    confidence: statement.confidence,
    takenBy: by,
    provenance: provenanceOf(source),
    hash: factHash(data, user),
    metadata: { run },
  };
}

/** The record that says something, and what that itself comes from. */
export function provenanceOf(source: MemoryRecord): Provenance {
  return { ...source.provenance, records: [source.id] };
}

/** A name as a node has it: one space between words, no article, at most 256 characters. */
export function cleanName(name: string): string {
  return name
    .normalize('NFC')
    .replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .replace(/^(?:the|an?) /i, '')
    .slice(0, NODE_UNITS);
}

/** The figures of a text in their order; what differs in them is not the same, however alike it reads. */
function figuresOf(text: string): string {
  return (text.match(/\p{N}+/gu) ?? []).join(' ');
}

/** Texts whose vectors are remembered while facts are compared. */
const KNOWN_VECTORS = 2000;

/** Compares texts by their vectors; 0 where the embedder fails, since a doubt makes two facts, never one. */
export function likenessBy(embedder: Embedder, signal: AbortSignal): Likeness {
  const known = new Map<string, Float32Array>();
  const vectorOf = async (text: string): Promise<Float32Array> => {
    const found = known.get(text);
    if (found) return found;
    if (known.size >= KNOWN_VECTORS) known.clear();
    const [vector] = await embedder.embed([text], 'document', 'bulk', signal);
    known.set(text, vector!);
    return vector!;
  };
  return async (a, b) => {
    try {
      const [left, right] = [await vectorOf(a), await vectorOf(b)];
      return left.reduce((sum, component, at) => sum + component * right[at]!, 0);
    } catch (failure) {
      signal.throwIfAborted();
      if (failure instanceof Failure) return 0;
      throw failure;
    }
  };
}
