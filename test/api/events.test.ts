import type { Runtime } from '../../runtime/runtime.js';
import { STAGE } from '../support/events-stage.js';
import { scenarios } from '../support/scenario.js';
import { CHATS } from './events/chats.js';
import { CONTENT } from './events/content.js';
import { DOCUMENT_EVENTS } from './events/documents.js';
import { GOING } from './events/following.js';
import { READING } from './events/reading.js';
import { LATER, REPLAYS } from './events/replays.js';

scenarios<Runtime>('event logs', STAGE, [...READING, ...CHATS, ...DOCUMENT_EVENTS, ...CONTENT, ...REPLAYS, ...LATER, ...GOING]);
