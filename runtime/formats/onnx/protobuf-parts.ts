/** A message or a part of one, as its pieces in order; joined once at the end, so that weights are not copied at each level. */
export type ProtoParts = readonly Uint8Array[];

const LENGTH_WIRE = 2;
const FOUR_BYTES_WIRE = 5;

/** A varint; negative numbers take ten bytes, as 64-bit two's complement. */
function varint(value: number | bigint): Uint8Array {
  const out: number[] = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 0x80n) return Uint8Array.from([...out, Number(rest)]);
    out.push(Number(rest & 0x7fn) | 0x80);
  }
}

/** A field with an integer. */
export function integerField(number: number, value: number | bigint): ProtoParts {
  return [varint(number << 3), varint(value)];
}

/** A field with a 32-bit float. */
export function floatField(number: number, value: number): ProtoParts {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return [varint((number << 3) | FOUR_BYTES_WIRE), bytes];
}

/** A field with bytes. */
export function bytesField(number: number, bytes: Uint8Array): ProtoParts {
  return messageField(number, [bytes]);
}

/** A field with a text, as UTF-8. */
export function textField(number: number, text: string): ProtoParts {
  return messageField(number, [Buffer.from(text, 'utf8')]);
}

/** A field with a message. */
export function messageField(number: number, parts: ProtoParts): ProtoParts {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  return [varint((number << 3) | LENGTH_WIRE), varint(size), ...parts];
}

/** A repeated field of integers, packed. */
export function packedField(number: number, values: readonly (number | bigint)[]): ProtoParts {
  return messageField(number, values.map(varint));
}
