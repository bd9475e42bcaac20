import type { CollectedCompletion } from '../../completions/contract.js';

/** A call as the model wrote it. */
export type ModelCall = CollectedCompletion['toolCalls'][number];

/** A call as clients and the event log see it. */
export interface CallAbout {
  readonly tool_call_id: string;
  /** What the model called. */
  readonly name: string;
  /** Null where nobody has such a tool. */
  readonly server: string | null;
  readonly tool: string | null;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

/** A call that was made. */
export interface MadeCall extends CallAbout {
  readonly failed: boolean;
  /** As the model is given it. */
  readonly result: string;
  readonly duration_ms: number;
}

/** Told of calls, for the event log. */
export interface CallRecord {
  toolCalled(call: CallAbout): void;
  toolAnswered(call: MadeCall): void;
}

/** What chat templates and models mark calls and results with: `<tool_call>`, `[TOOL_CALLS]`, `<|python_tag|>` and their like. */
const MARKS =
  /<(?=\/?(?:tool_calls?|tool_response|function_calls?|function|think)\b|[|｜][^\s<>|｜]{1,40}[|｜]>)|\[(?=\/?(?:TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|INST|ARGS|CALL_ID)\])/gi;

/** The beginning of a result that is a call by itself where models write calls as bare JSON, and what it then has behind it. */
const BARE_CALL = /^(\s*\[?\s*\{\s*")n(?=ame"\s*:)/;

const BARE_ARGUMENTS = /"(?:arguments|parameters)"\s*:/;

/**
 * The text of a result as a model is given it: what could be read as a call, or as the end of the result, is broken by a backslash, also where the
 * model repeats it; and no more of it than `maxCharacters`.
 */
export function fenceResult(text: string, maxCharacters: number): string {
  const marked = cutText(text, maxCharacters).replaceAll(MARKS, '$&\\');
  // The same JSON, in letters that no reader of calls takes for the beginning of one.
  return BARE_ARGUMENTS.test(marked) ? marked.replace(BARE_CALL, '$1\\u006e') : marked;
}

/** The first characters of a text, and how many there were. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  // Half of a surrogate pair would be an invalid character.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(maxCharacters - 1)) ? maxCharacters - 1 : maxCharacters;
  return `${text.slice(0, end)}… [cut: the result has ${text.length} characters]`;
}
