import { describe, expect, it } from "vitest";
import { ordinal } from "../../../../src/core/timeline/podWaits.ts";
import { timelineText } from "../../../../src/core/timeline/timelineText.ts";
import type { TimelineView } from "../../../../src/core/timeline/timelineView.ts";
import { unknownPodMessage } from "../../../../src/core/timeline/unknownPod.ts";

const VIEW: TimelineView = {
  pod: { namespace: "demo", name: "web", uid: "u" },
  state: "syncing",
  stateSince: "T0",
  at: "T9",
  waits: [],
  entries: [],
  dropped: 0,
};

describe("timelineText", () => {
  it("lays out waits and entries", () => {
    const view: TimelineView = {
      ...VIEW,
      phase: "Pending",
      waits: [
        { what: "ImagePull", container: "main", cause: "app:1, second in line", seconds: 75.2 },
        { what: "Retry", cause: "no network", seconds: 0.25, next: { what: "next try", at: "T10", inSeconds: 8.04 } },
        { what: "Runtime", cause: "is down" },
      ],
      entries: [
        { at: "T1", what: "Accepted" },
        { at: "T2", what: "RunPodSandbox", seconds: 0.1234, outcome: "failed", message: "no" },
        { at: "T3", what: "Unhealthy", container: "main", outcome: "warning", message: "no", count: 3, lastAt: "T8" },
        { at: "T4", what: "PreStopHook", container: "main", seconds: 7_325, outcome: "cut off" },
      ],
      dropped: 7,
    };
    expect(timelineText(view)).toBe(`demo/web  Pending, syncing since T0  (UID u)

Now, at T9
  ImagePull of main, for 75s
    app:1, second in line
  Retry, for 0.25s; next try at T10, in 8s
    no network
  Runtime
    is down

So far
  (7 earlier entries are no longer kept)
  T1          Accepted
  T2  0.123s  RunPodSandbox     failed: no
  T3          Unhealthy main    warning: no (3 times, last at T8)
  T4    2h2m  PreStopHook main  cut off
`);
  });

  it.each([
    ["waiting", "waits to be accepted"],
    ["rejected", "was refused and does not run"],
    ["syncing", "waits for nothing"],
    ["terminating", "waits for the runtime to show that nothing runs"],
    ["terminated", "is over; kept until it is no longer wanted"],
    ["gone", "is over and removed"],
  ] as const)("says what it means to wait for nothing while %s", (state, text) => {
    expect(timelineText({ ...VIEW, state }).split("\n")[3]).toBe(`  ${text}`);
  });

  it("lets no control character of a message through", () => {
    const entries = [{ at: "T1", what: "Unhealthy", message: "a\u001b[2Jb\nc\u009b" }];
    const waits = [{ what: "Retry", cause: "x\r\u001b]0;y\u0007", seconds: 1 }];
    expect(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(timelineText({ ...VIEW, entries, waits }))).toBe(false);
  });
});

it.each([
  [1, "first"],
  [10, "tenth"],
  [11, "11th"],
  [12, "12th"],
  [21, "21st"],
  [22, "22nd"],
  [103, "103rd"],
  [112, "112th"],
])("place %d is the %s", (place, text) => expect(ordinal(place)).toBe(text));

describe("unknownPodMessage", () => {
  const known = ["default/web-laptop", "demo/app-laptop", "demo/jobs"];
  it.each([
    ["default", "web", "; did you mean default/web-laptop?"],
    ["default", "jobs", "; did you mean demo/jobs?"],
    ["default", "app", "; did you mean demo/app-laptop?"],
    ["default", "wbe-laptop", "; did you mean default/web-laptop?"],
    ["default", "zzzzzzzz", "; there are default/web-laptop, demo/app-laptop, demo/jobs"],
  ])("guesses what %s/%s was meant to be", (namespace, name, rest) => {
    expect(unknownPodMessage(namespace, name, known)).toBe(`no pod "${namespace}/${name}" on this node${rest}`);
  });
  it("says when there is none", () => {
    expect(unknownPodMessage("a", "b", [])).toBe('no pod "a/b" on this node; there is none at all');
  });
  it("lists ten at most", () => {
    const many = Array.from({ length: 12 }, (_, index) => `ns/${index}`);
    expect(unknownPodMessage("ns", "zzzzzzzz", many)).toMatch(/ns\/9 and 2 more$/);
  });
});
