import { STATUS_CODES } from 'node:http';
import type { HeaderList } from './transport.js';

const statusLines = new Map<number, string>();

/** What stands behind the version in an answer's first line: `200 OK`. */
export function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    statusLines.set(status, line);
  }
  return line;
}

/** The headers of the last answer after the first, and their text: most answers differ in their request id alone, which comes first. */
let lastTail: HeaderList = [];
let lastTailText = '';

/** All headers but the first, as the lines that follow the value of the first. */
export function tailOf(headers: HeaderList): string {
  let index = headers.length === lastTail.length ? 2 : headers.length;
  while (index < headers.length && headers[index] === lastTail[index]) index += 1;
  if (index === headers.length && headers.length === lastTail.length) return lastTailText;
  const lines: string[] = [];
  for (let at = 2; at < headers.length; at += 2) lines.push(`\r\n${headers[at]}: ${headers[at + 1]}`);
  lastTail = headers;
  lastTailText = lines.join('');
  return lastTailText;
}

/** The same headers, with the word that the connection ends behind the answer. */
export function closing(headers: HeaderList): HeaderList {
  const kept: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]!.toLowerCase() !== 'connection') kept.push(headers[index]!, headers[index + 1]!);
  }
  return [...kept, 'Connection', 'close'];
}
