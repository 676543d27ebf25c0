/** What a node makes of its own object: events of being schedulable, and the addresses of pods for the runtime. */
import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { nodeObject } from "../../../../src/pipelines/cluster/nodeObject.ts";
import { nodePodCidr } from "../../../../src/pipelines/cluster/nodePodCidr.ts";
import type { KubeletPorts } from "../../../../src/ports/kubeletPorts.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

describe("nodeObject", () => {
  const open: Node = { metadata: { name: "n1" }, spec: {} };
  const cordoned: Node = { metadata: { name: "n1" }, spec: { unschedulable: true } };
  const event = (reason: string) => ({
    type: "Normal",
    reason,
    message: `Node n1 status is now: ${reason}`,
    object: { kind: "Node", namespace: "", name: "n1", uid: "", fieldPath: "" },
  });
  const events = { c: event("NodeNotSchedulable"), o: event("NodeSchedulable") };

  it.each<[rule: string, node: string, told: string]>([
    ["says nothing of a node that is and stays schedulable", "-o-o|", "----|"],
    ["tells that a node is found unschedulable", "-c-c|", "-c--|"],
    ["tells each change", "-o-c-o|", "---c-o|"],
    ["takes a node that is gone for one that is not unschedulable", "-c-n-c|", "-c-o-c|"],
  ])("%s", (_, node, told) =>
    marbles(({ hot, expectObservable, flush }) => {
      const cell = createCell<Node | undefined>(undefined);
      const node$ = hot<Node | undefined>(node, { o: open, c: cordoned, n: undefined });
      expectObservable(nodeObject("n1", node$, cell)).toBe(told, events);
      flush();
      expect(cell.value?.spec?.unschedulable).toBe(node.endsWith("c|") ? true : undefined);
    })(),
  );
});

describe("nodePodCidr", () => {
  const placed = (...podCIDRs: readonly string[]): Node => ({ spec: { podCIDRs: [...podCIDRs] } });

  /** When the runtime was told what; it refuses the first `failures` times. */
  function world({ clock, cold }: Marbles, failures: number, code: "Unavailable" | "Unimplemented" = "Unavailable") {
    const told: string[] = [];
    const cell = createCell<Node | undefined>(undefined);
    const runtime = {
      updateRuntimeConfig: ({ runtimeConfig }: { runtimeConfig?: { networkConfig?: { podCidr: string } } }) => {
        told.push(`${clock.monotonicMs()} ${runtimeConfig?.networkConfig?.podCidr}`);
        return told.length > failures ? cold("--(a|)", { a: {} }) : cold("--#", {}, kubeletError(code, "no"));
      },
    } as unknown as KubeletPorts["runtime"];
    const stream$ = nodePodCidr(cell, { runtime, clock, rng: fixedRng(0.5), telemetry: recordingTelemetry() });
    return { cell, told, stream$ };
  }

  it(
    "tells the runtime both families in one text, and a change, but nothing twice",
    marbles((m) => {
      const { cell, told, stream$ } = world(m, 0);
      m.expectObservable(stream$, "100ms !").toBe("");
      m.at(10, () => cell.set({}));
      m.at(20, () => cell.set(placed("10.1.0.0/24", "fd00::/64")));
      m.at(30, () => cell.set(placed("10.1.0.0/24", "fd00::/64")));
      m.at(40, () => cell.set(placed("10.2.0.0/24")));
      m.flush();
      expect(told).toEqual(["20 10.1.0.0/24,fd00::/64", "40 10.2.0.0/24"]);
    }),
  );

  it(
    "tries again after a pause that doubles, with the newest alone",
    marbles((m) => {
      const { cell, told, stream$ } = world(m, 3);
      m.expectObservable(stream$, "10s !").toBe("");
      m.at(0, () => cell.set(placed("10.1.0.0/24")));
      m.at(2_000, () => cell.set(placed("10.2.0.0/24")));
      m.flush();
      expect(told.map((line) => line.split(" ")[1])).toEqual([
        "10.1.0.0/24",
        "10.1.0.0/24",
        "10.2.0.0/24",
        "10.2.0.0/24",
      ]);
    }),
  );

  it(
    "asks a runtime that takes none only once",
    marbles((m) => {
      const { cell, told, stream$ } = world(m, 9, "Unimplemented");
      m.expectObservable(stream$, "60s !").toBe("");
      m.at(0, () => cell.set(placed("10.1.0.0/24")));
      m.flush();
      expect(told).toEqual(["0 10.1.0.0/24"]);
    }),
  );
});
