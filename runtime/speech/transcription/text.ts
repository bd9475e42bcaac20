import type { TranscriptSegment } from '../contract.js';

/** Languages that write no spaces between words. */
const WITHOUT_SPACES: ReadonlySet<string> = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue', 'km']);

/** What stands between two segments of a language. */
export const separatorOf = (language: string): string => (WITHOUT_SPACES.has(language) ? '' : ' ');

/** The text of a transcript. */
export const textOf = (segments: readonly TranscriptSegment[], language: string): string =>
  segments.map(({ text }) => text).join(separatorOf(language));

/** `HH:MM:SS` and thousandths after `point`; cut off, not rounded. */
function clock(seconds: number, point: ',' | '.'): string {
  // Products of hundredths fall a little short of whole milliseconds.
  const total = Math.floor(seconds * 1000 + 1e-6);
  const [hours, minutes, rest] = [Math.floor(total / 3_600_000), Math.floor(total / 60_000) % 60, total % 60_000];
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(hours)}:${two(minutes)}:${two(Math.floor(rest / 1000))}${point}${String(rest % 1000).padStart(3, '0')}`;
}

/** A line of a subtitle may not look like the line between two times. */
const cue = (text: string): string => text.replaceAll('-->', '->');

/** Subtitles in SubRip form. */
export const srtOf = (segments: readonly TranscriptSegment[]): string =>
  segments.map(({ start, end, text }, at) => `${at + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${cue(text)}\n\n`).join('');

/** Subtitles in WebVTT form. */
export const vttOf = (segments: readonly TranscriptSegment[]): string =>
  `WEBVTT\n\n${segments.map(({ start, end, text }) => `${clock(start, '.')} --> ${clock(end, '.')}\n${cue(text)}\n\n`).join('')}`;
