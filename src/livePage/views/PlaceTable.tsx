/** The places of the pipeline as a table: the busiest first. */
import type { LiveGraph, LivePlace } from "../../core/live/liveMessages.ts";
import { shownCount } from "../model/shownFigures.ts";
import { shownText } from "../model/shownText.ts";
import { usePage } from "../page.ts";
import { Table } from "./Table.tsx";

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
      <Table
        label="Table of places"
        columns={[
          "Place",
          "Kind",
          { number: "Values/s" },
          { number: "Waiting" },
          { number: "Dropped" },
          "Written by",
          "Read by",
        ]}
      >
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
      </Table>
    </details>
  );
}
