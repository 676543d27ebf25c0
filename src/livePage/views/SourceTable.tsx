/** The sources of the node as a table: those that are down first. */
import type { LiveSourceHealth } from "../../core/live/liveMessages.ts";
import { shownCount } from "../model/shownFigures.ts";
import { shownText } from "../model/shownText.ts";
import { Table } from "./Table.tsx";

const MAX_SHOWN_SOURCES = 64;

export function SourceTable({ sources }: { readonly sources: readonly LiveSourceHealth[] }) {
  return (
    <details class="places" open>
      <summary>Sources, those that are down first</summary>
      <Table label="Table of sources" columns={["Source", "State", { number: "Restarts" }]}>
        {sources.slice(0, MAX_SHOWN_SOURCES).map(({ name, isUp, restarts }) => (
          <tr key={name}>
            <th scope="row">{shownText(name, 64)}</th>
            <td class={isUp ? "" : "failed"}>{isUp ? "up" : "down"}</td>
            <td class="number">{shownCount(restarts)}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}
