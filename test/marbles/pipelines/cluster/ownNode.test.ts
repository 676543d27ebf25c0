/** Registration, status and lease of a node: which requests are made when, as the server answers well or badly. */
import { type Observable, Subject } from "rxjs";
import { NO_DEVICES } from "../../../../src/core/device/deviceState.ts";
import { describe, expect, it } from "vitest";
import type { CloudInstance } from "../../../../src/core/cloud/cloudInstance.ts";
import type { Node } from "../../../../src/core/api.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import {
  type MachineAddresses,
  type NodeFacts,
  type NodeImage,
  NO_PRESSURE,
} from "../../../../src/core/node/nodeFacts.ts";
import type { ReportedNode } from "../../../../src/core/node/reportedNode.ts";
import { type RuntimeState, unknownRuntimeState } from "../../../../src/core/runtime/runtimeState.ts";
import { nodeLease } from "../../../../src/pipelines/cluster/renewNodeLease.ts";
import { nodeRegistration } from "../../../../src/pipelines/cluster/nodeRegistration.ts";
import { nodeStatus } from "../../../../src/pipelines/cluster/reportNodeStatus.ts";
import type { SimApiRequest } from "../../../../src/sim/apiServer/apiCall.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { FACTS } from "../../../unit/core/node/nodeFacts.ts";
import { EC2_INSTANCE } from "../../../support/cloudInstances.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { simApi } from "../../../support/simApi.ts";
import { createSimApiServer } from "../../../../src/sim/apiServer/simApiServer.ts";
import { simMachine } from "../../../../src/sim/host/simMachine.ts";
import { simKubeletConfig } from "../../../../src/sim/simKubeletConfig.ts";
import { createSimNode } from "../../../../src/sim/simNode.ts";
import { createHeapScheduler } from "../../../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../../../src/sim/time/simClock.ts";

const LEASE = { namespace: "kube-node-lease", name: "n1" };
const BROKEN = { kind: "fail", error: kubeletError("Unavailable", "no") } as const;

