/** Base64 as the API encodes bytes: standard alphabet, padded; line breaks are ignored when decoding. */

/** Encodes bytes as base64 text. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Decodes valid base64 text. Throws for any other text. */
export function decodeBase64(text: string): Uint8Array {
  const binary = atob(text);
  // Uint8Array.from iterates over the characters, which takes ten times as long for the largest Secret.
  return new Uint8Array(binary.length).map((_, index) => binary.charCodeAt(index));
}
