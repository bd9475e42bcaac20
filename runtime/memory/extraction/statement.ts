/** What a clause says of two things, in its own words. */
export interface Statement {
  /** `user` for whoever speaks, else a name as it is written. */
  readonly subject: string;
  /** A verb or an attribute: `works_at`, `sister`, `favourite tea`. */
  readonly relation: string;
  /** As it is written. */
  readonly object: string;
  /** The clause that says it. */
  readonly text: string;
  /** It says that this is not so, or no longer. */
  readonly negated: boolean;
  /** It says that this is so beside what else is: "I also work at ...". */
  readonly isBeside?: true;
  /** From when it holds, in milliseconds since 1970; by the words, else the time of the message. */
  readonly validFrom: number;
  /** 0 to 1: what stands there with its name is surer than what a pronoun refers to. */
  readonly confidence: number;
}

/** The subject or object that stands for whoever speaks. */
export const SPEAKER = 'user';

/** The node that stands for a speaker in the graph: each user has one, and one is for those without a name. */
export function speakerNode(user: string | undefined): string {
  return user === undefined ? SPEAKER : `${SPEAKER}:${user}`.slice(0, NODE_UNITS);
}

/** Characters of a node's name. */
export const NODE_UNITS = 256;

/** Relations of which a thing has one at a time: a new one ends the one before. */
const SINGLE: ReadonlySet<string> = new Set([
  'works_at',
  'lives_in',
  'married_to',
  'job',
  'name',
  'pays',
  'weighs',
  'costs',
  'director',
  'owned_by',
]);
/** Attributes that a thing may have several of, such as sisters; any other attribute (`my phone number is`) is single. */
const MANY =
  /(?:^|[_ ])(?:sister|brother|sibling|son|daughter|child|friend|colleague|cousin|aunt|uncle|niece|nephew|neighbour|neighbor|pet|dog|cat|teacher|hobby|student)s?$/;
/** Relations that are verbs of which a thing may do several. */
const VERBS: ReadonlySet<string> = new Set(
  'likes hates has is from sold owes allergic_to plays speaks learns builds drinks eats teaches drives studies lost found joined leaves met visited made'.split(
    ' ',
  ),
);

/** Whether a new statement of the relation ends the one before. */
export function isSingle(relation: string): boolean {
  return SINGLE.has(relation) || !(VERBS.has(relation) || MANY.test(relation));
}

/** Two relations that cannot both hold of one thing. */
export const OPPOSITES: Readonly<Record<string, string>> = { likes: 'hates', hates: 'likes' };

const ARTICLES = /^(?:the|a|an|my|our|his|her|their|some)\s+/;
const EDGES = /^[\p{P}\p{S}\s]+|[\p{P}\s]+$/gu;

/** What of a name counts when names are compared: no case, width, articles and marks at its ends, one space between words. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase().replaceAll(EDGES, '').replaceAll(/\s+/gu, ' ').replace(ARTICLES, '');
}

/** A word without the endings of plurals and verbs: enough to tell that two of them are one. */
export function wordStem(word: string): string {
  return word.replace(/[’']s$/u, '').replace(/(?<=\p{L}{3})(?:ing|ed|es|s|e)$/u, '');
}
