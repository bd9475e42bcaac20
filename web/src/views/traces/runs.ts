/** Runs of a chat as they are compared, and where two texts differ. */
import type { EventRecord, ReplayReply } from '$schemas/core/events';

/** One run of a chat. */
export type Run = ReplayReply['recorded'];

/** The run that an event tells of. */
export function runOf({ event_id, config_hash, status, error, data, total_elapsed_time_ms, time_to_first_token_ms }: EventRecord): Run {
  return {
    event_id,
    config_hash,
    status,
    error,
    model: textOf(data.model),
    response: textOf(data.response),
    tool_calls: Array.isArray(data.tool_calls) ? data.tool_calls : [],
    finish_reason: textOf(data.finish_reason),
    passages: Array.isArray(data.passages) ? data.passages.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))) : [],
    tokens: (data.tokens ?? null) as Run['tokens'],
    duration_ms: total_elapsed_time_ms,
    time_to_first_token_ms,
  };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A stretch of a text, and whether the other text lacks it. */
export interface Stretch {
  readonly text: string;
  readonly isOwn: boolean;
}

/** Words of longer texts are not set against each other: the work grows with both lengths. */
const MOST_WORDS = 1_500;

/** Two texts in stretches, each marked where the other does not have it, by the longest words that they have in common. */
export function differences(a: string, b: string): [Stretch[], Stretch[]] {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (left.length > MOST_WORDS || right.length > MOST_WORDS) return [[{ text: a, isOwn: a !== b }], [{ text: b, isOwn: a !== b }]];
  const width = right.length + 1;
  const common = new Uint16Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i -= 1)
    for (let j = right.length - 1; j >= 0; j -= 1)
      common[i * width + j] =
        left[i] === right[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const [ours, theirs]: [Stretch[], Stretch[]] = [[], []];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      add(ours, left[i]!, false);
      add(theirs, right[j]!, false);
      i += 1;
      j += 1;
    } else if (j >= right.length || (i < left.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      add(ours, left[i]!, true);
      i += 1;
    } else {
      add(theirs, right[j]!, true);
      j += 1;
    }
  }
  return [ours, theirs];
}

const wordsOf = (text: string): string[] => text.match(/\s+|[^\s]+/g) ?? [];

function add(list: Stretch[], text: string, isOwn: boolean): void {
  const last = list.at(-1);
  if (last?.isOwn === isOwn) list[list.length - 1] = { text: last.text + text, isOwn };
  else list.push({ text, isOwn });
}