/** A server of a node, what was asked of it and when, and how many of the next requests of a kind fail. */
function world() {
  const asked: string[] = [];
  const failing = new Map<string, number>();
  const api = simApi({
    intercept(verb, resource, { subresource }: SimApiRequest) {
      const what = `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
      asked.push(`${api.scheduler.now()} ${what}`);
      const left = failing.get(what) ?? 0;
      if (left === 0) return { kind: "proceed" };
      failing.set(what, left - 1);
      return BROKEN;
    },
  });
  const { clock, server, scheduler } = api;
  const node = createCell<Node | undefined>(undefined);
  const telemetry = recordingTelemetry();
  const returns$ = new Subject<void>();
  const facts: { value: NodeFacts } = { value: FACTS };
  const startup = { attempted() {}, registered() {}, ready() {} };
  const request = { api: api.node("n1"), clock, rng: fixedRng(0), telemetry, deadlineMs: 10_000 };
  const state = {
    devices: createCell(NO_DEVICES),
    volumesInUse: createCell<readonly string[] | undefined>(undefined),
    node,
    reportedNode: createCell<ReportedNode | undefined>(undefined),
    runtimeState: createCell<RuntimeState>(unknownRuntimeState),
    images: createCell<readonly NodeImage[] | undefined>(undefined),
    pressures: createCell(NO_PRESSURE),
    shuttingDown: createCell(false),
    addresses: createCell<MachineAddresses | undefined>(undefined),
    cloudInstance: createCell<CloudInstance | undefined>(undefined),
  };
  return {
    server,
    node,
    facts,
    state,
    asked,
    failing,
    returns$,
    scheduler,
    writer: { ...request, facts: () => facts.value, startup, returns$ },
    leaseWriter: { ...request, nodeName: "n1", durationSeconds: 40, node },
    /** Makes the Node, and has it known. */
    know: () => node.set(server.put("nodes", { metadata: { name: "n1" } })),
    at: (ms: number, action: () => void) => void scheduler.schedule(action, ms - scheduler.now()),
    /** The emissions of a stream until then; its requests are in `asked`. */
    run<T>(stream$: Observable<T>, untilMs: number): readonly T[] {
      const emitted: T[] = [];
      const subscription = stream$.subscribe({ next: (value) => emitted.push(value) });
      while (scheduler.runNext(untilMs));
      scheduler.advanceTo(untilMs);
      subscription.unsubscribe();
      return emitted;
    },
  };
}

describe("nodeLease", () => {
  it("waits for the Node, then creates the lease and renews it each quarter of its duration", () => {
    const { leaseWriter, at, know, run, asked } = world();
    at(1_000, know);
    run(nodeLease(leaseWriter), 22_000);
    expect(asked).toEqual([
      "0 get leases",
      "2 get nodes",
      "1000 get leases",
      "1002 create leases",
      "11004 update leases",
      "21006 update leases",
    ]);
  });

  it("asks for a Node that no watch has reported yet", () => {
    const { leaseWriter, server, run, asked } = world();
    server.put("nodes", { metadata: { name: "n1", uid: "u1" } });
    run(nodeLease(leaseWriter), 9_000);
    expect(asked).toEqual(["0 get leases", "2 get nodes", "4 create leases"]);
    expect(server.object("leases", LEASE)?.metadata?.ownerReferences).toMatchObject([{ kind: "Node", name: "n1" }]);
  });

  it("reads the lease after a conflict, and renews it at once", () => {
    const { leaseWriter, at, know, run, asked, server } = world();
    know();
    at(5_000, () => void server.put("leases", { metadata: { ...LEASE, labels: { by: "other" } } }));
    run(nodeLease(leaseWriter), 12_000);
    expect(asked.slice(2)).toEqual(["10004 update leases", "10006 get leases", "10008 update leases"]);
    expect(server.object("leases", LEASE)?.metadata?.labels).toEqual({ by: "other" });
  });

  it("reads the lease with backoff until that succeeds, then tries to renew it five times without a pause", () => {
    const { leaseWriter, know, run, asked, failing } = world();
    know();
    failing.set("update leases", 5);
    run(nodeLease(leaseWriter), 5_000);
    failing.set("get leases", 3);
    const { length } = asked;
    run(nodeLease(leaseWriter), 8_000);
    expect(asked.slice(length)).toEqual([
      "5000 get leases",
      "5202 get leases",
      "5604 get leases",
      "6406 get leases",
      "6408 update leases",
      "6410 update leases",
      "6412 update leases",
      "6414 update leases",
      "6416 update leases",
    ]);
  });
});

describe("nodeRegistration", () => {
  it("makes its first attempt after 100 ms, and retries with pauses that double to at most seven seconds", () => {
    const { writer, run, asked, failing } = world();
    failing.set("create nodes", 9);
    const events = run(nodeRegistration(writer), 30_000).map(({ reason }) => reason);
    const at = asked.map((line) => Number(line.split(" ")[0]));
    expect(at.map((ms, index) => ms - (at[index - 1] ?? 0))).toEqual([
      100, 202, 402, 802, 1602, 3202, 6402, 7002, 7002,
    ]);
    expect(events).toEqual([]);
  });

  it("completes with the events of the first status", () => {
    const { writer, run, asked } = world();
    const events = run(nodeRegistration(writer), 1_000).map(({ reason }) => reason);
    expect([asked, events]).toEqual([
      ["100 create nodes"],
      ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"],
    ]);
  });
});

describe("nodeStatus", () => {
  it("patches the known Node first, then up to four times the Node that it reads again", () => {
    const { writer, state, know, run, asked, failing } = world();
    know();
    failing.set("patch nodes/status", 6);
    run(nodeStatus(writer, state), 10_100);
    expect(asked.map((line) => line.slice(line.indexOf(" ") + 1))).toEqual([
      "patch nodes/status",
      ...Array.from({ length: 4 }, () => ["get nodes", "patch nodes/status"]).flat(),
      "patch nodes/status",
      "get nodes",
      "patch nodes/status",
    ]);
  });

  it("writes a status that failed as soon as the server is reachable again", () => {
    const { writer, state, know, run, at, asked, failing, returns$ } = world();
    know();
    failing.set("patch nodes/status", 5);
    at(3_000, () => returns$.next());
    run(nodeStatus(writer, state), 10_000);
    expect(asked.slice(-1)).toEqual(["3050 patch nodes/status"]);
  });

  it("writes node pressure at once", () => {
    const { writer, state, know, run, at, asked, facts } = world();
    know();
    at(20_000, () => {
      facts.value = { ...FACTS, pressures: { ...NO_PRESSURE, disk: true } };
      state.pressures.set(facts.value.pressures);
    });
    const reasons = run(nodeStatus(writer, state), 21_000).map(({ reason }) => reason);
    expect([asked.slice(-1), reasons.slice(-1)]).toEqual([["20050 patch nodes/status"], ["NodeHasDiskPressure"]]);
  });

  it("writes an answer of the cloud at once", () => {
    const { writer, state, know, run, at, asked, facts } = world();
    know();
    at(20_000, () => {
      facts.value = { ...FACTS, settings: { ...FACTS.settings, hasCloudMetadata: true }, cloud: EC2_INSTANCE };
      state.cloudInstance.set(EC2_INSTANCE);
    });
    run(nodeStatus(writer, state), 21_000);
    expect(asked.slice(-1)).toEqual(["20050 patch nodes/status"]);
  });

  it("writes simultaneous changes in one patch, and the next status half a period later", () => {
    const { writer, state, know, run, at, asked, facts } = world();
    know();
    const change = (problems: readonly string[]): void => {
      facts.value = { ...FACTS, problems };
      state.runtimeState.set({ ...unknownRuntimeState });
    };
    at(20_000, () => change(["a"]));
    at(20_020, () => change(["b"]));
    run(nodeStatus(writer, state), 300_000);
    // After a change the next word comes up to half the period earlier: with this dice at its earliest.
    expect(asked).toEqual(["50 patch nodes/status", "20050 patch nodes/status", "170052 patch nodes/status"]);
  });
});

describe("the volumes in use that the Node has for sure", () => {
  const told = (use: (change: (atMs: number, volumesInUse: readonly string[]) => void) => void, failures = 0) => {
    const { writer, state, know, run, at, facts, failing, scheduler } = world();
    know();
    const change = (atMs: number, volumesInUse: readonly string[]): void =>
      at(atMs, () => {
        facts.value = { ...FACTS, volumesInUse };
        state.volumesInUse.set(volumesInUse);
      });
    use(change);
    at(20_000, () => void failing.set("patch nodes/status", failures));
    const seen: string[] = [];
    state.reportedNode.changes$.subscribe({
      next: (reported) => seen.push(`${scheduler.now()} ${reported?.volumesInUse.join(",")}`),
    });
    run(nodeStatus(writer, state), 21_000);
    return seen;
  };

  it("are listed after the answer, and not listed before the request that removes one", () => {
    const seen = told((change) => {
      change(0, ["a", "b"]);
      change(20_000, ["b", "c"]);
    });
    expect(seen).toEqual(["0 undefined", "52 a,b", "20050 b", "20052 b,c"]);
  });

  it("lack one that was removed and added again until the second write is answered", () => {
    const seen = told((change) => {
      change(0, ["a"]);
      change(20_000, []);
      change(20_051, ["a"]);
    });
    expect(seen.slice(2)).toEqual(["20050 ", "20103 a"]);
  });

  it("lack one whose removal has failed, for it may have happened", () => {
    const seen = told((change) => {
      change(0, ["a"]);
      change(20_000, []);
      change(20_040, ["a"]);
    }, 0);
    expect(seen.at(-1)).toBe("52 a");
    const failed = told((change) => {
      change(0, ["a"]);
      change(20_000, []);
    }, 5);
    expect(failed.at(-1)).toBe("20050 ");
  });
});

describe("a heartbeat without a response", () => {
  it.each([
    ["the period of status updates", 10_000, 10_000],
    ["the duration of the lease, when that is shorter", 60_000, 40_000],
  ])("is cancelled after %s", (_title, statusUpdatePeriodMs, afterMs) => {
    const scheduler = createHeapScheduler();
    const asked: number[] = [];
    const server = createSimApiServer({
      clock: createSimClock(scheduler),
      latency: () => 2,
      intercept(verb, resource) {
        if (verb !== "update" || resource !== "leases") return { kind: "proceed" };
        asked.push(scheduler.now());
        return { kind: "hang" };
      },
    });
    const { node: settings } = simKubeletConfig(simMachine(), { nodeName: "one" });
    const config = { nodeName: "one", node: { ...settings, statusUpdatePeriodMs, leaseDurationSeconds: 40 } };
    createSimNode({ seed: "one", scheduler, api: server, config }).runFor(200_000);
    const [first = 0, second = 0] = asked;
    expect(second - first).toBe(afterMs);
  });
});
