import type { Runtime } from '../../runtime/runtime.js';
import { scenarios } from '../support/scenario.js';
import { STAGE } from '../support/universal-stage.js';
import { ANSWERS } from './universal/answers.js';
import { CONTEXTS } from './universal/contexts.js';
import { FORMS } from './universal/forms.js';
import { REFUSALS } from './universal/refusals.js';
import { TOOL_CALLS } from './universal/tool-calls.js';

scenarios<Runtime>('the universal runtime', STAGE, [...ANSWERS, ...TOOL_CALLS, ...FORMS, ...CONTEXTS, ...REFUSALS]);
