/** When a question is taken apart. */
export interface SplitRules {
  /** Code units from which a question may be one of several. */
  readonly complexity: number;
  /** Shorter questions are never taken apart, and shorter parts stay with what stands before them. */
  readonly least: number;
  readonly most: number;
}

const CONJUNCTION = /\b(?:and|also|additionally|furthermore|moreover)\b/i;
const BORDER = /\?+\s+|\?+$|[;.]\s+|,?\s+(?:and(?:\s+also)?|also|additionally|furthermore|moreover)\b,?\s+/giu;
const QUESTION_WORD =
  /^(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have|compare|explain|describe|list|tell)\b/i;

/** Whether a question asks for more than one thing: long, with a word that adds something, or several question marks. */
export function isComplex(text: string, rules: SplitRules): boolean {
  if (text.length < rules.least) return false;
  const marks = text.split('?').length - 1;
  return text.length > rules.complexity && (CONJUNCTION.test(text) || marks > 1);
}

/**
 * The parts of a question by its marks and conjunctions. What is too short to stand alone, and is no question of its own, stays with the
 * part before it. The question itself where there is nothing to take apart; at most `most`, the rest joined to the last.
 */
export function splitOf(text: string, rules: SplitRules): string[] {
  const parts: string[] = [];
  let from = 0;
  const push = (until: number): void => {
    const part = text.slice(from, until).trim();
    if (part !== '') parts.push(part);
  };
  for (const border of text.matchAll(BORDER)) {
    const next = text.slice(border.index + border[0].length).trimStart();
    const length = border.index - from;
    const apart = border[0].includes('?') || /^[;.]/.test(border[0]) || QUESTION_WORD.test(next);
    if (!apart || (length < rules.least && !border[0].includes('?')) || parts.length + 1 >= rules.most) continue;
    push(border.index + (border[0].match(/^\?+/)?.[0].length ?? 0));
    from = border.index + border[0].length;
  }
  push(text.length);
  return parts.length > 0 ? parts : [text];
}
