import { apart, scan } from '../../documents/extractors/dates/contract.js';
import { RELATIVE_DATES } from '../../documents/extractors/dates/spoken.js';
import { type Clause, clausesOf } from './clauses.js';
import { SPEAKER, type Statement } from './statement.js';

/** Who says a text, and when. */
export interface Utterance {
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** Whether its `I` is the person that is remembered; of a document it is nobody. */
  readonly isSpeaker: boolean;
}

/** What is known while a text is read. */
interface Reading {
  readonly speaker: string | undefined;
  /** The last one that was named, whom "she" refers to. */
  before: string | undefined;
}

/** Statements of one text; the rest is left out. */
const STATEMENTS = 64;

/** The statements of a text, in its order, at most 64. Says only what the words say; the cost is linear in the text. */
export function statementsIn({ text, atMs, isSpeaker }: Utterance): Statement[] {
  const found: Statement[] = [];
  const reading: Reading = { speaker: isSpeaker ? SPEAKER : undefined, before: undefined };
  for (const clause of clausesOf(text)) {
    for (const one of readClause(clause, reading)) found.push({ ...one, text: clause.text, validFrom: sinceOf(clause.text, atMs) });
    if (found.length >= STATEMENTS) break;
  }
  return found.slice(0, STATEMENTS);
}

type Found = Pick<Statement, 'subject' | 'relation' | 'object' | 'negated' | 'confidence' | 'isBeside'>;

/** What a clause is about. */
interface Subject {
  /** Empty where the clause names a role only. */
  readonly name: string;
  readonly confidence: number;
  /** The attribute whose value the clause tells: "my phone number is ...". */
  readonly role?: string;
  /** Whose attribute it is. */
  readonly owner?: string;
}

const pattern = (source: string): RegExp => new RegExp(source, 'u');

/** Up to three words of a role: `sister`, `phone number`, `new spectrograph at work`. */
const ROLE =
  "(?!(?:is|was|are|were|has|had|and)\\b)\\p{Ll}[\\p{L}’'-]{0,30}(?: (?!(?:is|was|are|were|has|had|called|named|and)\\b)\\p{Ll}[\\p{L}’'-]{0,30}){0,3}";
const BE = '(?:am|is|are|was|were|becomes?|became)';
const NAME_WORD = "\\p{Lu}[\\p{L}\\p{M}\\p{N}.’'&-]{0,40}";
const NAME = `${NAME_WORD}(?: (?:(?:of|de|da|van|von|der|la|du|del|di|the) ){0,2}${NAME_WORD}){0,4}`;

const SUBJECTS: readonly (readonly [RegExp, (match: RegExpMatchArray, at: Reading) => Subject | undefined])[] = [
  [pattern(`^(?:I|[Ww]e)(?=[ ’'])`), (_match, { speaker }) => (speaker === undefined ? undefined : { name: speaker, confidence: 0.9 })],
  [pattern(`^[Mm]y (?<role>${ROLE}) (?<name>${NAME})`), ({ groups }, at) => ofOwner(at.speaker, groups!.role!, groups!.name)],
  [
    pattern(`^(?<owner>${NAME})[’']s (?<role>${ROLE}) (?<name>${NAME})`),
    ({ groups }) => ofOwner(nameIn(groups!.owner!), groups!.role!, groups!.name),
  ],
  [pattern(`^[Mm]y (?<role>${ROLE})`), ({ groups }, at) => ofOwner(at.speaker, groups!.role!, undefined)],
  [pattern(`^(?<owner>${NAME})[’']s (?<role>${ROLE})`), ({ groups }) => ofOwner(nameIn(groups!.owner!), groups!.role!, undefined)],
  [
    pattern(`^[Tt]he (?<role>${ROLE})`),
    ({ groups }) => ({ name: '', role: groups!.role!.replace(/^new | (?:here|alone|there)$/g, ''), confidence: 0.8 }),
  ],
  [pattern(`^(?<name>${NAME})`), ({ groups }) => namedSubject(groups!.name!)],
  [pattern(`^(?:[Hh]e|[Ss]he)(?=[ ’'])`), (_match, { before }) => (before === undefined ? undefined : { name: before, confidence: 0.6 })],
];

function ofOwner(owner: string | undefined, written: string, name: string | undefined): Subject | undefined {
  if (owner === undefined || /^(?:old|former|previous|ex|late|first|next|other)\b/.test(written)) return undefined;
  const role = written.replace(/^(?:new|own|current|dear|little|big) /, '');
  if (name === undefined) return { name: '', role, owner, confidence: 0.85 };
  const own = nameIn(name);
  return own === undefined ? undefined : { name: own, role, owner, confidence: 0.85 };
}

