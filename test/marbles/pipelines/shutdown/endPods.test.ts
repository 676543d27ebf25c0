import { describe, expect, it } from "vitest";
import type { ApiPod } from "../../../../src/core/api/apiPodObjects.ts";
import type { Node } from "../../../../src/core/api.ts";
import { podUid } from "../../../../src/core/ids.ts";
import type { PodRecord } from "../../../../src/core/pod/podRegistryTypes.ts";
import { endPods } from "../../../../src/pipelines/shutdown/endPods.ts";
import type { ShutdownContext } from "../../../../src/pipelines/shutdown/shutdownContext.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const PERIODS = [
  { priority: 0, seconds: 20 },
  { priority: 1_000, seconds: 10 },
];
const ORDERS = {
  l: { kind: "shutDown", uid: "low", graceSeconds: 20 },
  h: { kind: "shutDown", uid: "high", graceSeconds: 5 },
};
const priorities: Readonly<Record<string, number>> = { low: 0, high: 1_000 };

/** A node with a pod of each priority; both run, and ask for 30 and 5 seconds. */
function node({ clock }: Marbles, { hasApi = false, isSettled = true } = {}) {
  const telemetry = recordingTelemetry();
  const recordOf = (uid: string): PodRecord =>
    ({
      identity: { uid: podUid(uid), namespace: "demo", name: uid },
      pod: podOf({
        ...{ uid, name: uid },
        spec: { priority: priorities[uid] ?? 0, terminationGracePeriodSeconds: uid === "low" ? 30 : 5 },
      }),
      state: "syncing",
    }) as unknown as PodRecord;
  const records = new Map(["low", "high"].map((uid) => [podUid(uid), recordOf(uid)]));
  const cells = {
    registry: createCell<{ records: ReadonlyMap<string, PodRecord>; isSettled: boolean }>({ records, isSettled }),
    apiPodObjects: createCell({ byName: new Map<string, ApiPod>(), version: "1" }),
    node: createCell<Node | undefined>(undefined),
  };
  const ends = (uid: string): void => {
    const left = new Map(cells.registry.value.records);
    left.delete(podUid(uid));
    cells.registry.set({ ...cells.registry.value, records: left });
  };
  const api = hasApi ? {} : undefined;
  const context = {
    ports: { clock, telemetry, api },
    config: { nodeName: "one", shutdownPeriods: PERIODS },
    cells,
  } as unknown as ShutdownContext;
  const warnings = () => telemetry.lines.filter(({ level }) => level === "warn").map(({ message }) => message);
  return { context, cells, ends, warnings };
}

describe("the pods of a node that shuts down", () => {
  it(
    "end by priority, each group as soon as the one before has ended, with the grace of its period at most",
    marbles((test) => {
      const expected = "l 2999ms h 1999ms |";

      const { context, ends, warnings } = node(test);
      test.at(3_000, () => ends("low"));
      test.at(5_000, () => ends("high"));
      test.expectObservable(endPods(context)).toBe(expected, ORDERS);
      test.flush();
      expect(warnings()).toEqual([]);
    }),
  );

  it(
    "do not keep those of the next group from ending beyond their period",
    marbles((test) => {
      const expected = "l 19999ms h 9999ms |";

      const { context, warnings } = node(test);
      test.expectObservable(endPods(context)).toBe(expected, ORDERS);
      test.flush();
      expect(warnings()).toEqual(["Shutdown manager pod killing time out", "Shutdown manager pod killing time out"]);
    }),
  );

  it(
    "end once the node knows all of them, or soon, and within the time of all periods",
    marbles((test) => {
      const settled = "  1s l 19999ms h 8999ms |";
      const unsettled = "2s l 19999ms h 7999ms |";

      const first = node(test, { isSettled: false });
      test.at(1_000, () => first.cells.registry.set({ ...first.cells.registry.value, isSettled: true }));
      test.expectObservable(endPods(first.context)).toBe(settled, ORDERS);
      test.expectObservable(endPods(node(test, { isSettled: false }).context)).toBe(unsettled, ORDERS);
      test.flush();
    }),
  );
});

describe("the API server", () => {
  const objectOf = (phase: string): ApiPod => ({ status: { phase } });
  const unready: Node = {
    metadata: { name: "one" },
    status: { conditions: [{ type: "Ready", status: "False" }] },
  };

  it(
    "learns the end of each pod, and that the node is not ready, before the shutdown goes on",
    marbles((test) => {
      const expected = "l 999ms h 999ms 2s |";

      const { context, cells, ends } = node(test, { hasApi: true });
      cells.apiPodObjects.set({ byName: new Map([["demo/low", objectOf("Running")]]), version: "1" });
      cells.node.set({ ...unready, status: { conditions: [{ type: "Ready", status: "True" }] } });
      test.at(1_000, () => ends("low"));
      test.at(2_000, () => ends("high"));
      test.at(3_000, () =>
        cells.apiPodObjects.set({ byName: new Map([["demo/low", objectOf("Failed")]]), version: "2" }),
      );
      test.at(4_000, () => cells.node.set(unready));
      test.expectObservable(endPods(context)).toBe(expected, ORDERS);
      test.flush();
    }),
  );

  it(
    "delays the shutdown until the time of all periods is over, and no longer",
    marbles((test) => {
      const expected = "l 999ms h 999ms 28s |";

      const { context, cells, ends, warnings } = node(test, { hasApi: true });
      cells.apiPodObjects.set({ byName: new Map([["demo/low", objectOf("Running")]]), version: "1" });
      test.at(1_000, () => ends("low"));
      test.at(2_000, () => ends("high"));
      test.expectObservable(endPods(context)).toBe(expected, ORDERS);
      test.flush();
      expect(warnings()).toEqual(["The API server does not know that these pods have ended"]);
    }),
  );
});
