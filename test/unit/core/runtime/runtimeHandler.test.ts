import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "../../../../src/core/api.ts";
import {
  hasRecursiveReadOnlyMounts,
  runtimeHandlerOf,
  userNamespacesFault,
  withOverhead,
} from "../../../../src/core/runtime/runtimeHandler.ts";
import type { RuntimeHandlerState } from "../../../../src/core/runtime/runtimeState.ts";
import { podOf } from "../../../support/pods.ts";

const CLASSES = new Map([["sandboxed", { metadata: { name: "sandboxed" }, handler: "runsc" }]]);
const handlers: readonly RuntimeHandlerState[] = [
  { name: "", recursiveReadOnlyMounts: true, userNamespaces: true },
  { name: "runsc", recursiveReadOnlyMounts: false, userNamespaces: false },
];

describe("runtimeHandlerOf", () => {
  it.each([
    [undefined, ""],
    ["", ""],
    ["sandboxed", "runsc"],
  ])("class %j has the handler %j", (runtimeClassName, handler) => {
    const spec = runtimeClassName === undefined ? {} : { runtimeClassName };
    expect(runtimeHandlerOf(podOf({ spec }), CLASSES)).toEqual({ ok: true, value: handler });
  });

  it("fails for a class that does not exist yet", () => {
    expect(runtimeHandlerOf(podOf({ spec: { runtimeClassName: "kata" } }), CLASSES)).toEqual({
      ok: false,
      error: {
        code: "NotFound",
        reason: "CreatePodSandboxError",
        message: 'runtimeclass.node.k8s.io "kata" not found',
        retryable: true,
      },
    });
  });
});

describe("the overhead of a class", () => {
  const HEAVY = new Map([
    ["kata", { metadata: { name: "kata" }, handler: "kata", overhead: { podFixed: { cpu: "1" } } }],
  ]);
  const podFrom = (source: string, spec: Partial<PodSpec> = {}) =>
    podOf({ annotations: { "kubernetes.io/config.source": source }, spec: { runtimeClassName: "kata", ...spec } });
  const bare = podFrom("file");
  it.each<[string, Pod, Pod | undefined, string | undefined]>([
    ["a static pod of the class", bare, undefined, "1"],
    ["a pod of an API server, which has said what it has", podFrom("api"), undefined, undefined],
    ["a pod that states its own", podFrom("file", { overhead: { cpu: "2" } }), undefined, "2"],
    ["a pod that got another before", bare, podFrom("file", { overhead: { cpu: "3" } }), "3"],
    ["a pod of another class", podFrom("file", { runtimeClassName: "none" }), undefined, undefined],
  ])("of %s", (_title, pod, known, cpu) => {
    expect(withOverhead(pod, HEAVY, known).spec.overhead?.["cpu"]).toBe(cpu);
  });

  it("must be added before the handler is returned", () => {
    expect([bare, withOverhead(bare, HEAVY), podFrom("api")].map((pod) => runtimeHandlerOf(pod, HEAVY).ok)).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe("userNamespacesFault", () => {
  const CANNOT = "can't set `spec.hostUsers: false`,";
  it.each<[string, readonly RuntimeHandlerState[] | undefined, string | undefined]>([
    ["", handlers, undefined],
    ["runsc", handlers, `${CANNOT} RuntimeClass handler "runsc" does not support user namespaces`],
    [
      "kata",
      handlers,
      `${CANNOT} RuntimeClass handler "kata" does not support user namespaces: the handler "kata" is not known`,
    ],
    ["", [], `${CANNOT} runtime does not support user namespaces: the handler "" is not known`],
    [
      "",
      [{ name: "", recursiveReadOnlyMounts: true, userNamespaces: false }],
      `${CANNOT} runtime does not support user namespaces`,
    ],
    ["", undefined, `${CANNOT} runtime does not support user namespaces: runtime handlers are not set`],
  ])("of handler %j among %j", (handler, known, fault) => {
    expect(userNamespacesFault({ handlers: known }, handler)).toBe(fault);
  });
});

describe("hasRecursiveReadOnlyMounts", () => {
  it.each<[string, readonly RuntimeHandlerState[] | undefined, boolean]>([
    ["", handlers, true],
    ["runsc", handlers, false],
    ["kata", handlers, false],
    ["", undefined, false],
  ])("of handler %j among %j is %s", (handler, known, expected) => {
    expect(hasRecursiveReadOnlyMounts({ handlers: known }, handler)).toBe(expected);
  });
});
