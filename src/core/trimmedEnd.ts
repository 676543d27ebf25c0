/**
 * Returns `text` without its trailing characters that are in `chars`. A regular expression such as `/0+$/` takes
 * quadratic time on a run that does not reach the end.
 */
export function trimmedEnd(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
