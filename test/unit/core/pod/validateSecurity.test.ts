import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../src/core/api.ts";
import { validateContainerSecurity, validatePodSecurity } from "../../../../src/core/pod/validateSecurity.ts";

type PodSecurity = NonNullable<PodSpec["securityContext"]>;
const problemsOf = (securityContext: unknown): readonly string[] =>
  [...validatePodSecurity({ containers: [], securityContext: securityContext as PodSecurity }, "spec")].map(
    ({ field, reason }) => `${field}: ${reason}`,
  );

describe("validatePodSecurity", () => {
  it.each([
    ["fsGroupChangePolicy", ["Always", "OnRootMismatch"]],
    ["supplementalGroupsPolicy", ["Merge", "Strict"]],
    ["seLinuxChangePolicy", ["MountOption", "Recursive"]],
  ])("takes the values of %s, and names them for any other", (key, values) => {
    for (const value of values) expect(problemsOf({ [key]: value })).toEqual([]);
    const supported = values.map((value) => `"${value}"`).join(", ");
    expect(problemsOf({ [key]: "x" })).toEqual([
      `spec.securityContext.${key}: Unsupported value: "x": supported values: ${supported}`,
    ]);
  });

  it.each(["RuntimeDefault", "Unconfined"])("takes the profile %s", (type) => {
    expect(problemsOf({ seccompProfile: { type }, appArmorProfile: { type } })).toEqual([]);
  });
});

it.each(["Default", "Unmasked"])("takes the procMount %s of a pod with user namespaces", (procMount) => {
  expect([...validateContainerSecurity({ procMount }, false, "at")]).toEqual([]);
});
