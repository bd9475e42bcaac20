/** One step of FNV-1a over a code unit. */
export function step(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193);
}

/** The last mixing of MurmurHash3, after which every bit depends on every unit. */
export function mixed(hash: number): number {
  let value = hash;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
