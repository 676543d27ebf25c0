/** Breaks a text into lines of at most `width` characters, between words where that is possible. Pure. */

const ELLIPSIS = "\u2026";

/** Wraps to at most `maxLines` lines; an ellipsis ends a text that needs more. */
export function wrapText(text: string, width: number, maxLines: number): readonly string[] {
  const columns = Math.max(1, width);
  const lines: string[] = [];
  let rest = text.trim();
  while (rest !== "" && lines.length < maxLines) {
    const line = rest.length <= columns ? rest : rest.slice(0, breakAt(rest, columns)).trimEnd();
    rest = rest.slice(line.length).trimStart();
    lines.push(rest === "" || lines.length + 1 < maxLines ? line : `${line.slice(0, columns - 1)}${ELLIPSIS}`);
  }
  return lines;
}

/** The end of the last word that fits; the width itself when the first word is longer. */
function breakAt(text: string, columns: number): number {
  const end = text.lastIndexOf(" ", columns);
  return end <= 0 ? columns : end;
}
