import { createReadStream } from 'node:fs';
import type { Reply, Request } from '../../schemas/endpoint.js';

/** What browsers may show where they meet it; of texts nothing but their letters. */
const SHOWN: Readonly<Record<string, string>> = {
  'application/pdf': 'application/pdf',
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/webp': 'image/webp',
  'image/gif': 'image/gif',
  'audio/wav': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/mpeg': 'audio/mpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/ogg': 'audio/ogg',
  'audio/flac': 'audio/flac',
  'audio/x-flac': 'audio/flac',
  'audio/mp4': 'audio/mp4',
  'audio/m4a': 'audio/mp4',
  'audio/x-m4a': 'audio/mp4',
  'text/plain': 'text/plain; charset=utf-8',
};
/** Browsers show PDFs by a program of their own, which a sandbox would keep from starting. */
const POLICY: Readonly<Record<string, string>> = { 'application/pdf': "default-src 'none'; object-src 'self'; frame-ancestors 'self'" };
/** Media types that a file answer may have. */
export const FILE_MEDIA_TYPES: readonly string[] = [...new Set(Object.values(SHOWN)), 'application/octet-stream'].map(
  (type) => type.split(';')[0]!,
);

/** The headers of a file that somebody uploaded, by the type that it was said to have: no page of ours ever runs what is in it. */
export function fileHeaders(name: string, mediaType: string, isDownload = false): { contentType: string; headers: Record<string, string> } {
  const type = isDownload ? undefined : SHOWN[mediaType.toLowerCase()];
  return {
    contentType: type ?? 'application/octet-stream',
    headers: {
      'Content-Disposition': disposition(type ? 'inline' : 'attachment', name),
      'Content-Security-Policy': POLICY[type ?? ''] ?? "sandbox; default-src 'none'",
      'Cache-Control': 'private, no-cache',
    },
  };
}

/** A disposition with a name in the form that every browser reads, and in letters of ASCII for the others. */
export function disposition(kind: 'inline' | 'attachment', name: string): string {
  const short = shortened(name).replaceAll(/\p{Surrogate}/gu, '_');
  const plain = short.replaceAll(/[^\w .()+-]/g, '_');
  const coded = encodeURIComponent(short).replaceAll(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${kind}; filename="${plain}"; filename*=UTF-8''${coded}`;
}

/** A name of at most 200 letters that keeps its ending, by which systems know what opens it. */
function shortened(name: string): string {
  if (name.length <= 200) return name;
  const ending = /\.[^./\\]{1,20}$/.exec(name)?.[0] ?? '';
  return name.slice(0, 200 - ending.length) + ending;
}

/** Whether `If-None-Match` names a tag: one of a list, weakly compared, or `*`. */
export function hasTag(header: string | undefined, tag: string): boolean {
  const tags = (header ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}

/** A file on disk for an answer. */
export interface AnsweredFile {
  readonly path: string;
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** SHA-256 of its bytes in hex. */
  readonly hash: string;
}

/** A file piece by piece, or the range of it that the request wants; nothing where the client has it already. */
export function fileAnswer({ path, name, mimeType, sizeBytes, hash }: AnsweredFile, request: Request, isDownload: boolean): Reply {
  const { contentType, headers: safe } = fileHeaders(name, mimeType, isDownload);
  const tag = `"${hash}"`;
  const headers = { ...safe, ETag: tag, 'Accept-Ranges': 'bytes' };
  if (hasTag(request.header('if-none-match'), tag)) return { status: 304, headers };
  const condition = request.header('if-range');
  const range = condition === undefined || condition === tag ? rangeOf(request.header('range'), sizeBytes) : undefined;
  if (range === 'none') return { status: 416, headers: { ...headers, 'Content-Range': `bytes */${sizeBytes}` }, bytes: '', contentType };
  if (sizeBytes === 0) return { headers, bytes: '', contentType };
  const [start, end] = range ?? [0, sizeBytes - 1];
  const pieces = createReadStream(path, { start, end });
  if (!range) return { headers, pieces, length: sizeBytes, contentType };
  const place = `bytes ${start}-${end}/${sizeBytes}`;
  return { status: 206, headers: { ...headers, 'Content-Range': place }, pieces, length: end - start + 1, contentType };
}

/** The first and the last byte of the one range that a header asks for, `none` where the file has no byte of it; undefined for all else, which is answered with the whole file. */
export function rangeOf(header: string | undefined, sizeBytes: number): [start: number, end: number] | 'none' | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  const start = from === '' ? Math.max(0, sizeBytes - Number(to)) : Number(from);
  const end = from === '' || to === '' ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1);
  return start <= end ? [start, end] : 'none';
}
