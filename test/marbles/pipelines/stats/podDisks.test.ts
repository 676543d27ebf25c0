/** Volumes whose storage does not answer hold up neither each other nor the measurement. */
import { map, NEVER, of } from "rxjs";
import { expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import { layoutOf } from "../../../../src/core/volume/volumeLayout.ts";
import { type DiskPorts, type DiskState, measureVolumes } from "../../../../src/pipelines/stats/podDisks.ts";
import { createTreeCounts } from "../../../../src/pipelines/stats/treeCounts.ts";
import type { VolumeFiles } from "../../../../src/ports/volumeFiles.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const UID = podUid("uid-1");
const SPACE = { capacityBytes: 9n, availableBytes: 5n, usedBytes: 4n, inodes: 2n, inodesFree: 1n };

/** Measures a pod whose NFS volumes are these; those named `dead` and a number do not answer. Emits the names with figures. */
function measured({ clock }: Marbles, names: readonly string[]) {
  const asked: string[] = [];
  const volumes = names.map((name) => ({ name, nfs: { server: "s", path: `/${name}` } }));
  const volumeMounts = names.map((name) => ({ name, mountPath: `/${name}` }));
  const pod = podOf({ spec: { volumes, containers: [containerOf({ volumeMounts })] } });
  const layouts = volumes.map((volume) => {
    const layout = layoutOf(pod, volume, volumeNodeOf());
    if (!layout.ok) throw layout.error;
    return [volume.name, layout.value] as const;
  });
  const known = {
    wishes: new Map(layouts.map(([name, layout]) => [name, { kind: "resolved", layout }])),
    actual: new Map(names.map((name) => [`kubernetes.io/nfs/${name}`, { condition: "mounted" }])),
  };
  const state = {
    runtimeStatuses: { values: () => [{ podUid: UID, sandboxes: [{ ready: true }] }] },
    listing: { value: undefined },
    registry: { value: { records: new Map([[UID, { pod }]]) } },
    volumes: { get: () => known },
    flexDrivers: { value: new Map() },
  } as unknown as DiskState;
  const telemetry = recordingTelemetry();
  const remoteFileSystem = (path: string) => {
    asked.push(path);
    return path.includes("dead") ? NEVER : of(SPACE);
  };
  const ports = {
    ...{ clock, telemetry, quotas: undefined },
    hostUsage: { fileSystem: () => of(SPACE), remoteFileSystem },
    counts: createTreeCounts({ clock, telemetry, volumeFiles: {} as VolumeFiles }),
    csiStats: { figures: () => of(undefined), prune: () => {} },
  } as unknown as DiskPorts;
  const directories = { rootDir: "/r", podLogsDir: "/l", containerLogsDir: "/c" };
  const names$ = measureVolumes(state, ports, { directories }).pipe(
    map(({ byUid }) => (byUid.get(UID) ?? []).map(({ name }) => name).join()),
  );
  return { asked, names$ };
}

it(
  "are left out after 10 s, and the others are measured meanwhile",
  marbles((m) => {
    const expected = "10s (u|)";

    const { names$ } = measured(m, ["dead1", "dead2", "a", "dead3", "b"]);
    m.expectObservable(names$).toBe(expected, { u: "a,b" });
    m.flush();
  }),
);

it(
  "are eight of a pod at a time, and all of them take 10 s",
  marbles((m) => {
    const expected = "10s (u|)";

    const dead = Array.from({ length: 20 }, (_, index) => `dead${index}`);
    const { asked, names$ } = measured(m, [...dead, "a"]);
    m.expectObservable(names$).toBe(expected, { u: "" });
    m.at(9_000, () => expect(asked).toHaveLength(8));
    m.flush();
  }),
);

it(
  "delay nothing when all storage answers",
  marbles((m) => {
    const expected = "(u|)";

    const { names$ } = measured(m, ["a", "b"]);
    m.expectObservable(names$).toBe(expected, { u: "a,b" });
    m.flush();
  }),
);
