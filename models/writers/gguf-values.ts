/** GGUF's numbers of the metadata value types. */
export const VALUE_TYPES = {
  u8: 0,
  i8: 1,
  u16: 2,
  i16: 3,
  u32: 4,
  i32: 5,
  f32: 6,
  bool: 7,
  string: 8,
  array: 9,
  u64: 10,
  i64: 11,
  f64: 12,
} as const;

/** Name of a metadata type that holds one value. */
export type ScalarType = Exclude<keyof typeof VALUE_TYPES, 'array'>;

/** What one metadata value may be in TypeScript: 64-bit integers take numbers up to 2^53 or bigints. */
export type Scalar = number | bigint | boolean | string;

/** A metadata value with its type. */
export type GgufValue =
  | { readonly type: ScalarType; readonly value: Scalar }
  | { readonly type: 'array'; readonly of: ScalarType; readonly values: readonly Scalar[] };

/** Metadata in file order. */
export type GgufMetadata = readonly (readonly [key: string, value: GgufValue])[];

/** A string value. */
export const text = (value: string): GgufValue => ({ type: 'string', value });
/** An unsigned 32-bit value, the usual type of sizes and token ids. */
export const u32 = (value: number): GgufValue => ({ type: 'u32', value });
/** A 32-bit float value. */
export const f32 = (value: number): GgufValue => ({ type: 'f32', value });
/** A yes or no. */
export const flag = (value: boolean): GgufValue => ({ type: 'bool', value });
/** An array of one scalar type. */
export const list = (of: ScalarType, values: readonly Scalar[]): GgufValue => ({ type: 'array', of, values });

const WIDTH: Record<Exclude<ScalarType, 'string'>, number> = {
  u8: 1,
  i8: 1,
  bool: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
  u64: 8,
  i64: 8,
  f64: 8,
};

/** A length or count as GGUF writes it: 64 bits, little-endian. */
export function encodeU64(value: number | bigint): Buffer {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt(value));
  return out;
}

/** A type number or version as GGUF writes it: 32 bits, little-endian. */
export function encodeU32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(value);
  return out;
}

/** A length-prefixed UTF-8 string. */
export function encodeString(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([encodeU64(bytes.length), bytes]);
}

function encodeScalar(type: ScalarType, value: Scalar): Buffer {
  if (type === 'string') return encodeString(String(value));
  const out = Buffer.alloc(WIDTH[type]);
  if (type === 'u64') out.writeBigUInt64LE(BigInt(value));
  else if (type === 'i64') out.writeBigInt64LE(BigInt(value));
  else if (type === 'f32') out.writeFloatLE(Number(value));
  else if (type === 'f64') out.writeDoubleLE(Number(value));
  else if (type === 'i8' || type === 'i16' || type === 'i32') out.writeIntLE(Number(value), 0, WIDTH[type]);
  else out.writeUIntLE(Number(value), 0, WIDTH[type]);
  return out;
}

/** Type number and bytes of a metadata value; throws RangeError where a number does not fit its type. */
export function encodeValue(value: GgufValue): Buffer {
  if (value.type !== 'array') return Buffer.concat([encodeU32(VALUE_TYPES[value.type]), encodeScalar(value.type, value.value)]);
  const head = [encodeU32(VALUE_TYPES.array), encodeU32(VALUE_TYPES[value.of]), encodeU64(value.values.length)];
  return Buffer.concat([...head, ...value.values.map((item) => encodeScalar(value.of, item))]);
}
