/** What a recogniser writes for sounds that are no words. */
const ANNOTATION = /\[[^\]]{0,80}\]|\([^)]{0,80}\)|\*[^*]{0,80}\*|[♪♫]+/g;

/** A transcript without what stands for music, noise and silence in it. */
export function wordsOf(transcript: string): string {
  const text = transcript.replace(ANNOTATION, ' ').replace(/\s+/g, ' ').trim();
  return /[\p{L}\p{N}]/u.test(text) ? text : '';
}
