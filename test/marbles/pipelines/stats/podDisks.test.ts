/** Volumes whose storage does not answer hold up neither each other nor the measurement. */
import { concat, map, NEVER, of } from "rxjs";
import { it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import { NO_CSI_DRIVERS } from "../../../../src/core/csi/csiDriverFacts.ts";
import { layoutOf } from "../../../../src/core/volume/volumeLayout.ts";
import { createDiskCounts } from "../../../../src/pipelines/stats/diskCounts.ts";
import {
  type DiskPorts,
  type DiskState,
  measureClaims,
  measureVolumes,
} from "../../../../src/pipelines/stats/podDisks.ts";
import { createRemoteSpaces } from "../../../../src/pipelines/stats/remoteSpaces.ts";
import { createTreeCounts } from "../../../../src/pipelines/stats/treeCounts.ts";
import type { KubeletPorts } from "../../../../src/ports/kubeletPorts.ts";
import type { VolumeFiles } from "../../../../src/ports/volumeFiles.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const UID = podUid("uid-1");
const SPACE = { capacityBytes: 9n, availableBytes: 5n, usedBytes: 4n, inodes: 2n, inodesFree: 1n };

/** A pod with claims of these NFS volumes; those named `dead` and a number do not answer. Emits the names with figures. */
function measured({ clock }: Marbles, names: readonly string[]) {
  const volumes = names.map((name) => ({ name, nfs: { server: "s", path: `/${name}` } }));
  const volumeMounts = names.map((name) => ({ name, mountPath: `/${name}` }));
  const containers = [containerOf({ volumeMounts })];
  const resolved = podOf({ spec: { volumes, containers } });
  const claims = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const pod = podOf({ spec: { volumes: claims, containers } });
  const layouts = volumes.map((volume) => {
    const layout = layoutOf(resolved, volume, volumeNodeOf());
    if (!layout.ok) throw layout.error;
    return [volume.name, layout.value] as const;
  });
  const known = {
    wishes: new Map(layouts.map(([name, layout]) => [name, { kind: "resolved", layout }])),
    actual: new Map(names.map((name) => [`kubernetes.io/nfs/${name}`, { condition: "mounted" }])),
  };
  const state = {
    runtimeStatuses: {
      get: () => undefined,
      values: () => [{ podUid: UID, sandboxes: [{ ready: true }], containers: [] }],
    },
    listing: { value: undefined },
    registry: { value: { records: new Map([[UID, { pod }]]) } },
    volumes: { get: () => known },
    flexDrivers: { value: new Map() },
    csiDrivers: createCell(NO_CSI_DRIVERS),
  } as unknown as DiskState;
  const [telemetry, volumeFiles] = [recordingTelemetry(), {} as VolumeFiles];
  const remoteFileSystem = (path: string) => (path.includes("dead") ? NEVER : of(SPACE));
  const hostUsage = { fileSystem: () => of(SPACE), remoteFileSystem } as unknown as KubeletPorts["hostUsage"];
  const given = { clock, telemetry, hostUsage, quotas: undefined, csiDrivers: undefined };
  const ports = {
    ...given,
    counts: createTreeCounts({ clock, telemetry, volumeFiles }),
    csiStats: { figures: () => of(undefined), prune: () => {} },
    remoteSpaces: createRemoteSpaces({ clock, telemetry, hostUsage }),
  } as unknown as DiskPorts;
  const directories = { rootDir: "/r", podLogsDir: "/l", containerLogsDir: "/c" };
  const namesOf = (volumes: readonly { readonly name: string }[] = []) => volumes.map(({ name }) => name).join();
  const config = { directories, diskStatsPeriodMs: 60_000, watchesVolumeHealth: false };
  return {
    diskCounts: createDiskCounts(state, { ...given, volumeFiles }, config),
    ofPods$: measureVolumes(state, ports, { directories }).pipe(map(({ byUid }) => namesOf(byUid.get(UID)))),
    ofClaims$: measureClaims(state, ports).pipe(map(namesOf)),
  };
}

it(
  "are left out after a second, and the others are measured meanwhile",
  marbles((m) => {
    const expected = "1s (u|)";

    const { ofPods$, ofClaims$ } = measured(m, ["dead1", "dead2", "a", "dead3", "b"]);
    m.expectObservable(ofPods$).toBe(expected, { u: "a,b" });
    m.expectObservable(ofClaims$).toBe(expected, { u: "a,b" });
    m.flush();
  }),
);

it(
  "take a second, however many they are",
  marbles((m) => {
    const expected = "1s (u|)";

    const dead = Array.from({ length: 20 }, (_, index) => `dead${index}`);
    const { ofPods$, ofClaims$ } = measured(m, [...dead, "a"]);
    m.expectObservable(ofPods$).toBe(expected, { u: "a" });
    m.expectObservable(ofClaims$).toBe(expected, { u: "a" });
    m.flush();
  }),
);

it(
  "delay nothing when all storage answers",
  marbles((m) => {
    const expected = "(u|)";

    const { ofPods$, ofClaims$ } = measured(m, ["a", "b"]);
    m.expectObservable(ofPods$).toBe(expected, { u: "a,b" });
    m.expectObservable(ofClaims$).toBe(expected, { u: "a,b" });
    m.flush();
  }),
);

it(
  "keep no scrape of the metrics waiting while the look of an earlier one goes on",
  marbles((m) => {
    const unsub = "      9s !";
    const expectedRun = "";
    const later = "      5s |";
    const first = "      1s (u|)";
    const second = "     5s (u|)";

    const { counting$, gauge$ } = measured(m, ["dead1", "a"]).diskCounts;
    const scraped$ = gauge$.pipe(map(() => "u"));
    m.expectObservable(counting$, unsub).toBe(expectedRun);
    m.expectObservable(scraped$).toBe(first);
    m.expectObservable(concat(m.cold(later), scraped$)).toBe(second);
    m.flush();
  }),
);
