import { describe, expect, it } from "vitest";
import { podQosClass } from "../../../../src/core/pod/qos.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const resources = (requests: Record<string, string>, limits: Record<string, string> = {}) => ({ requests, limits });
const full = resources({ cpu: "100m", memory: "64Mi" }, { cpu: "0.1", memory: "65536Ki" });

describe("podQosClass", () => {
  it.each([
    ["nothing set", [{}], "BestEffort"],
    ["only zeros", [resources({ cpu: "0" }, { memory: "0" })], "BestEffort"],
    ["other resources only", [resources({ "ephemeral-storage": "1Gi" })], "BestEffort"],
    ["requests equal to limits, however written", [full], "Guaranteed"],
    ["all containers guaranteed", [full, full], "Guaranteed"],
    ["a limit without request", [resources({}, { cpu: "1", memory: "1Gi" })], "Burstable"],
    ["text that is no quantity", [resources({ cpu: "many" })], "BestEffort"],
    ["memory only", [resources({ memory: "1Gi" }, { memory: "1Gi" })], "Burstable"],
    ["request below limit", [resources({ cpu: "1", memory: "1Gi" }, { cpu: "2", memory: "1Gi" })], "Burstable"],
    ["guaranteed beside nothing", [full, {}], "Burstable"],
  ])("%s", (_, sets, expected) => {
    const containers = sets.map((each, index) => containerOf({ name: `c${index}`, resources: each }));
    expect(podQosClass(podOf({ spec: { containers } }))).toBe(expected);
  });

  it("counts init containers", () => {
    const spec = { containers: [containerOf({ resources: full })], initContainers: [containerOf({ name: "init" })] };
    expect(podQosClass(podOf({ spec }))).toBe("Burstable");
  });

  it("uses the containers when the pod sets no pod-level resource", () => {
    const containers = [containerOf({ resources: full })];
    const classes = [{}, resources({ "example.com/gpu": "1" })].map((own) =>
      podQosClass(podOf({ spec: { containers, resources: own } })),
    );
    expect(classes).toEqual(["Guaranteed", "Guaranteed"]);
  });

  it("uses only pod-level resources when they are set", () => {
    const spec = { containers: [containerOf({ resources: resources({ cpu: "1" }) })], resources: full };
    expect(podQosClass(podOf({ spec }))).toBe("Guaranteed");
  });
});
