import { expect, it } from "vitest";
import { stoppingNote } from "../../../../src/core/dev/stoppingNote.ts";
import type { TimelineView } from "../../../../src/core/timeline/timelineView.ts";

const view = (name: string, ...waits: TimelineView["waits"]): TimelineView =>
  ({ pod: { namespace: "default", name, uid: name }, waits }) as unknown as TimelineView;

it("names the pods waited for and the remaining time", () => {
  const hook = { what: "PreStop", next: { what: "its end", at: "T", inSeconds: 23.4 } };
  expect(stoppingNote([view("web", hook), view("job")])).toBe(
    "Stopping pods... waiting for web (PreStop, 24s left), job; Ctrl-C again to stop now",
  );
});

it("names the last pod, and nothing once all are gone", () => {
  expect([[view("web")], []].map(stoppingNote)).toEqual([
    "Stopping pods... waiting for web; Ctrl-C again to stop now",
    "Stopping pods... Ctrl-C again to stop now",
  ]);
});

it("names a few of many pods", () => {
  expect(stoppingNote(["a", "b", "c", "d", "e"].map((name) => view(name)))).toBe(
    "Stopping pods... waiting for a, b, c and 2 more; Ctrl-C again to stop now",
  );
});
