/** The pointer of the diagram: hovering names a marble, a click opens it, a drag moves the time, a wheel zooms. */
import type { Marbles } from "../marbles.ts";
import { moved, zoomed } from "../model/timeWindow.ts";
import { type Found, marbleAt } from "./marbleAt.ts";
import type { DiagramElements, RunningDiagram } from "./runDiagram.ts";
import { laneAt } from "./geometry.ts";

/** Pixels that a pointer may move in a click. */
const CLICK_PX = 4;
const ZOOM_PER_PX = 0.004;

export interface PointerUser {
  now(): number;
  /** The marble under the pointer and its place on the canvas. */
  hovered(found: Found | undefined, y: number): void;
  /** Address of the pod of a lane; undefined when the lane is no pod of the node. */
  podHash(uid: string): string | undefined;
}

/** Listens until `signal` aborts. */
export function followPointer(
  { host, canvas }: DiagramElements,
  diagram: RunningDiagram,
  marbles: Marbles,
  user: PointerUser,
  signal: AbortSignal,
): void {
  let drag: { readonly x: number; readonly y: number; lastX: number; isMoving: boolean } | undefined;
  const find = (event: PointerEvent | MouseEvent): Found | undefined =>
    marbleAt(diagram.geometry(), marbles.lanes(), event.offsetX, event.offsetY);
  const move = (event: PointerEvent): void => {
    if (drag === undefined) {
      const found = find(event);
      canvas.classList.toggle("hit", found !== undefined || isLabel(event));
      return user.hovered(found, event.offsetY);
    }
    drag.isMoving ||= Math.abs(event.offsetX - drag.x) > CLICK_PX;
    if (!drag.isMoving) return;
    canvas.setPointerCapture(event.pointerId);
    user.hovered(undefined, 0);
    const ms = (drag.lastX - event.offsetX) / diagram.geometry().pxPerMs;
    drag.lastX = event.offsetX;
    marbles.window.value = moved(marbles.window.peek(), ms, user.now());
  };
  const isLabel = ({ offsetX, offsetY }: MouseEvent): boolean => podOfLabel(offsetX, offsetY) !== undefined;
  const podOfLabel = (x: number, y: number): string | undefined => {
    const measures = diagram.geometry();
    const lane = x < measures.gutter ? marbles.lanes()[laneAt(measures, y) ?? -1] : undefined;
    return lane === undefined || marbles.kind.peek() !== "pod" ? undefined : user.podHash(lane.key);
  };
  const release = (event: PointerEvent): void => {
    const wasMoving = drag?.isMoving === true;
    drag = undefined;
    if (wasMoving || event.button !== 0) return;
    const hash = podOfLabel(event.offsetX, event.offsetY);
    if (hash !== undefined) {
      location.hash = hash;
      return;
    }
    const found = find(event);
    marbles.opened.value = found?.marble;
    marbles.cursor.value = found && { lane: found.lane.key, id: found.marble.id };
  };
  canvas.addEventListener("pointermove", move, { signal });
  canvas.addEventListener("pointerleave", () => user.hovered(undefined, 0), { signal });
  canvas.addEventListener(
    "pointerdown",
    ({ offsetX: x, offsetY: y, button }) => {
      if (button === 0) drag = { x, y, lastX: x, isMoving: false };
    },
    { signal },
  );
  canvas.addEventListener("pointerup", release, { signal });
  canvas.addEventListener("pointercancel", () => (drag = undefined), { signal });
  host.addEventListener(
    "wheel",
    (event) => {
      const { gutter, width, pxPerMs } = diagram.geometry();
      if (event.ctrlKey || event.metaKey) {
        const anchor = Math.min(1, Math.max(0, (event.offsetX - gutter) / (width - gutter)));
        marbles.window.value = zoomed(marbles.window.peek(), Math.exp(event.deltaY * ZOOM_PER_PX), anchor);
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        marbles.window.value = moved(marbles.window.peek(), event.deltaX / pxPerMs, user.now());
      } else return;
      event.preventDefault();
    },
    { signal, passive: false },
  );
}
