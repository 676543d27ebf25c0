/** Returns the length of a text in UTF-8, in bytes. A lone surrogate counts as the replacement character. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    bytes += code < 0x800 ? 1 : 2;
    // Both halves of a pair make four bytes.
    if (isHighSurrogate(code) && isLowSurrogate(text.charCodeAt(at + 1))) at += 1;
  }
  return bytes;
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
