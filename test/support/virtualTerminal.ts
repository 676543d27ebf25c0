/** A terminal of the few sequences the live table writes; what a person would see on its screen. */

/** Applies the text to a screen that grows downwards; any other sequence throws. */
export function screenAfter(...chunks: readonly string[]): readonly string[] {
  const lines: string[] = [""];
  let row = 0;
  let column = 0;
  for (const text of chunks) {
    for (const [token, count, command] of text.matchAll(/\u001b\[(\d*)([A-Za-z])|\n|\r|[^\u001b\n\r]+/g)) {
      const line = lines[row] ?? "";
      if (token === "\n") {
        row += 1;
        column = 0;
        if (row === lines.length) lines.push("");
      } else if (token === "\r") column = 0;
      else if (command === "A") row = Math.max(0, row - Number(count));
      else if (command === "K") lines[row] = line.slice(0, column);
      else if (command === "J") lines.splice(row, lines.length - row, line.slice(0, column));
      else if (command !== undefined) throw new Error(`sequence ${JSON.stringify(token)} is not of this terminal`);
      else {
        lines[row] = line.slice(0, column).padEnd(column) + token + line.slice(column + token.length);
        column += token.length;
      }
    }
  }
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
