import { harmless, type Output } from '../output.js';
import type { Figures, Talk } from './talk.js';

const DIGITS = 1;
/** How often it is looked whether a model is being fetched. */
const LOOK_MS = 1000;

/** How fast an answer was, in a line. */
export function figuresLine({ promptTokens, answerTokens, firstTokenS, totalS }: Figures): string {
  const rate =
    answerTokens > 1 && totalS > firstTokenS ? `, ${((answerTokens - 1) / (totalS - firstTokenS)).toFixed(DIGITS)} tokens/s` : '';
  return `${promptTokens} tokens read, ${answerTokens} written${rate}; first after ${firstTokenS.toFixed(2)} s, all after ${totalS.toFixed(2)} s`;
}

/** The figures of an answer for programs. */
export const figuresValue = ({ promptTokens, answerTokens, firstTokenS, totalS }: Figures) => ({
  prompt_tokens: promptTokens,
  completion_tokens: answerTokens,
  first_token_s: firstTokenS,
  total_s: totalS,
});

/** Draws how far models are that must be fetched first, until the returned function is called. */
function showFetches(talk: Talk, out: Output): () => void {
  let isOver = !out.isTerminal;
  const look = async (): Promise<void> => {
    const text = await talk.fetchProgress();
    if (isOver) return;
    if (text !== null) out.progress(text);
    timer = setTimeout(look, LOOK_MS);
  };
  let timer = isOver ? undefined : setTimeout(look, LOOK_MS);
  return () => {
    if (!isOver) out.endProgress();
    isOver = true;
    clearTimeout(timer);
  };
}

/** Prints an answer as it comes, and its figures where `isVerbose`; with `--json` one object at its end. */
export async function printAnswer(
  talk: Talk,
  content: Parameters<Talk['say']>[0],
  { out, signal, isVerbose }: { out: Output; signal: AbortSignal; isVerbose: boolean },
): Promise<void> {
  let isThinking = false;
  let text = '';
  const endFetches = showFetches(talk, out);
  try {
    for await (const piece of talk.say(content, signal)) {
      endFetches();
      if (piece.kind === 'tool') out.line(out.style('dim', `[calls ${harmless(piece.name)}]`));
      else if (piece.kind === 'end') {
        out.line();
        if (isVerbose) out.line(out.style('dim', figuresLine(piece.figures)));
        out.value({ answer: text, finish_reason: piece.finishReason, ...figuresValue(piece.figures) });
      } else {
        if (isThinking && piece.kind === 'text') out.write('\n\n');
        isThinking = piece.kind === 'thinking';
        if (!isThinking) text += piece.text;
        out.write(isThinking ? out.style('dim', harmless(piece.text)) : harmless(piece.text));
      }
    }
  } finally {
    endFetches();
  }
}
