/**
 * Makes foreign text harmless to read: bounded, on one line, and without characters that are invisible or reorder what
 * is around them. The page shows texts as text nodes, so markup needs no escape.
 */

/** Control characters, and characters that change the direction or have no width. */
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** Maximum number of characters of a text in a table or label. */
export const MAX_SHOWN = 400;
const CUT = "\u2026";
const PLACEHOLDER = "\ufffd";

/** Returns at most `max` characters, with a replacement character for each unshown one; line breaks become spaces. */
export function shownText(text: string, max = MAX_SHOWN): string {
  const cut = text.length > max ? `${wholeCharacters(text, max - 1)}${CUT}` : text;
  return cut.replace(UNSHOWN, shownFor);
}

const shownFor = (found: string): string => (found === "\n" || found === "\t" || found === "\r" ? " " : PLACEHOLDER);

/** Cuts before a character that takes two code units and has room for one. */
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
