import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A self-signed certificate and its key, both in PEM. */
export interface SelfSigned {
  readonly cert: string;
  readonly key: string;
}

/** One DER value: tag, length, content. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const bytes: number[] = [];
  for (let left = content.length; left > 0; left >>= 8) bytes.unshift(left & 255);
  return Buffer.concat([Buffer.from([tag, ...(content.length < 128 ? [content.length] : [128 + bytes.length, ...bytes])]), content]);
}

const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const ECDSA_SHA256 = sequence(identifier('2a8648ce3d040302'));
const COMMON_NAME = identifier('550403');
const ALTERNATIVE_NAMES = identifier('551d11');

const time = (at: Date): Buffer => der(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));

/** A certificate for `names`, signed by its own key; valid from a day ago to `days` from now, which may be negative. */
export function selfSigned(names: readonly string[] = ['localhost'], days = 30): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(names[0]!)))));
  const day = 24 * 3600 * 1000;
  const validity = sequence(time(new Date(Date.now() + Math.min(days - 1, -1) * day)), time(new Date(Date.now() + days * day)));
  const alternatives = sequence(...names.map((one) => der(0x82, Buffer.from(one))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1]), randomBytes(8)),
    ...[ECDSA_SHA256, name, validity, name],
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(ALTERNATIVE_NAMES, der(0x04, alternatives)))),
  );
  const signature = sign('sha256', body, privateKey);
  const bytes = sequence(body, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
