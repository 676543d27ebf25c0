/** The hash FNV-1a of 32 bits, as Go's hash/fnv computes it. */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

const utf8 = new TextEncoder();

/** Returns the hash of the text in UTF-8. */
export function fnv32a(text: string): number {
  let hash = OFFSET;
  for (const byte of utf8.encode(text)) hash = Math.imul(hash ^ byte, PRIME);
  return hash >>> 0;
}
