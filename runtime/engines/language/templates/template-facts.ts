import { createHash } from 'node:crypto';
import type { GgufInfo } from '../../contracts/language.js';
import { KNOWN_TEMPLATES } from './known-templates.js';

/** 16 hex digits that tell chat templates apart; empty for none. */
export function templateHash(template: string): string {
  return template === '' ? '' : createHash('sha256').update(template).digest('hex').slice(0, 16);
}

/** What is told of a chat template: `own` = that of the model's files, empty for none; `used` = text or known name of that by which conversations are written. */
export function templateFacts(own: string, used: string): GgufInfo['template'] {
  const text = Object.hasOwn(KNOWN_TEMPLATES, used) ? KNOWN_TEMPLATES[used]!.template : used;
  return {
    present: own !== '',
    text,
    hash: templateHash(own),
    tools: /\btools\b/.test(text),
    thinking: text.includes('enable_thinking'),
  };
}
