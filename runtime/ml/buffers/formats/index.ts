import type { ExportType, Format } from '../contract.js';
import { arrow } from './arrow.js';
import { csv, json } from './text.js';

/** Every form in which rows go out, by its media type. */
export const FORMATS = {
  'application/json': json,
  'text/csv': csv,
  'application/vnd.apache.arrow.stream': arrow,
} satisfies Record<ExportType, Format>;
