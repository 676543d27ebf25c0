import { describe, expect, it } from "vitest";
import { defaultPullPolicy, imageTag } from "../../../src/core/pod/imageTag.ts";

describe("imageTag", () => {
  it.each([
    ["nginx", "latest", "Always"],
    ["nginx:latest", "latest", "Always"],
    ["nginx:1.27", "1.27", "IfNotPresent"],
    ["registry.example:5000/team/app", "latest", "Always"],
    ["registry.example:5000/team/app:v2", "v2", "IfNotPresent"],
    ["nginx@sha256:0000", "", "IfNotPresent"],
    ["nginx:latest@sha256:0000", "latest", "Always"],
    ["", "", "IfNotPresent"],
  ])("%j has tag %j and is pulled %s", (reference, tag, policy) => {
    expect([imageTag(reference), defaultPullPolicy(reference)]).toEqual([tag, policy]);
  });
});
