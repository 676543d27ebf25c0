import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../src/core/api.ts";
import { type PodFieldGates, withoutGatedFields } from "../../../../src/core/pod/gatedFields.ts";
import { container, pod, sidecar } from "../samples.ts";

const ALL: PodFieldGates = { containerRestartRules: true, restartAllContainers: true, hostnameOverride: true };
const rule = (action: string) => ({ action, exitCodes: { operator: "In", values: [1] } });
const rules = { restartPolicyRules: [rule("Restart"), rule("RestartAllContainers")] };
const full = pod({
  hostnameOverride: "name.example",
  initContainers: [container("i", { restartPolicy: "OnFailure", ...rules }), sidecar("s", rules)],
  containers: [container("web", { restartPolicy: "Never", ...rules }), container("plain")],
});
const { hostnameOverride: _, ...unnamed } = full.spec;

describe("withoutGatedFields", () => {
  it("leaves everything as it is while all gates are on", () => {
    const pods = [full];
    expect(withoutGatedFields(pods, ALL)).toBe(pods);
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
    expect(withoutGatedFields([full], { ...ALL, [gate]: false })).toEqual([{ ...full, spec }]);
  });
});
