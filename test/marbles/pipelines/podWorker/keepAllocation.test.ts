import { concat, defer, ignoreElements, merge, of, throwError } from "rxjs";
import { expect, it } from "vitest";
import { decodeAllocation } from "../../../../src/core/allocation/allocationFile.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { podAllocationPath } from "../../../../src/core/paths.ts";
import type { PodContext } from "../../../../src/pipelines/podContext.ts";
import { type AllocationMemory, createPodMemories, type Resizing } from "../../../../src/pipelines/podMemories.ts";
import { forgetHardware, keepAllocation } from "../../../../src/pipelines/podWorker/keepAllocation.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { marbles } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const sized = (cpu: string) => podOf({ spec: { containers: [containerOf({ resources: { requests: { cpu } } })] } });

it(
  "keeps the newest allocation in the file, however long an earlier write takes",
  marbles(({ cold, at, flush }) => {
    const earlierWrite = "9ms |";
    const laterWrite = "  1ms |";
    const pause = "       2ms |";

    let onDisk = "";
    const memory = createPodMemories(monotonicMs(0));
    const writes = [earlierWrite, laterWrite];
    const files = {
      makeDirectory: () => of(undefined),
      replaceFile: (_path: string, text: string) =>
        concat(
          defer(() => cold(writes.shift() ?? laterWrite)),
          defer(() => of(void (onDisk = text))),
        ).pipe(ignoreElements()),
    };
    const config = { directories: { rootDir: "/var/lib/kubelet" } };
    const context = { memory, ports: { files }, config, identity: { uid: podUid("uid-1") } } as unknown as PodContext;
    const outputs: unknown[] = [];
    const cpuOnDisk = (): string | undefined =>
      decodeAllocation(onDisk)?.allocation.containers["main"]?.requests?.["cpu"];
    memory.allocation.allocated = sized("1");
    const late$ = defer(() => {
      memory.allocation.allocated = sized("2");
      return keepAllocation(context);
    });
    merge(keepAllocation(context), concat(cold(pause), late$)).subscribe((output) => outputs.push(output));
    at(8, () => expect(cpuOnDisk()).toBe(undefined));
    at(9, () => expect(cpuOnDisk()).toBe("1"));
    flush();
    expect([cpuOnDisk(), outputs]).toEqual(["2", []]);
  }),
);

it("waits for the disk unless a missing file means the same: not for the first allocation of a new pod", () => {
  const written: unknown[] = [];
  const files = {
    makeDirectory: () => of(undefined),
    replaceFile: (_path: string, _text: string, _mode: number, outlives: string) => of(void written.push(outlives)),
  };
  const config = { directories: { rootDir: "/var/lib/kubelet" } };
  const keep = (change: Partial<AllocationMemory>): void => {
    const memory = createPodMemories(monotonicMs(0));
    Object.assign(memory.allocation, { allocated: sized("1"), ...change });
    const context = { memory, ports: { files }, config, identity: { uid: podUid("uid-1") } } as unknown as PodContext;
    keepAllocation(context).subscribe();
  };
  keep({});
  keep({ isInherited: true });
  keep({ hardware: new Map() });
  keep({ checkpoint: "another one" });
  keep({ resizing: createCell<Resizing | undefined>({ generation: 2 }) });
  expect(written).toEqual(["kubelet", "machine", "machine", "machine", "machine"]);
});

it("removes the hardware of a stopped pod from its file, and writes nothing for a pod without any", () => {
  const memory = createPodMemories(monotonicMs(0));
  const written: string[] = [];
  const files = {
    makeDirectory: () => of(undefined),
    replaceFile: (_path: string, text: string) => of(void written.push(text)),
  };
  const config = { directories: { rootDir: "/var/lib/kubelet" } };
  const context = { memory, ports: { files }, config, identity: { uid: podUid("uid-1") } } as unknown as PodContext;
  memory.allocation.allocated = sized("1");
  memory.allocation.hardware = new Map([["main", { cpus: [4, 7] }]]);
  for (const work$ of [keepAllocation(context), forgetHardware(context), forgetHardware(context)]) work$.subscribe();
  expect(written.map((text) => decodeAllocation(text)?.hardware?.get("main"))).toEqual([{ cpus: [4, 7] }, undefined]);
});

it("removes the file of a stopped pod with hardware if the disk is full", () => {
  const memory = createPodMemories(monotonicMs(0));
  const removed: string[] = [];
  const files = {
    makeDirectory: () => of(undefined),
    replaceFile: () => throwError(() => kubeletError("Io", "no space left")),
    remove: (path: string) => of(void removed.push(path)),
  };
  const config = { directories: { rootDir: "/var/lib/kubelet" } };
  const context = { memory, ports: { files }, config, identity: { uid: podUid("uid-1") } } as unknown as PodContext;
  memory.allocation.allocated = sized("1");
  memory.allocation.hardware = new Map([["main", { cpus: [4, 7] }]]);
  forgetHardware(context).subscribe();
  expect(removed).toEqual([podAllocationPath({ rootDir: "/var/lib/kubelet" }, podUid("uid-1"))]);
});
