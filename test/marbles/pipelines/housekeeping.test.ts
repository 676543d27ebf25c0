import { Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import type { AdmissionResult } from "../../../src/core/admission/admit.ts";
import { advanceRegistry, type RegistryInput } from "../../../src/core/pod/podRegistry.ts";
import { housekeeping } from "../../../src/pipelines/housekeeping.ts";
import { createUserNamespaces } from "../../../src/pipelines/userNamespaces.ts";
import { createSimFiles } from "../../../src/sim/simFiles.ts";
import { simKubeletConfig } from "../../../src/sim/simKubeletConfig.ts";
import { simMachine } from "../../../src/sim/simMachine.ts";
import { createNodeState } from "../../../src/state/nodeState.ts";
import { marbles } from "../../support/marbles.ts";
import { podNode } from "../../support/podNode.ts";
import { ALL_RESIZABLE, containerOf, podOf } from "../../support/pods.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const POD_DIR = "/var/lib/kubelet/pods/gone/volumes/kubernetes.io~empty-dir/data";
const LOG_DIR = "/var/log/pods/demo_gone_gone/main";

describe("housekeeping", () => {
  it("removes directories and logs of pods that neither a source wants nor the runtime has", () => {
    const { node, check } = podNode({ pods: [podOf()] });
    node.files.put(`${POD_DIR}/file`, "data");
    node.files.put(`${LOG_DIR}/0.log`, "log");
    node.files.put("/var/log/pods/something else", "not ours");
    node.runFor(60_000);
    const left = node.files.paths().filter((path) => path.includes("gone") || path.includes("something else"));
    expect(left).toEqual(["/var/log/pods/something else"]);
    expect(node.files.paths()).toContain("/var/lib/kubelet/pods/uid-1");
    check();
  });

  it("waits until every source has said what it wants", () => {
    const { node, check } = podNode({ config: { sources: ["api", "http"] }, pageFate: () => ({ kind: "hang" }) });
    node.files.put(`${POD_DIR}/file`, "data");
    node.runFor(600_000);
    expect(node.files.paths()).toContain(POD_DIR);
    check();
  });

  it("never touches what a wanted pod left on disk before the machine went down, though the runtime has nothing of it", () => {
    const mine = "/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/data/file";
    const volumeMounts = [{ name: "data", mountPath: "/data" }];
    const spec = { volumes: [{ name: "data", emptyDir: {} }], containers: [containerOf({ volumeMounts })] };
    const { node, check } = podNode({ pods: [podOf({ spec })] });
    node.files.put(mine, "precious");
    node.runFor(600_000);
    expect(node.files.read(mine)).toBe("precious");
    check();
  });

  it(
    "gives the registry time to hear what the sources want: it learns it through a queue, after all are known",
    marbles((m) => {
      const state = createNodeState();
      const files = createSimFiles(m);
      const mine = "/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/data/file";
      files.put(mine, "precious");
      const ready = new Subject<void>();
      m.at(10, () => {
        ready.next();
        const update: RegistryInput = { kind: "update", update: { op: "ADD", source: "file", pods: [podOf()] } };
        const admit = (): AdmissionResult => ({ admitted: true, preempt: [] });
        const step = advanceRegistry(state.registry.value, update, {
          parts: ALL_RESIZABLE,
          admit,
          infeasible: () => undefined,
          sourcesReady: true,
          runtimePods: [],
        });
        m.scheduler.schedule(() => state.registry.set(step.registry));
      });
      const ports = { files, mounts: undefined, cgroups: undefined, clock: m.clock, telemetry: recordingTelemetry() };
      const config = simKubeletConfig(simMachine());
      const userNamespaces = createUserNamespaces(ports, config, state);
      const volumesOf = { forget: () => undefined };
      m.expectObservable(
        housekeeping({ ready$: ready }, ports, config, { ...state, userNamespaces, volumesOf }),
        "100s !",
      ).toBe("");
      m.flush();
      expect(files.read(mine)).toBe("precious");
    }),
  );

  it("goes on with the rest when one thing cannot be removed, and tries that again with the next sweep", () => {
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
