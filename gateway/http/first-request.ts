const HEAD_END = Buffer.from('\r\n\r\n');
/** Bodies of unknown length, and clients that wait for a word before they send theirs. */
const UNUSUAL = /\n(?:transfer-encoding|expect)[ \t]*:/i;
const LENGTHS = /\ncontent-length[ \t]*:([^\r]*)\r/gi;

/**
 * True where the first bytes of a connection are one whole head of HTTP/1.1 and no more than the body whose length it tells. False for a body of
 * unknown length, a client that expects `100 Continue`, two lengths, a head that has not come to its end, and a request behind the first.
 */
export function isOrdinary(first: Buffer): boolean {
  const end = first.indexOf(HEAD_END);
  if (end < 0) return false;
  const head = first.toString('latin1', 0, end + 2);
  if (!head.startsWith(' HTTP/1.1\r', head.indexOf('\r') - 9) || UNUSUAL.test(head)) return false;
  const lengths = [...head.matchAll(LENGTHS)];
  return lengths.length < 2 && first.length - end - HEAD_END.length <= Number(lengths[0]?.[1]?.trim() ?? 0);
}
