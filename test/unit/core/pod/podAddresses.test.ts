/** Address at which probes and hooks reach a container. */
import { describe, expect, it } from "vitest";
import { podUid, sandboxId } from "../../../../src/core/ids.ts";
import { containerAddress, podAddresses } from "../../../../src/core/pod/podAddresses.ts";
import { emptyRuntimeStatus, type RuntimeSandbox } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { podOf } from "../../../support/pods.ts";

const NODE = ["192.0.2.1"];
const BEFORE = { podIP: "10.1.0.3", podIPs: [{ ip: "10.1.0.3" }] };

const sandboxOf = (id: string, ready: boolean, ...ips: readonly string[]) =>
  ({ id: sandboxId(id), ready, ips, labels: {}, annotations: {} }) as unknown as RuntimeSandbox;
const statusOf = (...sandboxes: readonly RuntimeSandbox[]) => ({
  ...emptyRuntimeStatus(podUid("uid-1"), "plain", "demo", 1),
  sandboxes,
});
const inSandbox = (id: string) => ({ sandboxId: sandboxId(id) });

describe("containerAddress", () => {
  it("is that of the container's own sandbox, though the sandbox died and the pod's status keeps an older one", () => {
    const runtime = statusOf(sandboxOf("s2", false, "10.1.0.2"));
    expect(containerAddress(podOf(), runtime, inSandbox("s2"), BEFORE, NODE)).toBe("10.1.0.2");
    expect(podAddresses(podOf(), runtime, BEFORE, NODE).podIP).toBe("10.1.0.3");
  });

  it("is missing when the sandbox lost its address or is unknown, whatever the status says", () => {
    const runtime = statusOf(sandboxOf("s2", false), sandboxOf("s1", false, "10.1.0.3"));
    expect(containerAddress(podOf(), runtime, inSandbox("s2"), BEFORE, NODE)).toBeUndefined();
    expect(containerAddress(podOf(), runtime, inSandbox("s0"), BEFORE, NODE)).toBeUndefined();
  });

  it("has the node's primary family, if the sandbox has it", () => {
    const runtime = statusOf(sandboxOf("s1", true, "fd00::2", "10.1.0.2"));
    expect(containerAddress(podOf(), runtime, inSandbox("s1"), undefined, NODE)).toBe("10.1.0.2");
    expect(containerAddress(podOf(), runtime, inSandbox("s1"), undefined, ["fd00::1"])).toBe("fd00::2");
  });

  it("is the node's for a pod on the node's network", () => {
    const pod = podOf({ spec: { hostNetwork: true } });
    expect(containerAddress(pod, statusOf(sandboxOf("s1", true)), inSandbox("s1"), undefined, NODE)).toBe("192.0.2.1");
  });
});
