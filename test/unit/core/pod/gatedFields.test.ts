import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../src/core/api.ts";
import { gatedPods, type PodFieldGates } from "../../../../src/core/pod/gatedFields.ts";
import { container, pod, sidecar } from "../samples.ts";

const ALL: PodFieldGates = {
  containerRestartRules: true,
  restartAllContainers: true,
  hostnameOverride: true,
  stopSignals: true,
  envFiles: true,
};
const rule = (action: string) => ({ action, exitCodes: { operator: "In", values: [1] } });
const rules = { restartPolicyRules: [rule("Restart"), rule("RestartAllContainers")] };
const full = pod({
  hostnameOverride: "name.example",
  initContainers: [container("i", { restartPolicy: "OnFailure", ...rules }), sidecar("s", rules)],
  containers: [container("web", { restartPolicy: "Never", ...rules }), container("plain")],
});
const signalled = pod({ containers: [container("web", { lifecycle: { stopSignal: "SIGUSR1" } }), container("plain")] });
const fileKeyRef = { volumeName: "v", path: "f", key: "K" };
const fromFile = pod({
  initContainers: [container("i", { env: [{ name: "A", valueFrom: { fileKeyRef } }] })],
  containers: [container("web", { env: [{ name: "B", value: "b" }] })],
});
const { hostnameOverride: _, ...unnamed } = full.spec;

describe("gatedPods", () => {
  it("leaves pods unchanged while all gates are on", () => {
    const pods = [full];
    expect(gatedPods(ALL)(pods)).toBe(pods);
  });

  it.each<[keyof PodFieldGates, PodSpec]>([
    ["hostnameOverride", unnamed],
    [
      "containerRestartRules",
      {
        ...full.spec,
        initContainers: [container("i"), sidecar("s")],
        containers: [container("web"), container("plain")],
      },
    ],
    [
      "restartAllContainers",
      {
        ...full.spec,
        initContainers: [
          container("i", { restartPolicy: "OnFailure", restartPolicyRules: [rule("Restart")] }),
          sidecar("s", { restartPolicyRules: [rule("Restart")] }),
        ],
        containers: [
          container("web", { restartPolicy: "Never", restartPolicyRules: [rule("Restart")] }),
          container("plain"),
        ],
      },
    ],
  ])("without %s", (gate, spec) => {
    expect(gatedPods({ ...ALL, [gate]: false })([full])).toEqual([{ ...full, spec }]);
  });

  it("without containerRestartRules: drops restart policies of all but sidecars; other pods stay the same object", () => {
    const gated = gatedPods({ ...ALL, containerRestartRules: false });
    const always = container("web", { restartPolicy: "Always" });
    const subject = pod({
      initContainers: [sidecar("s"), container("i", { restartPolicy: "Never" })],
      containers: [always, container("ruled", { restartPolicyRules: [rule("Restart")] })],
    });
    const plain = pod({ initContainers: [container("i")] });
    const [stripped, same] = gated([subject, plain]);
    expect(stripped?.spec.initContainers).toEqual([sidecar("s"), container("i")]);
    expect(stripped?.spec.containers).toEqual([container("web"), container("ruled")]);
    expect(same).toBe(plain);
  });

  it("without restartAllContainers: a pod that has no rules stays the same object", () => {
    const plain = pod({ containers: [container("web", { restartPolicy: "Never" })] });
    expect(gatedPods({ ...ALL, restartAllContainers: false })([plain])[0]).toBe(plain);
  });

  it("without stopSignals and envFiles: drops the signal and empties the variable; other pods stay the same object", () => {
    const gated = gatedPods({ ...ALL, stopSignals: false, envFiles: false });
    const [noSignal, empty, same] = gated([signalled, fromFile, full]);
    expect(noSignal?.spec.containers).toEqual([container("web", { lifecycle: {} }), container("plain")]);
    expect(empty?.spec.initContainers).toEqual([container("i", { env: [{ name: "A", value: "" }] })]);
    expect([empty?.spec.containers === fromFile.spec.containers, same === full]).toEqual([true, true]);
    const list = [full];
    expect(gated(list)).toBe(list);
    // Equal pods stay equal, so they do not cause an update.
    expect(gated([signalled])[0]).toBe(noSignal);
  });
});