const NOT_NAMES =
  /^(?:I|It|This|That|These|Those|There|Here|He|She|They|We|You|What|Who|When|Where|Why|How|One|Some|All|Most|Nobody|Everybody|Everyone|Someone|Something|Nothing|The|A|An|In|On|At|My|Our|His|Her|Their|Your|Its|If|Is|Do|Does|Did|Are|Was|Were|Can|Please|Yes|No|Not|Mostly|Once|Last|Next|Toasted|Smoked|Let|Maybe|Thanks|Thank|Hello|Hi|Hey|Every|Each|Any|Both|Many|Few|Sometimes|Often|Usually|Always|Never|Yesterday|Today|Tomorrow|Tonight|Now|Then|After|Before|During|Since|While|Until)(?![\p{L}\p{N}])/u;

/** A name without what only looks like one at its end: a possessive, a comma. */
function nameIn(text: string): string | undefined {
  const name = text.replace(/[’']s?$|[.,&-]+$/u, '');
  // "On Friday I ..." has its subject at the end.
  return NOT_NAMES.test(name) || / (?:I|We)$/.test(name) ? undefined : name;
}

function namedSubject(text: string): Subject | undefined {
  const name = nameIn(text);
  return name === undefined ? undefined : { name, confidence: 0.85 };
}

/** Between two things that are said of one subject. */
const AND_VERB =
  /,? and (?=(?:is|was|has|works?|lives?|likes?|loves?|hates?|plays?|speaks?|builds?|drives?|teaches|studies|owns?|moved|comes?|costs?|weighs?) )/u;

function* readClause({ text }: Clause, reading: Reading): Generator<Found> {
  for (const [expression, subjectOf] of SUBJECTS) {
    const match = expression.exec(text);
    const subject = match && subjectOf(match, reading);
    if (!match || !subject) continue;
    // What stands between commas behind the subject explains it: "Ife, who is younger, lives in ...".
    const rest = text
      .slice(match[0].length)
      .replace(/^,.{1,60}?, /u, ' ')
      .trimStart();
    const found = rest.split(AND_VERB).flatMap((predicate) => [...readPredicate(subject, predicate)]);
    if (found.length === 0) continue;
    if (subject.owner !== undefined && subject.name !== '') {
      yield { subject: subject.owner, relation: subject.role!, object: subject.name, negated: false, confidence: subject.confidence };
    }
    if (subject.name !== '' && subject.name !== reading.speaker) reading.before = subject.name;
    yield* found;
    const last = found.at(-1)!;
    if (subject.name === '' && /^\p{Lu}/u.test(last.object)) reading.before = last.object;
    return;
  }
}

/** What was so up to a time is so no more. */
const WAS_UNTIL = /^(?:was|were|had|worked)\b.{0,200} (?:until|till) /u;
const BESIDE = /^(?:now |still )?also /;

/** A verb with what follows it. `relation` is a name, or made of the words. */
interface VerbRule {
  readonly expression: RegExp;
  readonly relation: string | ((groups: Record<string, string | undefined>) => string);
  /** Objects must begin with a capital or a digit. */
  readonly ofNames?: true;
}

const NOT = "(?<not>do(?:es)? not |do(?:es)?n[’']t |no longer |never |not |am not |is not |is(?:n[’']t) )?";
const NOW = '(?:now |still |also |just |finally |recently |currently |already )?';
const rule = (source: string, relation: VerbRule['relation'], ofNames?: true): VerbRule => ({
  expression: pattern(`^${NOW}${NOT}${NOW}${source}`),
  relation,
  ...(ofNames ? { ofNames } : {}),
});
const OBJECT = '(?<object>.+)$';

/** Tried in their order; the first that fits counts. */
const VERBS: readonly VerbRule[] = [
  rule(`(?:works?|worked|(?:am |is )?working|started(?: to work| working| a job)?) (?:at|for|with) ${OBJECT}`, 'works_at'),
  rule(`works? as (?:an? )?${OBJECT}`, 'job'),
  rule(`(?:lives?|(?:am |is )?living|resides?) (?:in|at|on|near) ${OBJECT}`, 'lives_in'),
  rule(`(?:has |have |[’']ve )?moved (?:to|into) ${OBJECT}`, 'lives_in', true),
  rule(`(?:comes?|am|is) from ${OBJECT}`, 'from', true),
  rule(`(?:am|is|was|[’']m) born (?<how>in|on) ${OBJECT}`, ({ how }) => `born_${how}`),
  rule(`(?:am|is|[’']m|[’']s|got) married to ${OBJECT}`, 'married_to'),
  rule(`(?:am |is |[’']m |[’']s )(?<never>not |no longer )?allergic to ${OBJECT}`, 'allergic_to'),
  rule(`(?:likes?|loves?|enjoys?|prefers?|adores?) ${OBJECT}`, 'likes'),
  rule(`(?:hates?|dislikes?|detests?|can[’']?t stand|cannot stand) ${OBJECT}`, 'hates'),
  rule(`owes? ${OBJECT}`, 'owes'),
  rule(`(?:costs?|charges?) ${OBJECT}`, 'costs'),
  rule(`pays? ${OBJECT}`, 'pays'),
  rule(`weighs? ${OBJECT}`, 'weighs'),
  rule(`(?:has |have )?sold ${OBJECT}`, 'sold'),
  rule(`(?:has|have|[’']ve|owns?|adopted|bought|got|keeps?) (?=an? |two |three |four |\\d|no )${OBJECT}`, 'has'),
  rule(
    `(?:has |have )?(?<verb>plays?|speaks?|learns?|builds?|built|teaches|drives|studies|drinks?|eats?|leaves|left|lost|found|joined|visited|met) ${OBJECT}`,
    ({ verb }) => VERB_STEMS[verb!] ?? verb!,
  ),
];
const VERB_STEMS: Readonly<Record<string, string>> = {
  play: 'plays',
  speak: 'speaks',
  learn: 'learns',
  build: 'builds',
  built: 'builds',
  drink: 'drinks',
  eat: 'eats',
  left: 'leaves',
};

/** Where nobody lives but in a manner of speaking. */
const NO_HOME =
  /^(?:(?:an?|the|my|your|his|her|their|constant) )?(?:\p{Ll}+ )?(?:nightmare|dream|bubble|simulation|fantasy|lie|hell|past|moment|present|future|fear|denial|hope|peace|poverty|clouds?|world)s?$/u;
const AGE = /^\d{1,3}(?<told> years? old)?$/;

/** Predicates that tell a state of the moment, or nothing: adjectives, places, participles. */
const DESCRIBES = /^(?:an? |the |my |our |\p{Lu}|\p{Sc}|\+?\d|[\p{L}\p{N}._%+-]{1,64}@)/u;
const CALLED = pattern(`^(?:${BE}|[’'](?:m|s|re)) ${NOW}(?:not )?(?:called|named) `);
const ONE_OF_MINE = pattern(`^(?:my|our) (?<role>${ROLE})$`);
const KIND_CALLED = pattern(`^(?:an?|my) (?<kind>${ROLE}) (?:called|named) (?<name>${NAME})`);
const TO_SOMEBODY = pattern(`^(?<what>.{1,60}?) to (?<whom>${NAME})`);

/** Where an object ends: a new thought, a time, a purpose. */
const OBJECT_END =
  /,? (?:who|which|that|where|when|since|until|till|as(?: an?| the)?|with|for|from|more than|any ?more|now|yesterday|today|tonight|these days|(?:on|at) (?:the )?(?:week(?:end|day)s?|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)|(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|some|few|many) (?:day|week|month|year)s? ago|last|this (?:week|month|year)|next|again|too|and (?:an?|the|my|his|her|their|it|\p{Ll}{2,20}s)|to find|in order|by the)(?= |,|$)|, |: | \(/u;
const ROLE_BEHIND = /(?:^| )as (?:an? |the )?(?<role>[\p{Ll}][\p{L}’' -]{1,60}?)(?=[,.]|$| (?:at|for|in|since) )/u;
const ADVERB_END = /[ ,]+(?:now|still|too|also|again|anymore|any more|though|then|yesterday|today|please)$/;

/** What is said of a subject. */
function* readPredicate(subject: Subject, rest: string): Generator<Found> {
  if (WAS_UNTIL.test(rest)) return;
  const { name, confidence } = subject;
  const about = name || subject.role!;
  for (const { expression, relation, ofNames } of VERBS) {
    const groups = expression.exec(rest)?.groups as Record<string, string | undefined> | undefined;
    if (!groups) continue;
    const object = objectIn(groups.object!);
    if (object === undefined || (ofNames && !/^[\p{Lu}\p{N}]/u.test(object))) continue;
    const said = typeof relation === 'string' ? relation : relation(groups);
    if (said === 'lives_in' && NO_HOME.test(object)) return;
    const negated = groups.not !== undefined || groups.never !== undefined || /(?:^| )any ?more\b/.test(groups.object!);
    const base = { subject: about, negated, confidence, ...(BESIDE.test(rest) ? { isBeside: true as const } : {}) };
    const [, what, whom] = (said === 'sold' && TO_SOMEBODY.exec(groups.object!)) || [];
    if (what !== undefined && whom !== undefined) yield { ...base, subject: what, relation: 'owned_by', object: nameIn(whom) ?? whom };
    const called = KIND_CALLED.exec(groups.object!)?.groups;
    if (called) yield { ...base, subject: nameIn(called.name!) ?? called.name!, relation: 'is', object: called.kind! };
    yield { ...base, relation: said, object: what ?? (called ? called.name! : object) };
    const job = said === 'works_at' ? ROLE_BEHIND.exec(groups.object!)?.groups?.role : undefined;
    if (job !== undefined) yield { ...base, relation: 'job', object: job };
    return;
  }
  yield* readCopula(subject, rest);
}

/** Code units of an object; what is longer is a story. */
const OBJECT_UNITS = 100;

/** An object that names nothing by itself. */
const EMPTY_OBJECT =
  /^(?:it|that|this|him|her|them|me|us|one|ones|some|any|all|everything|nothing|something|fine|ok|okay|here|there|so|such|idea|problem|question|not .*|no \p{Ll}.*)$/iu;

function objectIn(text: string): string | undefined {
  const end = text.search(OBJECT_END);
  let object = (end < 0 ? text : text.slice(0, end)).trim();
  while (ADVERB_END.test(object)) object = object.replace(ADVERB_END, '');
  object = object.replace(/[.,!…:;]+$/u, '');
  return object === '' || object.length > OBJECT_UNITS || EMPTY_OBJECT.test(object) ? undefined : object;
}

const COPULA = pattern(`^(?:${BE}|[’'](?:m|s|re)) ${NOW}(?<not>not |no longer |never )?${NOW}(?:called |named )?${OBJECT}`);

/** "X is a Y", "my Y is Z", "X is my Y", "the Y is called Z". */
function* readCopula({ name, owner, role, confidence }: Subject, rest: string): Generator<Found> {
  const groups = COPULA.exec(rest)?.groups;
  if (!groups) return;
  const object = objectIn(groups.object!);
  if (object === undefined || !DESCRIBES.test(object)) return;
  const negated = groups.not !== undefined || /(?:^| )any ?more\b/.test(rest);
  if (name === '') {
    if (owner !== undefined) yield { subject: owner, relation: role!, object, negated, confidence };
    else if (CALLED.test(rest)) yield { subject: role!, relation: 'name', object, negated, confidence };
    else if (/^\p{Lu}|^\+?\d/u.test(object)) yield { subject: role!, relation: 'is', object, negated, confidence };
    return;
  }
  const mine = ONE_OF_MINE.exec(object)?.groups?.role;
  if (mine !== undefined) yield { subject: SPEAKER, relation: mine, object: name, negated, confidence };
  else if (CALLED.test(rest)) yield { subject: name, relation: 'name', object, negated, confidence };
  else if (isAge(name, object)) yield { subject: name, relation: 'age', object, negated, confidence };
  else if (!/^(?:the (?:best|worst|same|only|first|last)\b)/.test(object))
    yield { subject: name, relation: 'is', object, negated, confidence };
}

/** A bare number is an age only of somebody who says it: of a name it may be anything. */
function isAge(name: string, object: string): boolean {
  const age = AGE.exec(object);
  return age !== null && (name === SPEAKER || age.groups?.told !== undefined);
}

/** From when a clause holds, where it says so by a day that is past. */
function sinceOf(clause: string, atMs: number): number {
  for (const { value } of apart(scan(clause, RELATIVE_DATES))) {
    const [, days] = /^-P(\d{1,6})D$/.exec(value) ?? [];
    if (days !== undefined) return atMs - Number(days) * 86_400_000;
    const [, weeks] = /^-P(\d{1,5})W$/.exec(value) ?? [];
    if (weeks !== undefined) return atMs - Number(weeks) * 7 * 86_400_000;
  }
  return atMs;
}
