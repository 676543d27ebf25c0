/** The canvas of the marble diagram: it takes the keyboard and the pointer, and says what is under the cursor. */
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { pressKey } from "../diagram/diagramKeys.ts";
import { followPointer } from "../diagram/diagramPointer.ts";
import { LANE_HEIGHT, AXIS_HEIGHT } from "../diagram/geometry.ts";
import type { Found } from "../diagram/marbleAt.ts";
import { runDiagram } from "../diagram/runDiagram.ts";
import { hashOf } from "../model/route.ts";
import { shownDuration, shownTimeOfDay } from "../model/shownFigures.ts";
import { type Page, usePage } from "../page.ts";

export function Canvas({ hostRef }: { readonly hostRef: RefObject<HTMLDivElement | null> }) {
  const page = usePage();
  const canvas = useRef<HTMLCanvasElement>(null);
  const space = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const found = useSignal<Found | undefined>(undefined);
  useEffect(() => {
    const elements = { host: hostRef.current, canvas: canvas.current, space: space.current };
    if (elements.host === null || elements.canvas === null || elements.space === null) return undefined;
    const own = { host: elements.host, canvas: elements.canvas, space: elements.space };
    const ended = new AbortController();
    const diagram = runDiagram(own, page.marbles, { now: page.now, noteOf: ({ key }) => page.notes.peek().get(key) });
    const hovered = (now: Found | undefined, y: number): void => {
      found.value = now;
      if (now !== undefined && tip.current !== null) placeTip(tip.current, own.host, now.x, y);
    };
    followPointer(
      own,
      diagram,
      page.marbles,
      { now: page.now, hovered, podHash: (uid) => podHash(page, uid) },
      ended.signal,
    );
    const stopColours = page.theme.subscribe(() => diagram.themeChanged());
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", () => diagram.themeChanged(), { signal: ended.signal });
    const stopCursor = page.marbles.cursor.subscribe((cursor) => cursor && reveal(own.host, page, cursor.lane));
    return () => {
      ended.abort();
      stopColours();
      stopCursor();
      diagram.stop();
    };
  }, []);
  return (
    <div class="frame">
      <div
        class="host"
        ref={hostRef}
        tabIndex={0}
        role="application"
        aria-roledescription="marble diagram"
        aria-label="Marbles in lanes over time"
        aria-describedby="diagram-keys"
        onKeyDown={(event) => press(event, page)}
      >
        <canvas ref={canvas} role="img" aria-label="Marbles of the node" />
        <div ref={space} class="all-lanes" />
      </div>
      <div ref={tip} class="tip" hidden={found.value === undefined} aria-hidden="true">
        {found.value !== undefined && <Tip found={found.value} />}
      </div>
      <Spoken />
    </div>
  );
}

function press(event: KeyboardEvent, page: Page): void {
  const wasOpen = page.marbles.opened.peek() !== undefined;
  if (!pressKey(event, page.marbles, page.now())) return;
  event.preventDefault();
  event.stopPropagation();
  if (event.key === "Enter" && !wasOpen) requestAnimationFrame(() => document.getElementById("inspector")?.focus());
}

function podHash(page: Page, uid: string): string | undefined {
  const pod = page.pods.peek()?.find((known) => known.uid === uid);
  return pod && hashOf({ view: "pod", namespace: pod.namespace, name: pod.name });
}

/** Scrolls to the lane of the cursor. */
function reveal(host: HTMLElement, page: Page, lane: string): void {
  const top = page.marbles.lanes().findIndex(({ key }) => key === lane) * LANE_HEIGHT;
  const room = host.clientHeight - AXIS_HEIGHT - LANE_HEIGHT;
  if (top < host.scrollTop) host.scrollTop = top;
  else if (top > host.scrollTop + room) host.scrollTop = top - room;
}

const TIP_WIDTH = 340;

function placeTip(tip: HTMLElement, host: HTMLElement, x: number, y: number): void {
  const left = Math.max(4, Math.min(x + 14, host.clientWidth - TIP_WIDTH));
  const isLow = y > host.clientHeight - 110;
  tip.style.transform = `translate(${left}px, ${isLow ? y - 90 : y + 18}px)`;
}

function Tip({ found: { marble, count } }: { readonly found: Found }) {
  const { marbles } = usePage();
  const { place, pod, text, at, tookMs, outcome } = marble;
  const took = tookMs === undefined ? "" : `, took ${shownDuration(tookMs)}`;
  return (
    <>
      <b>{text}</b>
      {pod !== undefined && <span>{marbles.podName(pod)}</span>}
      <span>{`${place}${outcome === undefined ? "" : `, ${outcome}`}${took}`}</span>
      <span class="muted">
        {`${shownTimeOfDay(at, true)} UTC${count === 1 ? "" : `, with ${count - 1} more here: zoom in`}`}
      </span>
    </>
  );
}

/** Tells a screen reader which marble the cursor is on. */
function Spoken() {
  const { marbles } = usePage();
  const cursor = marbles.cursor.value;
  const marble = cursor === undefined ? undefined : marbles.store.find(cursor.id);
  const lane = marbles.lanes().find(({ key }) => key === cursor?.lane)?.label ?? "";
  const said =
    marble === undefined
      ? ""
      : `${lane}: ${marble.text}, ${marble.place}, ${shownTimeOfDay(marble.at, true)} ${marble.outcome ?? ""}`;
  return (
    <p class="hidden" role="status" aria-live="polite">
      {said}
    </p>
  );
}
