/** Devices that plugins prepare for containers: once, on disk before the container starts, and again after a reboot. */
import { type Observable, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { type DeviceAllocations, type HeldPods, idsOf } from "../../../../src/core/device/deviceAllocations.ts";
import { changedDevices, type DeviceState, NO_DEVICES } from "../../../../src/core/device/deviceState.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { AllocateResponse, PreferredAllocationResponse } from "../../../../src/gen/devicePlugin.ts";
import { createPodDevices } from "../../../../src/pipelines/devices/podDevices.ts";
import type { PreferredRequest } from "../../../../src/ports/devicePlugins.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const GPU = "example.com/gpu";
const uid = podUid("u");
const wants = (...ids: readonly string[]) => new Map([[GPU, ids]]);
const answer = AllocateResponse.fromPartial({ containerResponses: [{ envs: { GPU: "1" } }] });

const ALLOCATED = "--(a|)";
const WRITTEN = "  ---|";
const PREPARED = " -(x|)";
const MISSING = "  #";
const FULL = "     #";

const PREFERRED = PreferredAllocationResponse.fromPartial({ containerResponses: [{ deviceIDs: ["b"] }] });
const question = { container: "main", resource: GPU, available: ["a", "b"], mustInclude: ["a"], size: 2 };

/** A node with a plugin; `calls` has what plugin and disk are asked, with the times. */
function world(
  m: Marbles,
  allocate: () => Observable<AllocateResponse> = () => m.cold(ALLOCATED, { a: answer }),
  prefer: () => Observable<PreferredAllocationResponse> = () => m.cold(ALLOCATED, { a: PREFERRED }),
) {
  const { clock } = m;
  const calls: string[] = [];
  const note = (call: string): unknown => calls.push(`${clock.monotonicMs()} ${call}`);
  let file = "";
  const disk = { isFull: false };
  let bootId = "boot 1";
  const devices = createCell<DeviceState>(
    changedDevices(NO_DEVICES, {
      ...{ kind: "listed", resource: GPU },
      endpoint: { socket: "/gpu.sock", preStartRequired: true, prefersDevices: false },
      devices: [{ id: "a", isHealthy: true, nodes: [] }],
    }),
  );
  const files = {
    replaceFile: (_: string, content: string) => {
      note("write");
      if (disk.isFull) return m.cold<void>(FULL, {}, kubeletError("Io", "full"));
      file = content;
      return m.cold<void>(WRITTEN);
    },
    readTail: () => (file === "" ? m.cold(MISSING, {}, kubeletError("NotFound", "none")) : of(file)),
  };
  const devicePlugins = {
    allocate: (_: string, ids: readonly string[]) => {
      note(`allocate ${ids.join()}`);
      return allocate();
    },
    preferred: (_: string, request: PreferredRequest) => {
      note(`prefer ${request.size} of ${request.available.join()} with ${request.mustInclude.join()}`);
      return prefer();
    },
    preStart: (_: string, ids: readonly string[]) => {
      note(`preStart ${ids.join()}`);
      return m.cold(PREPARED);
    },
  };
  const registry = createCell<HeldPods>({
    ...{ isSettled: false, records: new Map(), restored: new Map(), inherited: new Map() },
  });
  const cells: { allocations: ReturnType<typeof createCell<DeviceAllocations | undefined>> }[] = [];
  const start = () => {
    const allocations = createCell<DeviceAllocations | undefined>(undefined);
    cells.push({ allocations });
    const ports = { clock, telemetry: recordingTelemetry(), files, machine: { bootId }, devicePlugins };
    const config = { directories: { rootDir: "/r" } as never };
    const service = createPodDevices(ports as never, config, devices, allocations, registry);
    return { service, allocations };
  };
  return { ...start(), start, calls, devices, registry, disk, reboot: () => (bootId = "boot 2"), read: () => file };
}

const shown = { s: { envs: new Map([["GPU", "1"]]), annotations: new Map(), mounts: [], devices: [], cdiDevices: [] } };

describe("podDevices", () => {
  it(
    "has devices prepared and written before the container starts, and prepared no second time for its restart",
    marbles((m) => {
      const first = "       ------(s|)";
      const second = "      20ms -(s|)";

      const { service, calls } = world(m);
      m.expectObservable(service.provide(uid, "main", wants("a"))).toBe(first, shown);
      m.at(20, () => m.expectObservable(service.provide(uid, "main", wants("a"))).toBe(second, shown));
      m.flush();
      expect(calls).toEqual(["0 allocate a", "2 write", "5 preStart a", "20 preStart a"]);
    }),
  );

  it(
    "emits nothing to set for a container without devices",
    marbles((m) => {
      const expected = "(n|)";

      const { service, calls } = world(m);
      m.expectObservable(service.provide(uid, "main", undefined)).toBe(expected, { n: undefined });
      m.flush();
      expect(calls).toEqual([]);
    }),
  );

  it(
    "fails with the error of the plugin, while it is away, and with an answer that cannot be used",
    marbles((m) => {
      const refusal = "   #";
      const empty = "     (a|)";
      const allocation = "(a|)";

      const failures: unknown[] = [];
      const fails = (allocate: () => Observable<AllocateResponse>, isAway = false): void => {
        const { service, devices } = world(m, allocate);
        if (isAway) {
          devices.set(changedDevices(devices.value, { kind: "away", resource: GPU, at: m.clock.monotonicMs() }));
        }
        service.provide(uid, "main", wants("a")).subscribe({
          error: (thrown: unknown) => failures.push((thrown as Error).message),
        });
      };
      fails(() => m.cold<AllocateResponse>(refusal, {}, kubeletError("Unknown", "device busy")));
      fails(() => m.cold(empty, { a: AllocateResponse.fromPartial({}) }));
      fails(() => m.cold(allocation, { a: answer }), true);
      m.flush();
      expect(failures.toSorted()).toEqual([
        "device busy",
        "no containers return in allocation response",
        "the device plugin of example.com/gpu is away",
      ]);
    }),
  );

  it(
    "keeps the settings over a restart of the kubelet, and has the devices prepared again after one of the machine",
    marbles((m) => {
      const expected = "------(s|)";

      const { service, start, calls, reboot } = world(m);
      m.expectObservable(service.provide(uid, "main", wants("a"))).toBe(expected, shown);
      const later = (): void => {
        const { service: next, allocations } = start();
        next.load().subscribe();
        const kept = [...(allocations.value?.pods.get(uid)?.values() ?? [])].flatMap((own) => [...own.values()]);
        expect(kept.flatMap(idsOf)).toEqual(["a"]);
        next.provide(uid, "main", wants("a")).subscribe();
      };
      m.at(20, later);
      m.at(40, () => {
        reboot();
        later();
      });
      m.flush();
      expect(calls.filter((call) => call.includes("allocate"))).toEqual(["0 allocate a", "40 allocate a"]);
    }),
  );

  it(
    "forgets what a plugin has prepared for a pod that does not start, but not what the pod had before the last boot",
    marbles((m) => {
      const { service, start, reboot } = world(m);
      const idsAfter = (of: ReturnType<typeof start>): readonly string[] => {
        of.service.undo(uid).subscribe();
        return [...(of.allocations.value?.pods.get(uid)?.values() ?? [])].flatMap((own) =>
          [...own.values()].flatMap(idsOf),
        );
      };
      service.provide(uid, "main", wants("a")).subscribe();
      m.at(20, () => {
        reboot();
        const next = start();
        next.service.load().subscribe();
        expect(idsAfter(next)).toEqual(["a"]);
        next.service.provide(uid, "main", wants("a")).subscribe();
        m.at(40, () => expect(idsAfter(next)).toEqual([]));
      });
      m.flush();
    }),
  );

  it(
    "forgets a pod that has stopped, on disk too, and takes devices from a pod that has stopped before it is forgotten",
    marbles((m) => {
      const { service, allocations, read } = world(m);
      m.at(0, () => service.provide(uid, "main", wants("a")).subscribe());
      m.at(10, () => service.provide(podUid("v"), "main", wants("a")).subscribe());
      m.at(20, () => expect([...(allocations.value?.pods.get(uid)?.get("main") ?? [])]).toEqual([]));
      m.at(20, () => service.release(uid).subscribe());
      m.at(30, () => service.release(podUid("v")).subscribe());
      m.flush();
      expect(allocations.value?.pods.size).toBe(0);
      expect(read()).toContain('"PodDeviceEntries":null');
    }),
  );

  it(
    "writes after ten seconds what a failed write left out, as often as it takes",
    marbles((m) => {
      const { service, calls, disk, read } = world(m);
      service.keep().subscribe();
      service.provide(uid, "main", wants("a")).subscribe();
      m.at(10, () => {
        disk.isFull = true;
        service.release(uid).subscribe({ error: () => undefined });
      });
      m.at(15_000, () => {
        disk.isFull = false;
      });
      m.flush();
      expect(calls.filter((call) => call.endsWith("write")).slice(-3)).toEqual([
        "10 write",
        "10000 write",
        "20000 write",
      ]);
      expect(read()).toContain('"PodDeviceEntries":null');
    }),
  );

  it(
    "writes with the next call what a failed write left out",
    marbles((m) => {
      const failed = "    --#";
      const written = "   10ms ----(s|)";
      const forgotten = " 20ms #";
      const released = "  30ms ---|";

      const { service, calls, disk, read } = world(m);
      disk.isFull = true;
      m.expectObservable(service.provide(uid, "main", wants("a"))).toBe(failed, {}, kubeletError("Io", "full"));
      m.at(10, () => {
        disk.isFull = false;
        m.expectObservable(service.provide(uid, "main", wants("a"))).toBe(written, shown);
      });
      m.at(20, () => {
        disk.isFull = true;
        m.expectObservable(service.release(uid)).toBe(forgotten, {}, kubeletError("Io", "full"));
      });
      m.at(30, () => {
        disk.isFull = false;
        m.expectObservable(service.release(uid)).toBe(released);
      });
      m.flush();
      expect(calls.filter((call) => !call.includes("preStart"))).toEqual([
        "0 allocate a",
        "2 write",
        "10 write",
        "20 write",
        "30 write",
      ]);
      expect(read()).toContain('"PodDeviceEntries":null');
    }),
  );

  it(
    "has the devices of all containers prepared during admission, one after the other, and written once",
    marbles((m) => {
      const expected = "-------|";
      const started = " 10ms -(s|)";

      const { service, calls } = world(m);
      const hardware = new Map([
        ["main", { devices: wants("a") }],
        ["none", {}],
        ["side", { devices: wants("b") }],
      ]);
      m.expectObservable(service.prepare(uid, hardware)).toBe(expected);
      m.at(10, () => m.expectObservable(service.provide(uid, "side", wants("b"))).toBe(started, shown));
      m.flush();
      expect(calls).toEqual(["0 allocate a", "2 allocate b", "4 write", "10 preStart b"]);
    }),
  );

  it(
    "asks a plugin which devices it prefers",
    marbles((m) => {
      const expected = "--(b|)";

      const { service, calls } = world(m);
      m.expectObservable(service.prefer(question)).toBe(expected, { b: ["b"] });
      m.flush();
      expect(calls).toEqual(["0 prefer 2 of a,b with a"]);
    }),
  );

  it(
    "fails in upstream's words: a choice that fails, and plugins that hang",
    marbles((m) => {
      const refusal = "#";
      const endless = "-";

      const failures: string[] = [];
      const note = (call$: Observable<unknown>): unknown =>
        call$.subscribe({
          error: (thrown: unknown) => failures.push(`${m.clock.monotonicMs()} ${(thrown as Error).message}`),
        });
      const answered = () => m.cold(ALLOCATED, { a: answer });
      const busy = kubeletError("Unknown", "rpc error: code = Unknown desc = busy");
      note(world(m, answered, () => m.cold<PreferredAllocationResponse>(refusal, {}, busy)).service.prefer(question));
      note(world(m, answered, () => m.cold<PreferredAllocationResponse>(endless)).service.prefer(question));
      const hardware = new Map([["main", { devices: wants("a") }]]);
      note(world(m, () => m.cold<AllocateResponse>(endless)).service.prepare(uid, hardware));
      m.flush();
      const late = "rpc error: code = DeadlineExceeded desc = context deadline exceeded";
      expect(failures).toEqual([
        "0 device plugin GetPreferredAllocation rpc failed with err: rpc error: code = Unknown desc = busy",
        `10000 device plugin GetPreferredAllocation rpc failed with err: ${late}`,
        `60000 ${late}`,
      ]);
    }),
  );

  it(
    "forgets pods that are gone or rejected, once the registry knows all pods",
    marbles((m) => {
      const { service, allocations, registry, read, calls } = world(m);
      const [runs, kept, inherited] = ["runs", "kept", "inherited"].map(podUid);
      const pods = ["runs", "kept", "inherited", "rejected", "gone"].map(podUid);
      for (const [index, pod] of pods.entries()) {
        m.at(10 * index, () => service.provide(pod, "main", wants(`${index}`)).subscribe());
      }
      const known = (isSettled: boolean): void =>
        registry.set({
          isSettled,
          records: new Map([
            [podUid("runs"), { state: "syncing" }],
            [podUid("rejected"), { state: "rejected" }],
          ]),
          restored: new Map([[podUid("kept"), undefined]]),
          inherited: new Map([[podUid("inherited"), undefined]]),
        });
      m.at(60, () => {
        const keeping = service.keep().subscribe();
        m.at(40, () => keeping.unsubscribe());
      });
      m.at(70, () => known(false));
      m.at(75, () => expect(allocations.value?.pods.size).toBe(5));
      m.at(80, () => known(true));
      m.at(81, () => registry.set({ ...registry.value }));
      m.flush();
      expect([...(allocations.value?.pods.keys() ?? [])]).toEqual([runs, kept, inherited]);
      expect(read()).not.toContain("gone");
      expect(calls.filter((call) => call === "80 write" || call === "81 write")).toEqual(["80 write"]);
    }),
  );
});
