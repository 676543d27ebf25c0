/** The lines of the fields in a JSON text. One pass, without recursion; the text must be valid JSON. */

/** The text itself, a member of an object or an item of a list. */
export interface JsonField {
  /** Names and indexes from the top of the text. The array is reused for the next field. */
  readonly steps: readonly string[];
  /** Counts from 1. */
  readonly line: number;
}

/** A collection that the scan is inside of. */
type Open = { readonly kind: "object"; awaitsName: boolean } | { readonly kind: "list"; index: number };

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},\n]|[^\s":,[\]{}]+/g;

/** Yields each field at the line of its name, the text and items of lists at the line on which they begin. */
export function* jsonFields(text: string): Generator<JsonField, void> {
  const open: Open[] = [];
  const steps: string[] = [];
  let line = 1;
  for (const [token] of text.matchAll(TOKEN)) {
    const top = open.at(-1);
    if (token === "\n") line += 1;
    else if (token === "}" || token === "]") {
      open.pop();
      steps.length = open.length;
    } else if (token === ",") {
      if (top?.kind === "list") top.index += 1;
      else if (top !== undefined) top.awaitsName = true;
    } else if (top?.kind === "object" && top.awaitsName) {
      top.awaitsName = false;
      steps[open.length - 1] = JSON.parse(token) as string;
      yield { steps, line };
    } else {
      if (top?.kind === "list") steps[open.length - 1] = String(top.index);
      if (top?.kind !== "object") yield { steps, line };
      if (token === "{") open.push({ kind: "object", awaitsName: true });
      else if (token === "[") open.push({ kind: "list", index: 0 });
    }
  }
}
