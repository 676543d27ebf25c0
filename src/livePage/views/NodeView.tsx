/** The node: usage, pressure and evictions, devices, and the latencies of its calls. */
import type { LiveNode } from "../../core/live/liveMessages.ts";
import { shownBytes, shownCount, shownShare } from "../model/shownFigures.ts";
import { shownText } from "../model/shownText.ts";
import { usePage } from "../page.ts";
import { CallTable } from "./CallTable.tsx";
import { Plot } from "./Plot.tsx";
import { Table } from "./Table.tsx";

const MAX_LISTED = 200;

export function NodeView() {
  const node = usePage().node.value;
  return (
    <section class="node-view" aria-label="Node">
      <h2 class="hidden">Node</h2>
      {node === undefined ? <p class="muted">Waiting for the node's figures.</p> : <Node node={node} />}
    </section>
  );
}

function Node({ node }: { readonly node: LiveNode }) {
  const { problems, pressures } = node;
  return (
    <>
      <p class="health">
        {problems.length === 0 && pressures.length === 0 && <span class="badge good">healthy</span>}
        {pressures.map((pressure) => (
          <span key={pressure} class="badge failed">
            {shownText(pressure, 40)}
          </span>
        ))}
        {problems.slice(0, MAX_LISTED).map((problem) => (
          <span key={problem} class="failed">
            {shownText(problem)}
          </span>
        ))}
      </p>
      <Usage node={node} />
      <div class="columns">
        <Pressure node={node} />
        <Garbage node={node} />
        <Devices node={node} />
      </div>
      <CallTable calls={node.calls} />
    </>
  );
}

const cores = (millis: number): string => `${(millis / 1000).toFixed(millis < 10_000 ? 2 : 1)} cores`;

/** Distances between ticks. */
const CORE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500].map((cores) => cores * 1_000);
const BYTE_STEPS = Array.from({ length: 41 }, (_, power) => 2 ** (power + 10));

function Usage({ node: { usage } }: { readonly node: LiveNode }) {
  const { at, cpu, memory, disk } = usePage().history.value;
  const figures = [
    ["CPU", cpu, usage.cpuMillis, usage.cpuCapacityMillis, cores, CORE_STEPS, 0],
    ["Memory", memory, usage.memoryBytes, usage.memoryCapacityBytes, shownBytes, BYTE_STEPS, 1],
    ["Disk", disk, usage.diskBytes, usage.diskCapacityBytes, shownBytes, BYTE_STEPS, 4],
  ] as const;
  return (
    <div class="plots">
      {figures.map(([title, series, value, capacity, shown, steps, hue]) => (
        <section key={title} aria-label={title}>
          <h3>
            {title}
            <span class="value">{value === undefined ? "not measured" : shown(value)}</span>
            {capacity !== undefined && (
              <span class="muted">{` of ${shown(capacity)}, ${shownShare(value, capacity) ?? "unknown"}`}</span>
            )}
          </h3>
          <Plot title={title} at={at} series={series} most={capacity} shown={shown} steps={steps} hue={hue} />
        </section>
      ))}
    </div>
  );
}

function Pressure({ node: { signals, evictionOrder } }: { readonly node: LiveNode }) {
  return (
    <section aria-label="Pressure">
      <h3>Eviction signals</h3>
      <Table label="Table of signals" columns={["Signal", { number: "Available" }, { number: "Threshold" }, "Met"]}>
        {signals.slice(0, MAX_LISTED).map(({ name, available, threshold, isMet }) => (
          <tr key={name}>
            <th scope="row">{shownText(name, 60)}</th>
            <td class="number">{shownText(available, 40)}</td>
            <td class="number">{shownText(threshold, 40)}</td>
            <td class={isMet ? "failed" : ""}>{isMet ? "yes" : "no"}</td>
          </tr>
        ))}
      </Table>
      <h3>Eviction order</h3>
      {evictionOrder.length === 0 ? (
        <p class="muted">No pod would be evicted.</p>
      ) : (
        <ol class="order" tabIndex={0} aria-label="Pods in the order of eviction">
          {evictionOrder.slice(0, MAX_LISTED).map((name) => (
            <li key={name}>{shownText(name, 320)}</li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Garbage({ node: { garbage } }: { readonly node: LiveNode }) {
  return (
    <section aria-label="Garbage">
      <h3>Garbage</h3>
      {garbage === undefined ? (
        <p class="muted">Not known: the runtime lists no images.</p>
      ) : (
        <dl class="facts">
          <dt>Unused images</dt>
          <dd>{`${shownCount(garbage.unusedImages)}, at most ${shownBytes(garbage.unusedBytes)}`}</dd>
          <dt>Kept images</dt>
          <dd>{`${shownCount(garbage.keptImages)}, ${shownBytes(garbage.keptBytes)}`}</dd>
          <dt>Dead containers</dt>
          <dd>{shownCount(garbage.deadContainers)}</dd>
        </dl>
      )}
    </section>
  );
}

function Devices({ node: { devices } }: { readonly node: LiveNode }) {
  return (
    <section aria-label="Devices">
      <h3>Devices</h3>
      {devices.length === 0 && <p class="muted">The node has no devices.</p>}
      {devices.slice(0, MAX_LISTED).map(({ resource, used, total }) => (
        <p key={resource} class="device">
          <span>{shownText(resource, 120)}</span>
          <span class="muted">{`${used} of ${total} used`}</span>
          <progress value={used} max={Math.max(1, total)} aria-label={`${shownText(resource, 120)} in use`} />
        </p>
      ))}
    </section>
  );
}
