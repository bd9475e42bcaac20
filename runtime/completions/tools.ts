export { injectTools, toolHistoryAsText } from './tools/inject.js';
export { parseToolCalls, ToolCallParser } from './tools/parser.js';
