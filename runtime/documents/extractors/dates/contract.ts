import type { Span } from '../../text/words.js';

/** A calendar day, month or year as a text names it. */
export interface CalendarDate {
  readonly year?: number;
  /** From 1. */
  readonly month?: number;
  readonly day?: number;
  /** From 1; instead of month and day. */
  readonly quarter?: number;
}

/** A time of day; seconds only where they are given. */
export interface ClockTime {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Offset from UTC such as `+02:00`, where the text gives one. */
  readonly offset?: string;
}

/** Something about time in a text, with the name of the rule that found it. */
export interface Found<T> extends Span {
  readonly value: T;
  readonly pattern: string;
  /** How sure the rule is, 0 to 1. */
  readonly confidence: number;
}

/** One way of writing something. Every quantifier of the expression is bounded, so a scan is linear. */
export interface Rule<T> {
  readonly pattern: string;
  readonly expression: RegExp;
  readonly confidence: number;
  /** Undefined where what matched is none after all, such as month 13. */
  read(match: RegExpMatchArray): T | undefined;
}

/** Matches of one kind in one text; the rest is left out. */
export const FOUND_LIMIT = 1000;

/** What the rules find, in the order of the text; of overlapping matches the earlier wins, then the longer. */
export function scan<T>(text: string, rules: readonly Rule<T>[]): Found<T>[] {
  const all: Found<T>[] = [];
  for (const rule of rules) {
    let count = 0;
    for (const match of text.matchAll(rule.expression)) {
      const value = rule.read(match);
      if (value === undefined) continue;
      const start = match.index;
      all.push({ text: match[0], start, end: start + match[0].length, value, pattern: rule.pattern, confidence: rule.confidence });
      count += 1;
      if (count >= FOUND_LIMIT) break;
    }
  }
  return apart(all).slice(0, FOUND_LIMIT);
}

/** Spans without those that overlap an earlier or longer one. */
export function apart<T extends Span>(spans: readonly T[]): T[] {
  const kept: T[] = [];
  let end = -1;
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (span.start < end) continue;
    kept.push(span);
    end = span.end;
  }
  return kept;
}
