const encoder = new TextEncoder();

/** Returns the length of a text in UTF-8, in bytes. */
export const utf8Length = (text: string): number => encoder.encode(text).length;
