import { expect, it } from "vitest";
import { hugePageSize } from "../../../../src/core/volume/hugePages.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const requesting = (...names: readonly string[]) =>
  containerOf({ resources: { requests: Object.fromEntries(names.map((name) => [name, "4Mi"])) } });
const missing = (medium: string) =>
  `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`;

it.each([
  ["HugePages", ["hugepages-2Mi", "cpu"], [], "2Mi"],
  ["HugePages", [], ["hugepages-1Gi"], "1Gi"],
  ["HugePages", ["hugepages-2Mi"], ["hugepages-2Mi"], "2Mi"],
  ["HugePages-1Gi", ["hugepages-2Mi"], ["hugepages-1Gi"], "1Gi"],
  ["HugePages-1024Mi", ["hugepages-1024Mi"], [], "1Gi"],
  ["HugePages-1Gi", ["hugepages-2Mi"], [], missing("HugePages-1Gi")],
  ["HugePages", ["cpu"], [], missing("HugePages")],
  ["HugePages-x", ["hugepages-x"], [], missing("HugePages-x")],
  [
    "HugePages",
    ["hugepages-2Mi"],
    ["hugepages-1Gi"],
    "medium: HugePages can't be used if container requests multiple huge page sizes",
  ],
  ["Memory2", ["hugepages-2Mi"], [], 'unknown storage medium "Memory2"'],
])("medium %s of a pod that requests %j, and %j in an init container: %s", (medium, main, init, expected) => {
  const pod = podOf({ spec: { containers: [requesting(...main)], initContainers: [requesting(...init)] } });
  const size = hugePageSize(pod, medium);
  expect(size.ok ? size.value : size.error.message).toBe(expected);
  expect(size.ok || size.error.reason).toBe(size.ok || "FailedMount");
});

it("requests of the whole pod count", () => {
  const pod = podOf({ spec: { resources: { requests: { "hugepages-2Mi": "4Mi" } } } });
  expect(hugePageSize(pod, "HugePages")).toEqual({ ok: true, value: "2Mi" });
});
