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
      'Content-Security-Policy': "sandbox; default-src 'none'",
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'private, no-cache',
    },
  };
}

/** A disposition with a name in the form that every browser reads, and in letters of ASCII for the others. */
export function disposition(kind: 'inline' | 'attachment', name: string): string {
  const short = name.slice(0, 200).replaceAll(/\p{Surrogate}/gu, '_');
  const plain = short.replaceAll(/[^\w .()+-]/g, '_');
  const coded = encodeURIComponent(short).replaceAll(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${kind}; filename="${plain}"; filename*=UTF-8''${coded}`;
}
