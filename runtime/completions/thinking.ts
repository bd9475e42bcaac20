import type { GgufInfo } from '../engines/contracts/language.js';
import type { PlainMessage } from './messages.js';

/** How a model is told to think or not. */
export interface ThinkingPlan {
  /** For templates that take `enable_thinking`. */
  enableThinking?: boolean;
  /** For models that read a word in the last user message. */
  softSwitch?: '/think' | '/no_think';
}

const SWITCH_WORD = /(?:^|\s)\/(?:no_)?think(?:\s|$)/;

/** Chooses the switch that a model's template understands; only `true` turns thinking on. */
export function thinkingPlan(info: Pick<GgufInfo, 'template' | 'architecture'>, think: boolean | undefined): ThinkingPlan {
  const on = think === true;
  if (info.template.thinking) return { enableThinking: on };
  const knowsWord = /\/(?:no_)?think\b/.test(info.template.text ?? '') || /^qwen3/i.test(info.architecture);
  return knowsWord ? { softSwitch: on ? '/think' : '/no_think' } : {};
}

/** Appends the soft switch to the last user message, unless a switch stands there already. The input stays as it is. */
export function withSoftSwitch(messages: readonly PlainMessage[], plan: ThinkingPlan): PlainMessage[] {
  const at = plan.softSwitch ? messages.findLastIndex((message) => message.role === 'user') : -1;
  return messages.map((message, index) =>
    index === at && !SWITCH_WORD.test(message.content) ? { ...message, content: `${message.content} ${plan.softSwitch}` } : message,
  );
}
