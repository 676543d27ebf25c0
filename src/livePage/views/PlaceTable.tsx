/** The places of the pipeline as a table: the busiest first. */
import type { LiveGraph, LivePlace } from "../../core/live/liveMessages.ts";
import { shownCount } from "../model/shownFigures.ts";
import { shownText } from "../model/shownText.ts";
import { usePage } from "../page.ts";

const MAX_PLACES = 500;

export function PlaceTable({ graph }: { readonly graph: LiveGraph }) {
  const flows = usePage().flow.value;
  const rate = ({ name }: LivePlace): number => flows.get(name)?.perSecond ?? 0;
  const places = graph.places.slice(0, MAX_PLACES).toSorted((a, b) => rate(b) - rate(a));
  const partsOf = (place: string, what: "reads" | "writes"): string =>
    shownText(
      graph.parts
        .filter((part) => part[what].includes(place))
        .map(({ name }) => name)
        .join(", "),
    );
  return (
    <details class="places" open>
      <summary>Places, the busiest first</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of places">
        <table>
          <thead>
            <tr>
              <th scope="col">Place</th>
              <th scope="col">Kind</th>
              <th scope="col" class="number">
                Values/s
              </th>
              <th scope="col" class="number">
                Waiting
              </th>
              <th scope="col" class="number">
                Dropped
              </th>
              <th scope="col">Written by</th>
              <th scope="col">Read by</th>
            </tr>
          </thead>
          <tbody>
            {places.map(({ name, kind }) => {
              const flow = flows.get(name);
              return (
                <tr key={name}>
                  <th scope="row">{shownText(name, 64)}</th>
                  <td>{kind}</td>
                  <td class="number">{shownCount(Math.round((flow?.perSecond ?? 0) * 10) / 10)}</td>
                  <td class="number">{flow?.depth === undefined ? "" : shownCount(flow.depth)}</td>
                  <td class={`number${(flow?.dropped ?? 0) > 0 ? " failed" : ""}`}>
                    {flow?.dropped === undefined ? "" : shownCount(flow.dropped)}
                  </td>
                  <td>{partsOf(name, "writes")}</td>
                  <td>{partsOf(name, "reads")}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </details>
  );
}
