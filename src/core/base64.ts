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
  const bytes = new Uint8Array(binary.length);
  // Uint8Array.from iterates over the characters, which takes ten times as long for the largest Secret.
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
