import { defer, NEVER, type Observable, of, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import type { PodStatus } from "../../../../src/core/api.ts";
import type { ContainerGcPolicy } from "../../../../src/core/container/containerGc.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { type PodUid, podUid } from "../../../../src/core/ids.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry, type PodRecord } from "../../../../src/core/pod/podRegistryTypes.ts";
import { Container, ContainerState, PodSandbox, PodSandboxState } from "../../../../src/gen/cri.ts";
import { createContainerGc } from "../../../../src/pipelines/runtime/containerGc.ts";
import { createSimFiles } from "../../../../src/sim/host/simFiles.ts";
import { createSimLogFiles } from "../../../../src/sim/host/simLogFiles.ts";
import { exitsWith } from "../../../../src/sim/runtime/simProgram.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { createKeyedCell } from "../../../../src/state/keyedCell.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { podNode } from "../../../support/podNode.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const MINUTE_MS = 60_000;
const DIRECTORIES = { rootDir: "/kubelet", podLogsDir: "/pods", containerLogsDir: "/links" };
const refused = kubeletError("Unknown", "the runtime says no");

const labelsOf = (pod: string): Readonly<Record<string, string>> => ({
  "io.kubernetes.pod.name": pod,
  "io.kubernetes.pod.namespace": "ns",
  "io.kubernetes.pod.uid": pod,
});
const dead = (id: string, state: ContainerState = ContainerState.CONTAINER_EXITED): Container => {
  const [pod = "", name = ""] = id.split("-");
  return Container.fromPartial({ id, podSandboxId: `${pod}-box`, metadata: { name }, state, labels: labelsOf(pod) });
};
const deadSandbox = (pod: string): PodSandbox =>
  PodSandbox.fromPartial({ id: `${pod}-box`, state: PodSandboxState.SANDBOX_NOTREADY, labels: labelsOf(pod) });

/** A node with one pod of the API server, and a runtime that performs what `onCall` lets pass. */
function nodeWith(
  { clock }: Pick<Marbles, "clock">,
  containers: readonly Container[],
  {
    policy = {},
    record = {},
    isSettled = true,
  }: { policy?: Partial<ContainerGcPolicy>; record?: Partial<PodRecord>; isSettled?: boolean } = {},
) {
  const uid = podUid("known");
  const podStatuses = createKeyedCell<PodUid, PodStatus>();
  podStatuses.set(uid, { phase: "Running" });
  const records = new Map([[uid, { ...freshRecord({ uid, name: "known", namespace: "ns" }), ...record }]]);
  const node = {
    calls: [] as string[],
    onCall: (_call: string): Observable<unknown> | undefined => undefined,
    files: createSimFiles({ clock }),
    telemetry: recordingTelemetry(),
  };
  const call = (rpc: string, id: string) =>
    defer(() => {
      node.calls.push(`${clock.monotonicMs()} ${rpc} ${id}`);
      return node.onCall(`${rpc} ${id}`) ?? of({});
    });
  const sandboxes = [...new Set(containers.map(({ id }) => id.split("-")[0] ?? ""))].map(deadSandbox);
  const runtime = {
    listContainers: () => node.onCall("list") ?? of({ containers }),
    listPodSandbox: () => of({ items: sandboxes }),
    containerStatus: ({ containerId: id }: { readonly containerId: string }) => {
      const [pod = "", name = ""] = id.split("-");
      return of({ status: { logPath: `/pods/ns_${pod}_${pod}/${name}/0.log` } });
    },
    stopContainer: ({ containerId, timeout }: { readonly containerId: string; readonly timeout: bigint }) =>
      call("stop", `${containerId} ${timeout}`),
    removeContainer: ({ containerId }: { readonly containerId: string }) => call("remove", containerId),
    stopPodSandbox: ({ podSandboxId }: { readonly podSandboxId: string }) => call("stop", podSandboxId),
    removePodSandbox: ({ podSandboxId }: { readonly podSandboxId: string }) => call("remove", podSandboxId),
  };
  const gc = (ready$: Parameters<typeof createContainerGc>[0]["ready$"] = of(true)) =>
    createContainerGc(
      { ready$ },
      {
        clock,
        runtime,
        files: node.files,
        logFiles: createSimLogFiles({ clock, files: node.files }),
        telemetry: node.telemetry,
      } as never,
      {
        nodeName: "node",
        directories: DIRECTORIES,
        containerGc: { minAgeMs: 0, maxPerContainer: 1, maxTotal: -1, ...policy },
      },
      { registry: createCell({ ...emptyRegistry, records, isSettled }), podStatuses },
    );
  return { node, gc, podStatuses };
}

