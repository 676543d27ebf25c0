import { Subject } from "rxjs";
import { expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import type { WatchPodsEvent } from "../../../../src/gen/pods.ts";
import { createPodWatch } from "../../../../src/server/pods/podWatch.ts";
import { podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

/** A watch of a node, and watchers that note the types of events; `isSlow`: the watcher accepts none after the snapshot. */
function watched() {
  const podsChanged$ = new Subject<void>();
  const telemetry = recordingTelemetry();
  const node: { pods: readonly Pod[] } = { pods: [] };
  const joinWatch = createPodWatch({ queries: { pods: () => node.pods }, podsChanged$, telemetry });
  const join = (isSlow = false) => {
    const types: WatchPodsEvent["type"][] = [];
    const leave = joinWatch({
      send: ({ type }) => {
        if (!isSlow) types.push(type);
        return !isSlow;
      },
      sendAll: (events) => void types.push(...events.map(({ type }) => type)),
      fail: (fault) => {
        throw fault;
      },
    });
    return { types, leave };
  };
  const change = (...uids: readonly string[]): void => {
    node.pods = uids.map((uid) => podOf({ uid, name: uid }));
    podsChanged$.next();
  };
  return { join, change, podsChanged$, dropped: () => telemetry.samples.get("kubelet_pod_watch_events_dropped_total") };
}

it("counts changes that a watcher does not receive", () => {
  const { join, change, dropped } = watched();
  const [slow, quick] = [join(true), join()];
  change("a", "b");
  expect([slow.types, quick.types, dropped()]).toEqual([[4], [4, 1, 1], 2]);
});

it("follows the pods only while there are watchers", () => {
  const { join, change, podsChanged$ } = watched();
  const [first, second] = [join(), join()];
  first.leave();
  expect(podsChanged$.observed).toBe(true);
  second.leave();
  expect(podsChanged$.observed).toBe(false);
  change("a");
  expect(join().types).toEqual([1, 4]);
});

it("refuses the 65th watcher, and serves it once another has left", () => {
  const { join } = watched();
  const watchers = Array.from({ length: 64 }, () => join());
  expect(() => join()).toThrow("WatchPods: 64 watchers are connected");
  watchers[0]?.leave();
  expect(join().types).toEqual([4]);
});
