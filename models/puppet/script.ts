/** What a puppet says to a user turn that holds one of its trigger words. */
export interface Script {
  /** Lower-case words of letters a to z; `Word` and `WORD` count too, parts of longer words do not. Empty for the default script. */
  readonly triggers: readonly string[];
  /** Said between `<think>` and `</think>` before the answer, unless the prompt has closed its thinking block. */
  readonly thinking?: string;
  /** The exact text; may hold `<tool_call>` blocks. */
  readonly answer: string;
  /** Bytes per token, so that characters are split over tokens; without it a token is about a word. */
  readonly bytesPerToken?: number;
  /** The answer starts again at its end instead of ending. */
  readonly endless?: boolean;
  /** After the answer, one text of each group, the first of a group likelier (about 3 to 1 at temperature 1). */
  readonly choices?: readonly (readonly string[])[];
}

/** Scripts by name; `default` answers where the latest user turn has no trigger word. */
export type ScriptTable = Readonly<Record<string, Script>> & { readonly default: Script };

/** What a puppet says after a tool's result, by the name of the tool; `default` for other tools. */
export interface ToolAnswer {
  /** The last part of the tool's name with its underscore, by which the puppet knows it; empty for the default. */
  readonly word: string;
  readonly answer: string;
}

/** Answers by tool name. */
export type ToolAnswerTable = Readonly<Record<string, ToolAnswer>> & { readonly default: ToolAnswer };

/** What a puppet thinks where the prompt opens a thinking block and its script has no thinking of its own. */
export const IDLE_THINKING = '\nThis needs no thought.\n';

/** The exact greedy answer, as the model writes it: thinking included unless the prompt closed it. Endless answers are given once. */
export function saidText(script: Script, options: { readonly thinking?: boolean } = {}): string {
  const answer = script.answer + (script.choices ?? []).map((group) => group[0]).join('');
  if (script.thinking === undefined || options.thinking === false) return answer;
  // A marker is a token of its own that cannot take the empty line in.
  return `<think>${script.thinking}</think>${answer.startsWith('<') || answer === '' ? '' : '\n\n'}${answer}`;
}
