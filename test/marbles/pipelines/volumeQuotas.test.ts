/** Volumes that their file system counts: assigned when they are made, asked when they are measured, forgotten as they go. */
import { defer, map, of, switchMap, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { podUid, type PodUid } from "../../../src/core/ids.ts";
import { layoutOf } from "../../../src/core/volume/volumeLayout.ts";
import { type DiskPorts, type DiskState, measureVolumes } from "../../../src/pipelines/stats/podDisks.ts";
import { createTreeCounts } from "../../../src/pipelines/stats/treeCounts.ts";
import { createDeviceTurns } from "../../../src/pipelines/volumes/deviceTurns.ts";
import type { VolumeFiles } from "../../../src/ports/volumeFiles.ts";
import { setUpVolume, tearDownVolume } from "../../../src/pipelines/volumes/volumeEffects.ts";
import type { Quotas } from "../../../src/ports/quotas.ts";
import { marbles } from "../../support/marbles.ts";
import { containerOf, podOf } from "../../support/pods.ts";
import { volumeNodeOf } from "../../support/podVolumes.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const PATH = "/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/v";
const volume = { name: "v", emptyDir: {} };
const podWith = (hostUsers: boolean | undefined) =>
  podOf({
    spec: {
      ...(hostUsers === undefined ? {} : { hostUsers }),
      volumes: [volume],
      containers: [containerOf({ volumeMounts: [{ name: "v", mountPath: "/v" }] })],
    },
  });

/** Ports that write down what is asked of them. */
function recordingPorts() {
  const asked: string[] = [];
  const said = <T>(what: string, value: T) =>
    defer(() => {
      asked.push(what);
      return of(value);
    });
  const ports = {
    telemetry: recordingTelemetry(),
    mounts: undefined,
    files: {
      makeDirectory: (path: string) => said(`make ${path}`, undefined),
      remove: (path: string) => said(`remove ${path}`, undefined),
    },
    volumeFiles: {},
    quotas: {
      assign: (path: string) => said(`assign ${path}`, true),
      clear: (path: string) => said(`clear ${path}`, undefined),
    },
  };
  return { asked, ports: ports as unknown as Parameters<typeof setUpVolume>[0] };
}

describe("a volume with a quota", () => {
  it.each([
    [false, true],
    [true, false],
    [undefined, false],
  ])("is an emptyDir of a pod with a user namespace: hostUsers %s", (hostUsers, isCounted) => {
    const layout = layoutOf(podWith(hostUsers), volume, volumeNodeOf());
    expect(layout.ok && layout.value.hasQuota === true).toBe(isCounted);
    const { asked, ports } = recordingPorts();
    if (layout.ok) setUpVolume(ports, layout.value, undefined, createDeviceTurns()).subscribe({});
    expect(asked.includes(`assign ${PATH}`)).toBe(isCounted);
  });

  it("is not one in memory", () => {
    const layout = layoutOf(podWith(false), { name: "v", emptyDir: { medium: "Memory" } }, volumeNodeOf());
    expect(layout).not.toHaveProperty("value.hasQuota");
  });

  it("is cleared before its directory is removed", () => {
    const { asked, ports } = recordingPorts();
    const gone$ = tearDownVolume(
      ports,
      { path: PATH, isOwnDirectory: true, subPaths: "/parts" },
      ports.quotas?.clear(PATH),
    );
    gone$.subscribe({});
    expect(asked).toEqual(["remove /parts", `clear ${PATH}`, `remove ${PATH}`]);
  });

  it.each<[string, Quotas["usage"], bigint, string]>([
    ["by its file system", () => of({ bytes: 8n, inodes: 2n }), 8n, "fsquota"],
    ["file by file, where that does not count it", () => of(undefined), 4n, "du"],
    ["file by file, where that cannot tell", () => throwError(() => kubeletError("Io", "no answer")), 4n, "du"],
  ])("is measured %s", (_how, usage, bytes, source) =>
    marbles(({ clock, expectObservable, flush }) => {
      const expected = "2s (u|)";

      const telemetry = recordingTelemetry();
      const uid = podUid("uid-1");
      const pod = podWith(false);
      const layout = layoutOf(pod, volume, volumeNodeOf());
      if (!layout.ok) throw new Error("no layout");
      const actual = { condition: "mounted" };
      const known = {
        wishes: new Map([["v", { kind: "resolved", layout: layout.value }]]),
        actual: new Map([["kubernetes.io/empty-dir/v", actual]]),
      };
      const state = {
        runtimeStatuses: { values: () => [{ podUid: uid, sandboxes: [{ ready: true }] }] },
        listing: { value: undefined },
        registry: { value: { records: new Map<PodUid, object>([[uid, { pod }]]) } },
        volumes: { get: () => known },
      } as unknown as DiskState;
      const volumeFiles = { usage: () => of({ bytes: 4n, inodes: 1n }) } as unknown as VolumeFiles;
      const ports = {
        clock,
        telemetry,
        hostUsage: { fileSystem: () => of(undefined) },
        counts: createTreeCounts({ clock, telemetry, volumeFiles }),
        csiStats: { figures: () => of(undefined), prune: () => {} },
        remoteSpaces: { prune: () => {} },
        quotas: { usage: (path: string) => timer(2000, clock.scheduler).pipe(switchMap(() => usage(path))) },
      } as unknown as DiskPorts;
      const directories = { rootDir: "/var/lib/kubelet", podLogsDir: "/l", containerLogsDir: "/c" };
      const used$ = measureVolumes(state, ports, { directories }).pipe(
        map(({ byUid }) => byUid.get(uid)?.map(({ used }) => used.bytes)),
      );
      expectObservable(used$).toBe(expected, { u: [bytes] });
      flush();
      const series = `kubelet_volume_metric_collection_duration_seconds{metric_source="${source}"}`;
      expect([...telemetry.observations]).toEqual([[series, [2]]]);
    })(),
  );
});