const UNKNOWN = ContainerState.CONTAINER_UNKNOWN;

describe("container garbage collection", () => {
  it(
    "removes containers and sandboxes of unknown pods, one after the other",
    marbles((m) => {
      const unsub = "   200ms !";
      const expected = "";

      const { node, gc } = nodeWith(m, [dead("gone-a"), dead("gone-b"), dead("known-a")], {
        record: { state: "syncing" },
      });
      node.onCall = (call) => (call === "remove gone-a" ? timer(100, m.clock.scheduler) : undefined);
      m.expectObservable(gc().events$, unsub).toBe(expected);
      m.flush();
      expect(node.calls).toEqual(["0 remove gone-a", "100 remove gone-b", "100 stop gone-box", "100 remove gone-box"]);
    }),
  );

  it(
    "removes the logs of a container with it",
    marbles((m) => {
      const unsub = "   200ms !";
      const expected = "";

      const { node, gc } = nodeWith(m, [dead("gone-a")]);
      node.files.put("/pods/ns_gone_gone/a/0.log", "log");
      node.files.put("/pods/ns_gone_gone/a/0.log.20260101-000000", "older log");
      node.files.put("/links/gone_ns_a-gone-a.log", "link");
      m.expectObservable(gc().events$, unsub).toBe(expected);
      m.flush();
      expect(node.files.paths().filter((path) => path.includes(".log"))).toEqual([]);
    }),
  );

  it(
    "repeats every minute, counted from the end of a round",
    marbles((m) => {
      const unsub = "   60200ms !";
      const expected = "";

      const { node, gc } = nodeWith(m, [dead("gone-a")]);
      node.onCall = (call) => (call === "remove gone-a" ? timer(100, m.clock.scheduler) : undefined);
      m.expectObservable(gc().events$, unsub).toBe(expected);
      m.flush();
      expect(node.calls.filter((call) => call.endsWith("remove gone-a"))).toEqual([
        "0 remove gone-a",
        `${MINUTE_MS + 100} remove gone-a`,
      ]);
    }),
  );

  it(
    "reports every failed listing as an event, and continues",
    marbles((m) => {
      const { node, gc } = nodeWith(m, [dead("gone-a")]);
      node.onCall = (call) => (call === "list" ? throwError(() => refused) : undefined);
      m.at(MINUTE_MS + 1, () => (node.onCall = () => undefined));
      const event = {
        type: "Warning",
        reason: "ContainerGCFailed",
        message: refused.message,
        object: { kind: "Node", namespace: "", name: "node", uid: "", fieldPath: "" },
      };
      m.expectObservable(gc().events$, `${2 * MINUTE_MS + 1}ms !`).toBe(`e ${MINUTE_MS - 1}ms e`, { e: event });
      m.flush();
      expect(node.calls[0]).toBe(`${2 * MINUTE_MS} remove gone-a`);
    }),
  );

  it(
    "continues after a removal that fails, and keeps the sandbox of the container that stays",
    marbles((m) => {
      const unsub = "   1s !";
      const expected = "";

      const { node, gc } = nodeWith(m, [dead("gone-a"), dead("gone-b"), dead("left-a")]);
      node.onCall = (call) => (call === "remove gone-a" ? throwError(() => refused) : undefined);
      m.expectObservable(gc().events$, unsub).toBe(expected);
      m.flush();
      expect(node.calls.map((call) => call.slice(2))).toEqual([
        "remove gone-a",
        "remove gone-b",
        "remove left-a",
        "stop left-box",
        "remove left-box",
      ]);
      expect(node.telemetry.lines.map(({ message }) => message)).toEqual(["Failed to remove container"]);
    }),
  );

  it.each([
    ["{}", 2],
    ['{"io.kubernetes.pod.terminationGracePeriod":"7"}', 7],
    ['{"io.kubernetes.pod.terminationGracePeriod":"1"}', 2],
    ['{"io.kubernetes.pod.terminationGracePeriod":"999999999"}', 30],
    ['{"io.kubernetes.pod.deletionGracePeriod":"5","io.kubernetes.pod.terminationGracePeriod":"7"}', 5],
  ])("stops a container in an unknown state first, with the annotations %s", (annotations, seconds) => {
    marbles((m) => {
      const unsub = "   1s !";
      const expected = "";

      const unknown = { ...dead("gone-a", UNKNOWN), annotations: JSON.parse(annotations) as Record<string, string> };
      const { node, gc } = nodeWith(m, [unknown]);
      m.expectObservable(gc().events$, unsub).toBe(expected);
      m.flush();
      expect(node.calls.slice(0, 2)).toEqual([`0 stop gone-a ${seconds}`, "0 remove gone-a"]);
    })();
  });

  it(
    "keeps a container in an unknown state that cannot be stopped",
    marbles((m) => {
      const unsub = "   1s !";
      const expected = "";

      const { node, gc } = nodeWith(m, [dead("gone-a", UNKNOWN)]);
      node.onCall = (call) => (call.startsWith("stop gone-a") ? throwError(() => refused) : undefined);
      m.expectObservable(gc().events$, unsub).toBe(expected);
      m.flush();
      expect(node.calls).toEqual(["0 stop gone-a 2"]);
    }),
  );

  const ALL = ["remove known-a", "stop known-box", "remove known-box"];
  it.each<[string, Partial<PodRecord>, readonly string[]]>([
    ["keeps the last container of a pod that runs", { state: "syncing" }, []],
    ["keeps the last container of a pod that has ended", { state: "terminated" }, []],
    ["removes the last container of an evicted pod", { state: "terminated", evicted: true }, ALL],
  ])("%s", (_title, record, calls) => {
    marbles((m) => {
      const unsub = "   1s !";
      const expected = "";

      const { node, gc } = nodeWith(m, [dead("known-a")], { record });
      m.expectObservable(gc().events$, unsub).toBe(expected);
      m.flush();
      expect(node.calls.map((call) => call.slice(2))).toEqual(calls);
    })();
  });

  it.each<[string, Partial<PodRecord>, readonly string[]]>([
    ["keeps the last container of a pod that runs", { state: "syncing" }, []],
    ["removes the last container of a pod that has ended", { state: "terminated" }, ALL],
    ["removes the last container of an evicted pod", { state: "terminated", evicted: true }, ALL],
  ])("%s when space is needed", (_title, record, calls) => {
    marbles((m) => {
      const expected = "|";

      const { node, gc } = nodeWith(m, [dead("known-a")], { record });
      m.expectObservable(gc().deleteUnused()).toBe(expected);
      m.flush();
      expect(node.calls.map((call) => call.slice(2))).toEqual(calls);
    })();
  });

  it.each<[string, Partial<PodRecord>, readonly string[]]>([
    ["runs", { state: "syncing" }, []],
    ["has ended", { state: "terminated" }, []],
    ["was removed", { state: "terminated", wanted: false }, ["remove known-a", "stop known-box", "remove known-box"]],
  ])("takes no container of a pod that %s and has no status yet, unless the pod is gone", (_what, record, calls) => {
    marbles((m) => {
      const unsub = "           1s !";
      const expectedEvents = "";
      const expectedOnDemand = "|";

      const policy = { maxPerContainer: 0, maxTotal: 0 };
      const { node, gc, podStatuses } = nodeWith(m, [dead("known-a")], { record, policy });
      podStatuses.delete(podUid("known"));
      m.expectObservable(gc().events$, unsub).toBe(expectedEvents);
      m.expectObservable(gc().deleteUnused()).toBe(expectedOnDemand);
      m.flush();
      expect([...new Set(node.calls.map((call) => call.slice(2)))]).toEqual(calls);
    })();
  });

  it(
    "takes no container of a pod that a source may still report",
    marbles((m) => {
      const unsub = "   1s !";
      const expected = "";

      const policy = { maxPerContainer: 0, maxTotal: 0 };
      const { node, gc } = nodeWith(m, [dead("later-a"), dead("known-a")], { policy, isSettled: false });
      m.expectObservable(gc().events$, unsub).toBe(expected);
      m.flush();
      expect(node.calls).toEqual(["0 remove known-a"]);
    }),
  );

  it(
    "collects on demand only after the round that runs",
    marbles((m) => {
      const unsub = "           20s !";
      const expectedEvents = "";
      const expectedOnDemand = "10s |";

      const { node, gc } = nodeWith(m, [dead("gone-a")]);
      node.onCall = (call) => (call === "remove gone-a" ? timer(5_000, m.clock.scheduler) : undefined);
      const { events$, deleteUnused } = gc();
      m.expectObservable(events$, unsub).toBe(expectedEvents);
      m.expectObservable(deleteUnused(), unsub).toBe(expectedOnDemand);
      m.flush();
      expect(node.calls.filter((call) => call.includes("remove gone-a"))).toEqual([
        "0 remove gone-a",
        "5000 remove gone-a",
      ]);
    }),
  );

  it(
    "waits for the runtime",
    marbles((m) => {
      const unsub = "   3600s !";
      const expected = "";

      const { node, gc } = nodeWith(m, [dead("gone-a")]);
      m.expectObservable(gc(NEVER).events$, unsub).toBe(expected);
      m.flush();
      expect(node.calls).toEqual([]);
    }),
  );
});

