import { stage } from '../support/ollama-stage.js';
import { scenarios } from '../support/scenario.js';
import { ANSWERS } from './ollama/answers.js';
import { MODELS } from './ollama/models.js';
import { PROMPTS } from './ollama/prompts.js';
import { REFUSED } from './ollama/refusals.js';

scenarios("Ollama's API", stage, [...ANSWERS, ...PROMPTS, ...MODELS, ...REFUSED]);
