/** The sources of the node as a table: those that are down first. */
import type { LiveSourceHealth } from "../../core/live/liveMessages.ts";
import { shownCount } from "../model/shownFigures.ts";
import { shownText } from "../model/shownText.ts";

const MAX_SHOWN_SOURCES = 64;

export function SourceTable({ sources }: { readonly sources: readonly LiveSourceHealth[] }) {
  return (
    <details class="places" open>
      <summary>Sources, those that are down first</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of sources">
        <table>
          <thead>
            <tr>
              <th scope="col">Source</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Restarts
              </th>
            </tr>
          </thead>
          <tbody>
            {sources.slice(0, MAX_SHOWN_SOURCES).map(({ name, isUp, restarts }) => (
              <tr key={name}>
                <th scope="row">{shownText(name, 64)}</th>
                <td class={isUp ? "" : "failed"}>{isUp ? "up" : "down"}</td>
                <td class="number">{shownCount(restarts)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
