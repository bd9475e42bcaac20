import { sentencesOf } from '../../documents/text/sentences.js';

/** Code units of a text that are looked at, and of a clause; longer clauses are lists and tables, of which no rule is true. */
const READ_UNITS = 16 * 1024;
const CLAUSE_UNITS = 320;

const FENCED = /```[\s\S]*?(?:```|$)/g;
const QUOTED_LINE = /^[ \t]*>.*$/gm;
/** Words between marks are somebody else's, unless they are a title of one or two words. */
const QUOTED = /["“„«][^"”“»\n]{0,400}["”“»]/g;
/** Between clauses that each say something of their own. */
const BETWEEN =
  / ?[;–—] | - |: (?=(?:I|[Mm]y|[Hh]e|[Ss]he) )|,? (?:but|although|though|because|so that|and so|while) |, (?:and |so )?(?=(?:I|[Ww]e|[Mm]y|[Hh]e|[Ss]he|[Tt]hey)\b)|(?:,| and|, and) (?=\p{Lu}\p{Ll}{0,30}(?: \p{Lu}\p{Ll}{0,30})? (?:is|was|has|works|lives|likes|hates|plays|comes|became|becomes|moved) )| and (?=(?:I|my|he|she|they) )/gu;
const LEAD =
  /^(?:(?:and|but|also|so|well|oh|ok(?:ay)?|hi|hello|hey|yes|no|actually|fyi|by the way|btw|today|on second thought|good news|big news|news|note(?: that)?|please (?:note|remember)(?: that)?|remember(?: that)?|just so you know)[,:!.]? )+/i;

/** What is not said to be so: wished, asked, reported, supposed. */
const UNSURE =
  /(?:^|\s)(?:if|would|could|might|may|maybe|perhaps|probably|possibly|should|wish|imagine|suppose|supposedly|apparently|pretend(?:s|ed)?|hypothetically|unless|whether|allegedly|joking|kidding|dream(?:s|ed|t)?|thinking|consider(?:s|ing)?|hope(?:s|d)?|(?:want|plan|intend|hope|like|love)(?:s|ed|ning|ing)? to|going to|gonna|will|shall|(?:i|we)['’]ll|(?:i|we|he|she|they)['’]d|says?|said|tells?|told|thinks?|thought|believes?|believed|claims?|claimed|heard|asks?|asked|as if|as though|example|e\.g)(?=[\s,.!]|$)/i;

/** A task for the assistant: what it is to be done with is said by nobody. */
const TASK =
  /^(?:please )?(?:translate|rewrite|correct|summari[sz]e|fix|repeat|say|write|explain|proofread|paraphrase|complete|continue|answer|act|tell|give|make|show|draw|let)\b/i;

/** A stretch of a text that says one thing. */
export interface Clause {
  readonly text: string;
  /** Place of its sentence in the text, from 0. */
  readonly sentence: number;
}

/** The clauses of a text that say how something is. Questions, wishes, reports, quotes and code say nothing of that kind. Linear. */
export function* clausesOf(text: string): Generator<Clause> {
  const read = text.slice(0, READ_UNITS).replaceAll(FENCED, '\n\n').replaceAll(QUOTED_LINE, '');
  for (const [sentence, { text: whole }] of sentencesOf(read).entries()) {
    if (/[?？]["”’)]?$/.test(whole)) continue;
    let unsure = TASK.test(whole);
    for (const piece of whole.replaceAll(/\s+/gu, ' ').split(BETWEEN)) {
      const clause = piece
        .replace(LEAD, '')
        .replace(/[.!…:,]+$/, '')
        .trim();
      // What hangs on a wish or a report is part of it.
      unsure ||= UNSURE.test(clause.slice(0, CLAUSE_UNITS));
      if (clause === '' || clause.length > CLAUSE_UNITS || unsure || saysOthers(clause)) continue;
      yield { text: clause, sentence };
    }
  }
}

function saysOthers(clause: string): boolean {
  return [...clause.matchAll(QUOTED)].some(([quote]) => quote.split(/\s+/).length > 2);
}

/** The subject or object that stands for whoever speaks. */
export const SPEAKER = 'user';

/** The node that stands for a speaker in the graph: each user has one, and one is for those without a name. */
export function speakerNode(user: string | undefined): string {
  return user === undefined ? SPEAKER : `${SPEAKER}:${user}`.slice(0, NODE_UNITS);
}

/** Characters of a node's name. */
export const NODE_UNITS = 256;

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
