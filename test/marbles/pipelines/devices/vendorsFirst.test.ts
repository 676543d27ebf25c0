/** The owner of the GPUs of a resource: a vendor's plugin or the GPU manager of the kubelet. */
import { describe, expect, it } from "vitest";
import {
  type DeviceAllocations,
  NO_ALLOCATIONS,
  withDeviceAllocation,
} from "../../../../src/core/device/deviceAllocations.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { ContainerAllocateResponse } from "../../../../src/gen/devicePlugin.ts";
import { vendorRefusal, vendorsFirst } from "../../../../src/pipelines/devices/vendorsFirst.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const GPU = "nvidia.com/gpu";
const values = {
  r: { resource: GPU, socket: undefined },
  g: { resource: GPU, socket: "gpu-manager:nvidia.com/gpu", isBuiltIn: true },
  v: { resource: GPU, socket: "/nvidia.sock" },
};
const holding = (id: string): DeviceAllocations =>
  withDeviceAllocation(NO_ALLOCATIONS, podUid("p"), ["main", GPU], {
    ...{ ids: new Map([[0, [id]]]), response: ContainerAllocateResponse.fromPartial({}), isStale: false },
  });

function run(m: Marbles, source: string, allocations: DeviceAllocations = NO_ALLOCATIONS) {
  const events: string[] = [];
  const telemetry = recordingTelemetry();
  const report = {
    ...{ log: telemetry.log, nodeName: "node" },
    event: ({ reason, message }: { readonly reason: string; readonly message: string }) =>
      events.push(`${m.clock.monotonicMs()} ${reason}: ${message}`),
  };
  return { events, passed$: m.cold(source, values).pipe(vendorsFirst(GPU, () => allocations, report)) };
}
const refused = (at: number, why: string): string =>
  `${at} GPUManagerRefused: The GPU manager of the kubelet does not offer ${GPU}: ${why}`;

describe("vendorsFirst", () => {
  it(
    "lets the GPU manager offer a resource that no plugin offers, also one known from before a restart",
    marbles((m) => {
      const source = "  rg-g-|";
      const expected = "rg-g-|";

      const { passed$, events } = run(m, source, holding("0000:3b:00.0"));
      m.expectObservable(passed$).toBe(expected, values);
      m.flush();
      expect(events).toEqual([]);
    }),
  );

  it(
    "replaces the GPU manager by a vendor's plugin, whichever registers first, and says so",
    marbles((m) => {
      const source = "  g-v-g|";
      const expected = "g-v--|";

      const { passed$, events } = run(m, source);
      m.expectObservable(passed$).toBe(expected, values);
      m.flush();
      const why = "a device plugin has registered for it";
      expect(events).toEqual([refused(2, why), refused(4, why)]);
    }),
  );

  it(
    "refuses the GPU manager while pods have devices of a vendor's plugin",
    marbles((m) => {
      const source = "  rg---|";
      const expected = "r----|";

      const { passed$, events } = run(m, source, holding("GPU-fef8089b"));
      m.expectObservable(passed$).toBe(expected, values);
      m.flush();
      expect(events).toEqual([refused(1, "pods use devices that a device plugin gave them")]);
    }),
  );

  it("refuses a vendor's plugin while pods have devices of the GPU manager", () => {
    expect(vendorRefusal(GPU, holding("0000:3b:00.0"))).toContain(
      "pods use devices of nvidia.com/gpu that the GPU manager",
    );
    expect([NO_ALLOCATIONS, undefined, holding("GPU-fef8089b")].map((held) => vendorRefusal(GPU, held))).toEqual([
      ...[undefined, undefined, undefined],
    ]);
  });
});
