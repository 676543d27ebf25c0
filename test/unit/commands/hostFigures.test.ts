import { firstValueFrom, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { createHostFigures, type HostFiguresSetup } from "../../../src/commands/hostFigures.ts";
import { kubeletError } from "../../../src/core/errors.ts";
import type { FileSystemUsage, MemoryUsage } from "../../../src/ports/host.ts";
import { monotonicMs } from "../../../src/core/ids.ts";

const unreadable = () => throwError(() => kubeletError("Io", "cannot read"));

/** A machine whose CPUs work 1.5 cores, and the time of each reading. */
function figures(more: Partial<HostFiguresSetup["hostUsage"]> = {}) {
  let seconds = 0;
  const read = createHostFigures({
    hostUsage: {
      cpuNs: () => of(BigInt(seconds) * 1_500_000_000n),
      memory: () => of({ workingSetBytes: 3n, capacityBytes: 8n } as MemoryUsage),
      fileSystem: () => of({ usedBytes: 5n, capacityBytes: 9n } as FileSystemUsage),
      ...more,
    },
    clock: { monotonicMs: () => monotonicMs(seconds * 1_000) },
    rootDir: "/var/lib/kubelet",
    cpuCapacityMillis: () => 2_000,
  });
  return (at: number) => {
    seconds = at;
    return firstValueFrom(read());
  };
}

const REST = { memoryBytes: 3, memoryCapacityBytes: 8, diskBytes: 5, diskCapacityBytes: 9, cpuCapacityMillis: 2_000 };

describe("the figures of the machine", () => {
  it("have the CPU since the last reading, which the first one lacks", async () => {
    const readAt = figures();
    expect([await readAt(1), await readAt(3)]).toEqual([REST, { ...REST, cpuMillis: 1_500 }]);
  });

  it("lack what cannot be read, and the rest is there", async () => {
    const readAt = figures({ cpuNs: unreadable, fileSystem: unreadable });
    await readAt(1);
    expect(await readAt(2)).toEqual({ memoryBytes: 3, memoryCapacityBytes: 8, cpuCapacityMillis: 2_000 });
  });
});
