/** Calls to the runtime and to the API server, with their latencies as small plots. */
import type { LiveCalls } from "../../core/live/liveMessages.ts";
import { callKey, MAX_CALLS, rankedCalls, type Series } from "../model/nodeHistory.ts";
import { shownCount, shownDuration } from "../model/shownFigures.ts";
import { shownText } from "../model/shownText.ts";
import { usePage } from "../page.ts";
import { Table } from "./Table.tsx";

const WIDTH = 180;
const HEIGHT = 22;

export function CallTable({ calls }: { readonly calls: readonly LiveCalls[] }) {
  const { history } = usePage();
  return (
    <section aria-label="Calls">
      <h3>Calls</h3>
      {calls.length === 0 && <p class="muted">No calls yet.</p>}
      <Table
        label="Table of calls"
        kind="calls"
        columns={[
          "Call",
          "To",
          { number: "Count" },
          { number: "Failed" },
          { number: "Mean" },
          { number: "Longest" },
          "Mean latency over time",
        ]}
      >
        {rankedCalls(calls)
          .slice(0, MAX_CALLS)
          .map((call) => (
            <tr key={callKey(call)}>
              <th scope="row">{shownText(call.name, 80)}</th>
              <td>{call.target === "api" ? "API server" : "runtime"}</td>
              <td class="number">{shownCount(call.count)}</td>
              <td class={`number${call.failed > 0 ? " failed" : ""}`}>{shownCount(call.failed)}</td>
              <td class="number">{call.meanMs === undefined ? "" : shownDuration(call.meanMs)}</td>
              <td class="number">{call.maxMs === undefined ? "" : shownDuration(call.maxMs)}</td>
              <td>
                <Spark name={call.name} series={history.value.calls.get(callKey(call)) ?? []} />
              </td>
            </tr>
          ))}
      </Table>
    </section>
  );
}

/** Points of a small plot. */
const POINTS = 75;

function Spark({ name, series }: { readonly name: string; readonly series: Series }) {
  const shown = series.slice(-POINTS);
  const most = Math.max(1, ...shown.map((value) => value ?? 0));
  const points = shown.flatMap((value, at) => {
    if (value === null) return [];
    // The latest value is at the right edge.
    return [
      `${(((at + POINTS - shown.length) * WIDTH) / (POINTS - 1)).toFixed(1)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)}`,
    ];
  });
  const said = `Mean latency of ${shownText(name, 80)}, at most ${shownDuration(most)}`;
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT} role="img" aria-label={said}>
      {points.map((point) => {
        const [x, y] = point.split(",");
        return points.length < 3 && <circle key={point} cx={x} cy={y} r={1.5} />;
      })}
      <polyline points={points.join(" ")} />
    </svg>
  );
}
