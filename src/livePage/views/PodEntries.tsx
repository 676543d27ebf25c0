/** The entries of a pod's timeline as a table, the newest first. */
import type { EntryView, TimelineView } from "../../core/timeline/timelineView.ts";
import { shownDuration } from "../model/shownFigures.ts";
import { shownText } from "../model/shownText.ts";
import { Table } from "./Table.tsx";

const MAX_ENTRIES = 200;

export function PodEntries({ timeline: { entries, dropped } }: { readonly timeline: TimelineView }) {
  return (
    <section aria-label="Entries">
      <h3>Entries</h3>
      <Table
        label="Table of entries"
        kind="entries"
        columns={["Time (UTC)", "Container", "Entry", { number: "Took" }, "More"]}
      >
        {entries
          .slice(-MAX_ENTRIES)
          .reverse()
          .map((entry, at) => (
            <Entry key={at} entry={entry} />
          ))}
      </Table>
      {dropped > 0 && <p class="muted">{`${dropped} older entries were dropped.`}</p>}
    </section>
  );
}

function Entry({
  entry: { at, what, container = "", seconds, outcome, message = "", count, lastAt },
}: {
  readonly entry: EntryView;
}) {
  const times = count === undefined ? "" : ` (${count} times, last at ${shownText(lastAt ?? "", 24)})`;
  return (
    <tr>
      <td>{shownText(at, 24).replace("T", " ").replace("Z", "")}</td>
      <td>{shownText(container, 63)}</td>
      <td class={outcome === "failed" ? "failed" : outcome === undefined ? "" : "warning"}>
        {shownText(outcome === undefined ? what : `${what}: ${outcome}`, 80)}
      </td>
      <td class="number">{seconds === undefined ? "" : shownDuration(seconds * 1000)}</td>
      <td>{`${shownText(message)}${times}`}</td>
    </tr>
  );
}
