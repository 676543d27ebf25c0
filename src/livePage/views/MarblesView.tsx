/** The marble diagram with its tools, the open marble, and the same marbles as a list. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { KEYS } from "../diagram/diagramKeys.ts";
import { placeLetters } from "../model/placeLetters.ts";
import { isPaused, zoomed } from "../model/timeWindow.ts";
import { shownCount, shownDuration } from "../model/shownFigures.ts";
import { usePage } from "../page.ts";
import { Canvas } from "./Canvas.tsx";
import { FILTER_ID } from "./filterId.ts";
import { Inspector } from "./Inspector.tsx";
import { MarbleList } from "./MarbleList.tsx";

const ZOOM = 2;
const MAX_LEGEND = 24;

export function MarblesView() {
  const { marbles } = usePage();
  const isList = useSignal(false);
  const host = useRef<HTMLDivElement>(null);
  const closeInspector = (): void => {
    marbles.opened.value = undefined;
    host.current?.focus();
  };
  return (
    <section class="marbles" aria-label="Marbles">
      <h2 class="hidden">Marbles</h2>
      <Tools isList={isList.value} showList={(shown) => (isList.value = shown)} />
      <div class="stage">
        {isList.value ? <MarbleList /> : <Canvas hostRef={host} />}
        <Inspector close={closeInspector} />
      </div>
      {!isList.value && <Legend />}
      {!isList.value && <Keys />}
    </section>
  );
}

function Tools({ isList, showList }: { readonly isList: boolean; readonly showList: (shown: boolean) => void }) {
  const { marbles } = usePage();
  const kind = marbles.kind.value;
  const pod = marbles.pod.value;
  return (
    <div class="tools" role="toolbar" aria-label="Diagram">
      <span class="choice">
        <button type="button" aria-pressed={kind === "pod"} onClick={() => marbles.choose({ kind: "pod" })}>
          By pod
        </button>
        <button type="button" aria-pressed={kind === "place"} onClick={() => marbles.choose({ kind: "place" })}>
          By place
        </button>
      </span>
      <label class="filter">
        <span class="hidden">Filter</span>
        <input
          id={FILTER_ID}
          type="search"
          placeholder="Filter by pod, place or value"
          maxLength={200}
          value={marbles.filter.value}
          onInput={({ currentTarget }) => marbles.choose({ filter: currentTarget.value })}
        />
      </label>
      {pod !== undefined && (
        <button type="button" onClick={() => marbles.choose({ pod: undefined })}>
          {`Only ${marbles.podName(pod)} \u00d7`}
        </button>
      )}
      <span class="space" />
      <Lost />
      <TimeTools />
      <button type="button" aria-pressed={isList} onClick={() => showList(!isList)}>
        List
      </button>
    </div>
  );
}

function TimeTools() {
  const { marbles } = usePage();
  const window = marbles.window.value;
  const zoom = (factor: number): void => void (marbles.window.value = zoomed(window, factor, 0.5));
  return (
    <span class="choice">
      <button type="button" class="pause" aria-pressed={isPaused(window)} onClick={() => marbles.togglePause()}>
        {isPaused(window) ? "Go on" : "Pause"}
      </button>
      <button type="button" aria-label="Zoom out" onClick={() => zoom(ZOOM)}>
        {"\u2212"}
      </button>
      <output class="span" aria-label="Time shown">
        {shownDuration(window.spanMs)}
      </output>
      <button type="button" aria-label="Zoom in" onClick={() => zoom(1 / ZOOM)}>
        +
      </button>
    </span>
  );
}

/** Marbles that the node did not send. The clock makes it look again. */
function Lost() {
  const { marbles, clock } = usePage();
  const { dropped } = clock.value > 0 ? marbles.store : { dropped: 0 };
  return dropped === 0 ? null : <span class="badge warning">{`${shownCount(dropped)} marbles not sent`}</span>;
}

/** Places by the colours and letters of their marbles. A press filters by the place. */
function Legend() {
  const { marbles } = usePage();
  const places = marbles.places.value;
  if (places.length === 0) return null;
  return (
    <ul class="places-seen" aria-label="Places">
      {places.slice(0, MAX_LEGEND).map((place) => (
        <li key={place}>
          <button type="button" class="quiet" onClick={() => marbles.choose({ filter: place })}>
            <span class={`letters hue-${marbles.hueOf(place)}`} aria-hidden="true">
              {placeLetters(place)}
            </span>
            {place}
          </button>
        </li>
      ))}
    </ul>
  );
}

function Keys() {
  return (
    <dl class="keys" id="diagram-keys">
      {KEYS.map(([keys, effect]) => (
        <div key={keys}>
          <dt>{keys}</dt>
          <dd>{effect}</dd>
        </div>
      ))}
    </dl>
  );
}
