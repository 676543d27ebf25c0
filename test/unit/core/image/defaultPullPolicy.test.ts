import { describe, expect, it } from "vitest";
import { defaultPullPolicy } from "../../../../src/core/image/defaultPullPolicy.ts";

const SHA = `sha256:${"0".repeat(64)}`;

describe("defaultPullPolicy", () => {
  it.each([
    ["nginx", "Always"],
    ["nginx:latest", "Always"],
    ["nginx:1.27", "IfNotPresent"],
    ["registry.example:5000/team/app", "Always"],
    ["registry.example:5000/team/app:v2", "IfNotPresent"],
    [`nginx@${SHA}`, "IfNotPresent"],
    [`nginx:latest@${SHA}`, "Always"],
    ["BAD//NAME", "IfNotPresent"],
    ["", "IfNotPresent"],
  ])("%j is pulled %s", (reference, policy) => {
    expect(defaultPullPolicy(reference)).toBe(policy);
  });
});
