import { wordsOf } from '../../documents/text/words.js';
import type { MemoryRecord } from '../contract.js';
import { nameKey, wordStem } from '../extraction/statement.js';
import { type FactData, factData, nodeOf } from '../facts.js';

/** Words of a name that a question may use. */
const NAME_WORDS = 5;
/** Facts of one name that are followed, the newest first. */
const FOLLOWED = 64;
/** Facts that one walk reaches. */
const REACHED = 256;
/** Words of a question that are looked up. */
const QUESTION_WORDS = 64;

/** A fact as an edge between two names. */
interface Link {
  readonly row: number;
  readonly subject: string;
  readonly object: string;
  readonly relation: readonly string[];
}

/** The facts of a store as a graph of names, for walks from the names of a question. */
export class Links {
  readonly #byName = new Map<string, Link[]>();
  readonly #byRow = new Map<number, Link>();
  /** Full names by their first words: who says "Tomas" may mean "Tomas Berg". */
  readonly #fullNames = new Map<string, Set<string>>();

  add(row: number, record: MemoryRecord): void {
    const data = factData(record);
    if (data.subject === '') return;
    const user = record.who?.user;
    const [subject, object] = [nameKey(nodeOf(data.subject, user)), nameKey(nodeOf(data.object, user))];
    const link: Link = { row, subject, object, relation: wordsOfRelation(data) };
    this.#byRow.set(row, link);
    for (const name of new Set([link.subject, link.object])) {
      const list = this.#byName.get(name);
      if (list) list.push(link);
      else {
        this.#byName.set(name, [link]);
        const first = name.slice(0, name.indexOf(' '));
        if (first.length > 1 && isName(name === link.subject ? data.subject : data.object))
          this.#fullNames.set(first, (this.#fullNames.get(first) ?? new Set()).add(name));
      }
    }
  }

  remove(row: number): void {
    const link = this.#byRow.get(row);
    if (!link) return;
    this.#byRow.delete(row);
    for (const name of new Set([link.subject, link.object])) {
      const left = this.#byName.get(name)?.filter((one) => one !== link) ?? [];
      if (left.length > 0) this.#byName.set(name, left);
      else this.#byName.delete(name);
    }
  }

  /**
   * The facts near the names and relations of a question, with their distance: 0 for one that has a name of it and one of its words as relation, 1 for
   * one that has a name of it, one more for each fact in between. `speaker` is the key of who asks. Only facts that `holds` are followed.
   */
  walk(question: string, entities: readonly string[], speaker: string, holds: (row: number) => boolean): Map<number, number> {
    const words = new Set(
      wordsOf(question.slice(0, 4096))
        .slice(0, QUESTION_WORDS)
        .map(({ text }) => wordStem(text.toLowerCase())),
    );
    const reached = new Map<number, number>();
    let names = this.#namesIn(question, entities, speaker);
    const seen = new Set(names);
    for (let depth = 0; depth < 3 && names.length > 0 && reached.size < REACHED; depth += 1) {
      const next: string[] = [];
      for (const name of names) {
        const links = (this.#byName.get(name) ?? [])
          .slice(-FOLLOWED * 4)
          .reverse()
          .filter(({ row }) => holds(row));
        // A person has many facts of which a question means few: those whose relation it names.
        const meant = links.filter(({ relation }) => relation.some((word) => words.has(word)));
        const close = name === speaker || depth > 0 ? meant : [...meant, ...links.filter((link) => !meant.includes(link))];
        const followed = close.length > 0 ? close : depth > 0 ? links : [];
        for (const link of followed.slice(0, FOLLOWED)) {
          const distance = depth + (meant.includes(link) ? 0 : 1);
          if (distance < (reached.get(link.row) ?? Number.POSITIVE_INFINITY)) reached.set(link.row, distance);
          for (const other of [link.subject, link.object]) {
            if (other === speaker) continue;
            for (const alias of this.#aliases(other))
              if (!seen.has(alias)) {
                seen.add(alias);
                next.push(alias);
              }
          }
        }
      }
      names = next;
    }
    return reached;
  }

  #namesIn(question: string, entities: readonly string[], speaker: string): string[] {
    const words = wordsOf(question.slice(0, 4096))
      .slice(0, QUESTION_WORDS)
      .map(({ text }) => text.toLowerCase().replace(/[’']s$/u, ''));
    const found = new Set<string>();
    for (let from = 0; from < words.length; from += 1) {
      for (let length = Math.min(NAME_WORDS, words.length - from); length > 0; length -= 1) {
        const name = nameKey(words.slice(from, from + length).join(' '));
        if (name.length > 1 && (this.#byName.has(name) || this.#fullNames.has(name))) found.add(name);
      }
    }
    for (const entity of entities) found.add(nameKey(entity));
    if (words.some((word) => /^(?:i|my|me|mine|we|our)$/.test(word))) found.add(speaker);
    return [...found].flatMap((name) => this.#aliases(name));
  }

  #aliases(name: string): string[] {
    const space = name.indexOf(' ');
    const first = space < 0 ? name : name.slice(0, space);
    const full = space < 0 ? [...(this.#fullNames.get(first) ?? [])] : [];
    return [name, ...full.slice(0, 4), ...(space > 0 && this.#byName.has(first) && this.#fullNames.get(first)?.has(name) ? [first] : [])];
  }
}

function isName(written: string): boolean {
  return /^\p{Lu}/u.test(written);
}

/** Words by which questions ask for a relation beside its own. */
const ASKED: Readonly<Record<string, string>> = {
  works_at: 'work job employer company',
  job: 'job profession work living',
  lives_in: 'live home town city moved move address',
  married_to: 'husband wife spouse married partner',
  allergic_to: 'allergic allergy',
  owned_by: 'own owner bought belong sold',
  sold: 'sell sold',
  has: 'have own pet',
  likes: 'like love favourite enjoy',
  hates: 'hate dislike',
  name: 'name called',
  builds: 'build make',
  plays: 'play instrument',
  speaks: 'speak language',
  pays: 'pay rent cost',
  costs: 'cost price',
  weighs: 'weigh heavy weight',
  owes: 'owe debt',
  from: 'from origin live',
};

function wordsOfRelation({ relation, object }: FactData): string[] {
  const words = `${relation.replaceAll('_', ' ')} ${ASKED[relation] ?? ''} ${relation === 'is' ? object : ''}`;
  return [
    ...new Set(
      words
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word.length > 2)
        .map(wordStem),
    ),
  ];
}
