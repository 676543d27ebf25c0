/** Formats a Table as lines of text, as kubectl prints it. */
import { isJsonObject } from "../../json.ts";
import type { Table } from "./table.ts";

/** Columns in addition to the usual ones. */
export interface TableTextOptions {
  readonly wide: boolean;
  /** Adds a first column with the namespaces; rows must contain their objects. */
  readonly namespaces: boolean;
}

const GAP = 3;
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f]/g;

/**
 * Returns the title line and one line per row. `widths` are the column widths of earlier lines; columns never get
 * narrower.
 */
export function tableText(
  { columnDefinitions, rows }: Pick<Table, "columnDefinitions" | "rows">,
  { wide, namespaces }: TableTextOptions,
  widths: readonly number[] = [],
): { readonly lines: readonly string[]; readonly widths: readonly number[] } {
  const shown = columnDefinitions.flatMap(({ priority }, at) => (wide || priority === 0 ? [at] : []));
  const titles = shown.map((at) => columnDefinitions[at]?.name.toUpperCase() ?? "");
  const table = [
    [...(namespaces ? ["NAMESPACE"] : []), ...titles],
    ...rows.map(({ cells, object }) => [
      ...(namespaces ? [namespaceOf(object)] : []),
      ...shown.map((at) => String(cells[at] ?? "").replaceAll(UNPRINTABLE, "?")),
    ]),
  ];
  const columns = table[0]?.length ?? 0;
  const fitted = Array.from({ length: columns }, (_, at) =>
    Math.max(widths[at] ?? 0, ...table.map((line) => line[at]?.length ?? 0)),
  );
  const lines = table.map((line) =>
    line
      .map((cell, at) => (at === columns - 1 ? cell : cell.padEnd((fitted[at] ?? 0) + GAP)))
      .join("")
      .trimEnd(),
  );
  return { lines, widths: fitted };
}

function namespaceOf(object: unknown): string {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  return isJsonObject(metadata) ? String(metadata["namespace"] ?? "") : "";
}
