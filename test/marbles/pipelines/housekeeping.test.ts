import { defer, EMPTY, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { housekeeping } from "../../../src/pipelines/housekeeping.ts";
import { createNodeState } from "../../../src/state/nodeState.ts";
import { marbles } from "../../support/marbles.ts";
import { podNode } from "../../support/podNode.ts";
import { containerOf, podOf } from "../../support/pods.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const POD_DIR = "/var/lib/kubelet/pods/gone/volumes/kubernetes.io~empty-dir/data";
const LOG_DIR = "/var/log/pods/demo_gone_gone/main";

describe("housekeeping", () => {
  it("removes directories and logs of pods that neither the registry nor the runtime has", () => {
    const { node, check } = podNode({ pods: [podOf()] });
    node.files.put(`${POD_DIR}/file`, "data");
    node.files.put(`${LOG_DIR}/0.log`, "log");
    node.files.put("/var/log/pods/something else", "not ours");
    const found = () => node.telemetry.value("kubelet_orphan_pod_cleaned_volumes");
    expect(node.runUntil(() => found() > 0, 60_000)).toBe(true);
    expect(found()).toBe(1);
    node.runFor(60_000);
    expect([found(), node.telemetry.value("kubelet_orphan_pod_cleaned_volumes_errors")]).toEqual([0, 0]);
    const left = node.files.paths().filter((path) => path.includes("gone") || path.includes("something else"));
    expect(left).toEqual(["/var/log/pods/something else"]);
    expect(node.files.paths()).toContain("/var/lib/kubelet/pods/uid-1");
    check();
  });

  it("destroys the cgroups of unknown pods in every QoS class, and keeps all others", () => {
    const { node, check } = podNode({ pods: [podOf()] });
    node.runFor(1_000);
    const before = [...node.cgroups.all().keys()];
    const orphans = ["/kubepods/podgone-1", "/kubepods/burstable/podgone-2", "/kubepods/besteffort/podgone-3"];
    for (const name of [...orphans, "/kubepods/burstable/other"]) {
      node.cgroups.ensure(name, { cpuShares: 2 }).subscribe();
    }
    node.runFor(60_000);
    expect(before.some((name) => name.endsWith("/poduid-1"))).toBe(true);
    expect([...node.cgroups.all().keys()]).toEqual([...before, "/kubepods/burstable/other"].sort());
    check();
  });

  it("waits until every source has reported", () => {
    const { node, check } = podNode({ config: { sources: ["api", "http"] }, pageFate: () => ({ kind: "hang" }) });
    node.files.put(`${POD_DIR}/file`, "data");
    node.runFor(600_000);
    expect(node.files.paths()).toContain(POD_DIR);
    check();
  });

  it("keeps the directories of a desired pod that the runtime does not have, as after a reboot", () => {
    const mine = "/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/data/file";
    const volumeMounts = [{ name: "data", mountPath: "/data" }];
    const spec = { volumes: [{ name: "data", emptyDir: {} }], containers: [containerOf({ volumeMounts })] };
    const { node, check } = podNode({ pods: [podOf({ spec })] });
    node.files.put(mine, "precious");
    node.runFor(600_000);
    expect(node.files.read(mine)).toBe("precious");
    check();
  });

  it("removes nothing before the registry has the pods of all sources, however long the start takes", () => {
    const mine = "/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/data/file";
    const volumeMounts = [{ name: "data", mountPath: "/data" }];
    const spec = { volumes: [{ name: "data", emptyDir: {} }], containers: [containerOf({ volumeMounts })] };
    let isSlow = false;
    const { node, check } = podNode({
      pods: [podOf({ spec })],
      images: [],
      // The kubelet reads the pull records before the first pod.
      config: { imageVerification: { policy: "NeverVerifyPreloadedImages" } },
      intercept: (rpc) => (isSlow && rpc === "ListImages" ? { kind: "delay", ms: 15_000 } : { kind: "proceed" }),
    });
    node.runFor(60_000);
    node.files.put(mine, "precious");
    isSlow = true;
    node.powerOff();
    node.restartRuntime();
    for (const { id } of node.runtime.sandboxes()) {
      node.runtime.runtime.removePodSandbox({ podSandboxId: id }).subscribe();
    }
    node.runFor(1_000);
    node.restartKubelet();
    node.runFor(60_000);
    expect([node.files.read(mine), node.running().length]).toEqual(["precious", 1]);
    check();
  });

  it("continues after a failed removal, and retries it in the next sweep", () => {
    let broken = true;
    const { node, check } = podNode({
      fileFault: (operation, path) =>
        broken && operation === "remove" && path.endsWith("pods/gone") ? "Io" : undefined,
    });
    node.files.put(`${POD_DIR}/file`, "data");
    node.files.put(`${LOG_DIR}/0.log`, "log");
    node.runFor(20_000);
    expect([node.files.at("/var/lib/kubelet/pods/gone")?.kind, node.files.at("/var/log/pods/demo_gone_gone")]).toEqual([
      "directory",
      undefined,
    ]);
    broken = false;
    node.runFor(60_000);
    expect(node.files.at("/var/lib/kubelet/pods/gone")).toBe(undefined);
    check();
  });
});

describe("a driver that does not answer", () => {
  it(
    "keeps its orphaned volume, and holds up no logs",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   - 25s !";
      const expected = "-";

      const gone: string[] = [];
      const removal = (path: string) =>
        defer(() => {
          gone.push(path);
          return of(undefined);
        });
      const lists: Readonly<Record<string, readonly string[]>> = {
        "/k/pods": ["stuck"],
        "/l": ["demo_gone_gone"],
      };
      const list = (path: string) => of(lists[path] ?? []);
      const ports = {
        ...{ clock, telemetry: recordingTelemetry(), mounts: undefined },
        files: { list, remove: removal, kindOf: () => of(undefined) },
        cgroups: { list, destroy: removal },
      } as unknown as Parameters<typeof housekeeping>[1];
      const config = {
        directories: { rootDir: "/k", podLogsDir: "/l", containerLogsDir: "/c" },
        ...{ resyncPeriodMs: 10_000, cgroupRoot: "/", cgroupsPerQos: true },
      } as unknown as Parameters<typeof housekeeping>[2];
      const services = {
        userNamespaces: { release: () => EMPTY },
        volumes: { unpublish: () => NEVER, release: () => EMPTY, unstage: () => of([]), unstaging$: NEVER },
      } as unknown as Parameters<typeof housekeeping>[4];
      const swept$ = housekeeping({ ready$: of("ready") }, ports, config, createNodeState(), services);
      expectObservable(swept$, unsub).toBe(expected);
      flush();
      expect(gone).toEqual(Array(3).fill("/l/demo_gone_gone"));
    }),
  );
});
