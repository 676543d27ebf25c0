/** Cgroups outside of pods: limited before pods are, and a node that cannot limit them does not go on. */
import { expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { ReservedCgroup } from "../../../../src/core/resources/reservedCgroups.ts";
import { enforceReserved } from "../../../../src/pipelines/node/enforceReserved.ts";
import { createSimCgroups } from "../../../../src/sim/host/simCgroups.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";

const SYSTEM: ReservedCgroup = {
  reservation: "system reserved",
  isCompressible: false,
  cgroup: "/sys",
  limits: { cpuShares: 512, pidsLimit: 9 },
};
const KUBE: ReservedCgroup = {
  reservation: "kube reserved",
  isCompressible: true,
  cgroup: "/kube",
  limits: { cpuShares: 2 },
};
const event = (message: string) => ({
  type: "Normal",
  reason: "NodeAllocatableEnforced",
  message,
  object: { kind: "Node", namespace: "", name: "n1", uid: "", fieldPath: "" },
});
const events = {
  s: event("Updated limits on system reserved cgroup /sys"),
  k: event("Updated limits on kube reserved cgroup /kube"),
};

/** Cgroups of which those named are there; a write takes 1 ms. */
function world({ clock }: Marbles, existing: readonly string[], reservedCgroups: readonly ReservedCgroup[]) {
  const cgroups = createSimCgroups({ clock, latencyMs: 1 });
  for (const name of existing) cgroups.add(name);
  return { cgroups, stream$: enforceReserved(cgroups, { nodeName: "n1", cgroupDriver: "cgroupfs", reservedCgroups }) };
}

it(
  "writes the limits of each cgroup, with an event",
  marbles((m) => {
    const expected = "-s(k|)";

    const { cgroups, stream$ } = world(m, ["/sys", "/kube"], [SYSTEM, KUBE]);
    m.expectObservable(stream$).toBe(expected, events);
    m.flush();
    expect([...cgroups.all()]).toEqual([
      ["/kube", { cpuShares: 2 }],
      ["/sys", { cpuShares: 512, pidsLimit: 9 }],
    ]);
  }),
);

it(
  "creates no missing cgroup, and names it",
  marbles((m) => {
    const expected = "-s#";

    const { cgroups, stream$ } = world(m, ["/sys"], [SYSTEM, KUBE]);
    const message =
      'Failed to enforce Kube Reserved Compressible Cgroup Limits on "/kube": cgroup /kube does not exist';
    m.expectObservable(stream$).toBe(expected, events, kubeletError("NotFound", message, { cause: expect.anything() }));
    m.flush();
    expect([...cgroups.all().keys()]).toEqual(["/sys"]);
  }),
);

it(
  "rejects an empty reservation",
  marbles((m) => {
    const expected = "#";

    const { stream$ } = world(m, ["/sys"], [{ ...SYSTEM, limits: undefined }]);
    const message =
      'Failed to enforce System Reserved Cgroup Limits on "/sys": ["sys"] cgroup is not configured properly';
    m.expectObservable(stream$).toBe(
      expected,
      {},
      kubeletError("InvalidArgument", message, { cause: expect.anything() }),
    );
  }),
);
