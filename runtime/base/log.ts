import { withoutTextSecrets } from '../../schemas/secrets.js';

/** Severity of a log line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const ORDER: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };
let threshold: LogLevel =
  (process.env.LOG_LEVEL?.toLowerCase() as LogLevel) in ORDER ? (process.env.LOG_LEVEL!.toLowerCase() as LogLevel) : 'info';
const asJson = /^(1|true|yes)$/i.test(process.env.LOG_JSON_FORMAT ?? '');

/** Hides the values of keys, tokens and passwords in a text that leaves the process (threat T33). */
export function redact(text: string): string {
  return withoutTextSecrets(text, '[redacted]');
}

/** Sets the lowest level that is written. */
export function setLogLevel(level: LogLevel): void {
  threshold = level;
}

/** Writes one line to standard error: plain text, or JSON when `LOG_JSON_FORMAT` is set. Secrets are redacted. */
export function log(level: LogLevel, message: string, fields: Record<string, unknown> = {}): void {
  if (ORDER[level] < ORDER[threshold]) return;
  const time = new Date().toISOString();
  const shown = Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? (value.stack ?? value.message) : value]),
  );
  if (asJson) {
    process.stderr.write(`${redact(JSON.stringify({ time, level, message, ...shown }))}\n`);
    return;
  }
  const tail = Object.entries(shown)
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('');
  process.stderr.write(`${redact(`${time} ${level} ${message}${tail}`)}\n`);
}
