/** A table that scrolls sideways in its own frame, so that a narrow screen shows the whole page. */
import type { ComponentChildren } from "preact";

/** The head of a column: of figures, which stand at the right, or of text. */
type Column = string | { readonly number: string };

export function Table({
  label,
  kind,
  columns,
  children,
}: {
  readonly label: string;
  readonly kind?: string;
  readonly columns: readonly Column[];
  /** The rows. */
  readonly children: ComponentChildren;
}) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={kind}>
        <thead>
          <tr>
            {columns.map((column) =>
              typeof column === "string" ? (
                <th key={column} scope="col">
                  {column}
                </th>
              ) : (
                <th key={column.number} scope="col" class="number">
                  {column.number}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
