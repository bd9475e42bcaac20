import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, type Stats, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { Failure } from '../../schemas/errors.js';
import type { TlsIdentity } from '../http/index.js';

/** Where certificate and key lie, both in PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** What https is served with, and what its keeper should know. */
export interface ReadTls {
  readonly identity: TlsIdentity;
  /** The names that the certificate is for, without wildcards. */
  readonly names: readonly string[];
  /** What is not right, and no reason to refuse. */
  readonly warnings: readonly string[];
}

/** A PEM file of this kind has hundreds of bytes; a bundle of certificates a few KB. */
const MOST_BYTES = 1024 ** 2;
/** How long before its end a certificate is warned about. */
const SOON_MS = 7 * 24 * 3600 * 1000;

function refuse(message: string, cause?: unknown): Failure {
  return new Failure('bad_request', message, { cause });
}

/** The text of a PEM file. Throws `bad_request` that names the flag and the file; what has no end, such as a pipe or a device, is not read. */
export function readPem(flag: string, path: string): string {
  let file: Stats;
  let text = '';
  try {
    file = statSync(path);
    if (file.isFile() && file.size <= MOST_BYTES) text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const reasons: Record<string, string> = { ENOENT: 'there is no such file', EACCES: 'this user may not read it' };
    throw refuse(`--${flag} ${path}: ${reasons[code ?? ''] ?? code}.`, error);
  }
  if (!file.isFile())
    throw refuse(`--${flag} ${path}: it is ${file.isDirectory() ? 'a folder' : 'a pipe or a device, and a file is wanted'}.`);
  if (file.size > MOST_BYTES) throw refuse(`--${flag} ${path}: the file is over 1 MiB, which no certificate or key is.`);
  if (!text.includes('-----BEGIN ')) throw refuse(`--${flag} ${path}: it is not PEM, whose lines begin with "-----BEGIN".`);
  return text;
}

/** The first certificate in the text of a PEM file. Throws `bad_request` that names the flag and the file. */
export function certificateOf(flag: string, path: string, text: string): X509Certificate {
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    const isKey = text.includes('PRIVATE KEY-----');
    throw refuse(`--${flag} ${path}: it holds ${isKey ? 'a key, which belongs behind --tls-key, and ' : ''}no certificate.`);
  }
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw refuse(`--${flag} ${path}: its first certificate is damaged.`, error);
  }
}

function keyOf(path: string, text: string): KeyObject {
  if (!text.includes('PRIVATE KEY-----'))
    throw refuse(
      `--tls-key ${path}: it holds no private key${text.includes('BEGIN CERTIFICATE') ? ' but a certificate, which belongs behind --tls-cert' : ''}.`,
    );
  try {
    return createPrivateKey(text);
  } catch (error) {
    const isLocked = /ENCRYPTED/.test(text);
    const said = isLocked
      ? `the key is encrypted with a passphrase: write a plain one with "openssl pkey -in ${path} -out plain.pem"`
      : 'the key is damaged';
    throw refuse(`--tls-key ${path}: ${said}.`, error);
  }
}

function warningsOf(path: string, { validFrom, validTo }: X509Certificate): string[] {
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  if (Date.now() > to) return [`the certificate in ${path} has expired on ${validTo}: clients will refuse it`];
  if (Date.now() < from) return [`the certificate in ${path} is valid from ${validFrom} on: clients will refuse it until then`];
  return to - Date.now() < SOON_MS ? [`the certificate in ${path} expires on ${validTo}: replace it and send SIGHUP`] : [];
}

/**
 * Reads certificate and key. Throws `bad_request` that names the flag, the file and what is wrong with it; a certificate that has expired is
 * no reason.
 */
export function readTls(files: TlsFiles): ReadTls {
  const [cert, key] = [readPem('tls-cert', files.cert), readPem('tls-key', files.key)];
  const certificate = certificateOf('tls-cert', files.cert, cert);
  if (!certificate.checkPrivateKey(keyOf(files.key, key)))
    throw refuse(`--tls-key ${files.key}: the key does not belong to the (first) certificate in ${files.cert}.`);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw refuse(`--tls-cert ${files.cert}: TLS does not take it (${(error as Error).message}).`, error);
  }
  const names = (certificate.subjectAltName ?? '').split(', ').flatMap((name) => /^(?:DNS|IP Address):([^*]+)$/.exec(name)?.[1] ?? []);
  return { identity: { cert, key }, names, warnings: warningsOf(files.cert, certificate) };
}
