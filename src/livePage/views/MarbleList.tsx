/** The latest marbles of all lanes as a table, for those who do not see the canvas. */
import { useComputed } from "@preact/signals";
import type { LiveMarble } from "../../core/live/liveMessages.ts";
import type { Marbles } from "../marbles.ts";
import { endOf, isPaused } from "../model/timeWindow.ts";
import { shownDuration, shownTimeOfDay } from "../model/shownFigures.ts";
import { usePage } from "../page.ts";

const MAX_ROWS = 200;

export function MarbleList() {
  const { marbles, clock, now } = usePage();
  // A list that changes all the time cannot be read: once a second is enough, and not while the time stands still.
  const second = useComputed(() => (isPaused(marbles.window.value) ? 0 : Math.floor(clock.value / 1000)));
  const choice = useComputed(() => [marbles.filter.value, marbles.kind.value, marbles.pod.value, second.value]);
  const rows = choice.value.length === 0 ? [] : latest(marbles, endOf(marbles.window.value, now()));
  return (
    <div class="list" tabIndex={0} role="region" aria-label="Latest marbles">
      <table>
        <caption class="hidden">Latest marbles, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Time (UTC)</th>
            <th scope="col">Pod</th>
            <th scope="col">Place</th>
            <th scope="col">Value</th>
            <th scope="col">Took</th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((marble) => (
            <Row key={marble.id} marble={marble} />
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="muted">No marbles yet.</p>}
    </div>
  );
}

function Row({ marble }: { readonly marble: LiveMarble }) {
  const { marbles } = usePage();
  const { at, pod, place, text, tookMs, outcome } = marble;
  return (
    <tr>
      <td>{shownTimeOfDay(at, true)}</td>
      <td>{pod === undefined ? "node" : marbles.podName(pod)}</td>
      <td>{place}</td>
      <td>
        <button type="button" class="quiet" onClick={() => (marbles.opened.value = marble)}>
          {text}
        </button>
      </td>
      <td>{tookMs === undefined ? "" : shownDuration(tookMs)}</td>
      <td class={outcome === "failed" ? "failed" : "warning"}>{outcome ?? ""}</td>
    </tr>
  );
}

/** Returns the newest marbles that the lanes show, up to `end`. */
function latest(marbles: Marbles, end: number): readonly LiveMarble[] {
  const newest = marbles.lanes().flatMap(({ marbles: { items, first } }) => {
    return items.slice(Math.max(first, items.length - MAX_ROWS)).filter(({ at }) => at <= end);
  });
  return newest.sort((a, b) => b.id - a.id).slice(0, MAX_ROWS);
}