describe("dead containers of a simulated node", () => {
  const restarting = podOf({ spec: { containers: [containerOf({ name: "a" }), containerOf({ name: "b" })] } });

  it.each([
    [{ maxPerContainer: 1 }, 2],
    [{ maxPerContainer: 3 }, 6],
    [{ maxPerContainer: 3, maxTotal: 4 }, 4],
  ] satisfies [Partial<ContainerGcPolicy>, number][])("are bounded by %o", (policy, most) => {
    const containerGc = { minAgeMs: 0, maxTotal: -1, ...policy };
    const { node, check } = podNode({ pods: [restarting], programs: () => exitsWith(1, 100), config: { containerGc } });
    let deadThen = 0;
    for (let minute = 0; minute < 20; minute += 1) {
      node.runFor(MINUTE_MS);
      deadThen = node.runtime.containers().filter(({ phase }) => phase.kind === "exited").length;
      // Two containers, each with the instance that has just ended.
      expect(deadThen).toBeLessThanOrEqual(2 * (policy.maxPerContainer + 1));
    }
    expect(deadThen).toBe(most);
    check();
  });

  it("stay after a restart until the statuses of their pods are rebuilt, and more than the limit go then", () => {
    const containers = ["a", "b"].map((name) => containerOf({ name }));
    const manifestOf = (name: string) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: { restartPolicy: "Never", containers },
    });
    const manifests = { one: manifestOf("one"), two: manifestOf("two") };
    const containerGc = { minAgeMs: 0, maxPerContainer: 1, maxTotal: 1 };
    const { node, check } = podNode({
      manifests,
      programs: () => exitsWith(3, 100),
      config: { containerGc, sources: ["file"] },
      // Each inspection lists late enough for garbage collection to remove containers before it.
      intercept: (rpc, request) =>
        rpc === "ListContainers" && (request as { filter?: unknown }).filter !== undefined
          ? { kind: "delay", ms: 1_000 }
          : { kind: "proceed" },
    });
    const codes = () =>
      node.pods().map(({ status }) => status?.containerStatuses?.map(({ state }) => state?.terminated?.exitCode));
    node.runFor(20_000);
    const before = codes();
    expect(before).toEqual([
      [3, 3],
      [3, 3],
    ]);
    node.crashKubelet();
    node.restartKubelet();
    node.runFor(10_000);
    expect(codes()).toEqual(before);
    expect(node.runtime.containers()).toHaveLength(1);
    check();
  });

  it("leave the status of a pod that has ended as it was", () => {
    const pod = podOf({ spec: { restartPolicy: "Never" } });
    const containerGc = { minAgeMs: 0, maxPerContainer: 0, maxTotal: -1 };
    const { node, check } = podNode({ pods: [pod], programs: () => exitsWith(3, 100), config: { containerGc } });
    node.runFor(20_000);
    const before = node.pods().map(({ status }) => status);
    expect(before[0]?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(3);
    node.runFor(10 * MINUTE_MS);
    expect(node.runtime.containers()).toEqual([]);
    expect(node.pods().map(({ status }) => status)).toEqual(before);
    check();
  });
});
