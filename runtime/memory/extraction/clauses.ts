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
