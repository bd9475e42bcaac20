import { extname } from 'node:path';

const UNKNOWN = 'application/octet-stream';
const OFFICE = 'application/vnd.openxmlformats-officedocument';

/** Types by extension, for files whose client named none. */
const TYPES: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.csv': 'text/csv',
  '.tsv': 'text/tab-separated-values',
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.pdf': 'application/pdf',
  '.docx': `${OFFICE}.wordprocessingml.document`,
  '.xlsx': `${OFFICE}.spreadsheetml.sheet`,
  '.pptx': `${OFFICE}.presentationml.presentation`,
  '.doc': 'application/msword',
  '.xls': 'application/vnd.ms-excel',
  '.ppt': 'application/vnd.ms-powerpoint',
  '.odt': 'application/vnd.oasis.opendocument.text',
  '.ods': 'application/vnd.oasis.opendocument.spreadsheet',
  '.odp': 'application/vnd.oasis.opendocument.presentation',
  '.rtf': 'application/rtf',
  '.epub': 'application/epub+zip',
  '.eml': 'message/rfc822',
  '.msg': 'application/vnd.ms-outlook',
  '.zip': 'application/zip',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.tif': 'image/tiff',
  '.tiff': 'image/tiff',
  '.bmp': 'image/bmp',
};

/** The media type of an upload: what its client says, else what its name suggests. */
export function mimeTypeOf(name: string, given: string): string {
  const said = given.split(';')[0]!.trim().toLowerCase();
  if (said !== '' && said !== UNKNOWN) return said;
  return TYPES[extname(name).toLowerCase()] ?? UNKNOWN;
}
