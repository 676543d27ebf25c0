import { concat, EMPTY, merge, type Observable, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { MountEntry } from "../../../../src/core/mount/mountInfo.ts";
import { localDeviceMount } from "../../../../src/core/paths.ts";
import { setUpFailure } from "../../../../src/core/volume/podVolumes.ts";
import { createDeviceTurns } from "../../../../src/pipelines/volumes/deviceTurns.ts";
import { mountDevice, releaseDevice, releaseDevices } from "../../../../src/pipelines/volumes/deviceMounts.ts";
import type { VolumeLayout } from "../../../../src/core/volume/volumeLayout.ts";
import { setUpVolume, type VolumePorts } from "../../../../src/pipelines/volumes/volumeEffects.ts";
import type { Files } from "../../../../src/ports/files.ts";
import type { Mounts } from "../../../../src/ports/mounts.ts";
import { marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const mountPoint = "/k/plugins/kubernetes.io/local-volume/mounts/pv1";
const device = { source: "/dev/sdb", fsType: "ext4", options: ["defaults"], mountPoint };
const ROOT = { rootDir: "/k" };
const mounted = (at: string) => ({ device: "8:16", root: "/", mountPoint: at }) as unknown as MountEntry;

/** Ports that find these mounts; what else is called is given. */
const portsOf = (entries: readonly string[], mounts: Partial<Mounts>, files: Partial<Files> = {}) => ({
  files: { makeDirectory: () => EMPTY, kindOf: () => of("Directory"), ...files } as unknown as Files,
  mounts: { list: () => of(entries.map(mounted)), ...mounts } as unknown as Mounts,
  telemetry: recordingTelemetry(),
});

/** The volume of a pod on a block device. */
const deviceLayout = (name: string): VolumeLayout => ({
  ...{ name, plugin: "kubernetes.io/local-volume", path: `/k/pods/u/volumes/kubernetes.io~local-volume/${name}` },
  ...{ isOwnDirectory: true, hasContent: false, isReadOnly: false, selinuxRelabel: false },
  bound: {
    ...{ source: `/dev/${name}`, readOnly: false, options: [], podsDir: "/k/pods" },
    device: { ...device, source: `/dev/${name}`, mountPoint: localDeviceMount(ROOT, name) },
  },
});

/** Ports of a node without mounts that mounts a device in this way. */
const volumePorts = (mount$: Observable<void>): VolumePorts =>
  ({
    ...portsOf([], { formatAndMount: () => mount$, bind: () => EMPTY }, { kindOf: () => of("BlockDevice" as const) }),
    volumeFiles: {},
  }) as unknown as VolumePorts;

describe("a block device of local volumes", () => {
  it(
    "is mounted for the first pod",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const mount = "    ----|";
      const mountSubs = "^---!";
      const expected = " ----|";

      const mount$ = cold<void>(mount);
      expectObservable(mountDevice(portsOf([], { formatAndMount: () => mount$ }), device)).toBe(expected);
      expectSubscriptions(mount$).toBe(mountSubs);
    }),
  );

  it(
    "is shared by the next pod",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const mount = "   ----|";
      const expected = "|";

      const mount$ = cold<void>(mount);
      expectObservable(mountDevice(portsOf([mountPoint], { formatAndMount: () => mount$ }), device)).toBe(expected);
      expectSubscriptions(mount$).toBe();
    }),
  );

  it("reports a failed mount with upstream's text", () => {
    const formatAndMount = () => throwError(() => kubeletError("Io", "mount failed: exit status 32"));
    let message = "";
    mountDevice(portsOf([], { formatAndMount }), device).subscribe({
      error: (thrown) => {
        message = setUpFailure({ name: "pv1" }, thrown as Parameters<typeof setUpFailure>[1]).message;
      },
    });
    expect(message).toBe(
      `MountVolume.MountDevice failed for volume "pv1" : local: failed to mount device /dev/sdb at ${mountPoint} (fstype: ext4), error mount failed: exit status 32`,
    );
  });

  it(
    "is unmounted unless a pod uses it, one operation at a time",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const unmount = "    --|";
      const unmountSubs = "^-!";
      const nextSubs = "   ---^-!";
      const removal = "    -|";
      const removalSubs = "--^!";
      const nextRemoval = "-----^!";
      const expected = "   ------|";

      const turns = createDeviceTurns();
      const [unmount$, next$] = [cold<void>(unmount), cold<void>(unmount)];
      const [removal$, nextRemoval$] = [cold<void>(removal), cold<void>(removal)];
      const release = (unmounted$: Observable<void>, removed$: Observable<void>, ...users: string[]) => {
        const mounts = { unmount: () => unmounted$ };
        const ports = portsOf([mountPoint, ...users], mounts, { remove: () => removed$ });
        return releaseDevice(ports, ROOT, "pv1", turns);
      };
      const used$ = release(EMPTY, EMPTY, "/k/pods/u/volumes/kubernetes.io~local-volume/pv1");
      expectObservable(merge(used$, release(unmount$, removal$), release(next$, nextRemoval$))).toBe(expected);
      expectSubscriptions(unmount$).toBe(unmountSubs);
      expectSubscriptions(removal$).toBe(removalSubs);
      expectSubscriptions(next$).toBe(nextSubs);
      expectSubscriptions(nextRemoval$).toBe(nextRemoval);
    }),
  );

  it(
    "is left to a pod that gets it, whose set up may take an hour",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const mount = "      -----|";
      const used = "       -----|";
      const early = "      --|";
      const whileUsed = "  --|";
      const late = "       ------|";
      const unmount = "    --|";
      const unmountSubs = "------^-!";
      const afterUse = "   --------|";

      const turns = createDeviceTurns();
      const unmount$ = cold<void>(unmount);
      const ports = portsOf([mountPoint], { unmount: () => unmount$ }, { remove: () => EMPTY });
      const released$ = releaseDevice(ports, ROOT, "pv1", turns);
      expectObservable(turns.run(mountPoint, cold<void>(mount))).toBe(used);
      expectObservable(concat(cold<void>(early), released$)).toBe(whileUsed);
      expectObservable(concat(cold<void>(late), released$)).toBe(afterUse);
      expectSubscriptions(unmount$).toBe(unmountSubs);
    }),
  );

  it(
    "waits for no other device, and neither does the release of all of them",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const check = "      ---------|";
      const checked = "    ---------|";
      const unmount = "    --|";
      const unmountSubs = "^-!";
      const released = "   --|";
      const mount = "      ---|";
      const mountedAt = "  ---|";

      const turns = createDeviceTurns();
      const [check$, unmount$, mount$] = [cold<void>(check), cold<void>(unmount), cold<void>(mount)];
      const ports = portsOf(
        [mountPoint],
        { unmount: () => unmount$ },
        { list: () => of(["pv0", "pv1"]), remove: () => EMPTY },
      );
      const setUp = (name: string, mounting$: Observable<void>) =>
        setUpVolume(volumePorts(mounting$), deviceLayout(name), undefined, turns);
      expectObservable(setUp("pv0", check$)).toBe(checked);
      expectObservable(releaseDevices(ports, ROOT, turns)).toBe(released);
      expectObservable(setUp("pv2", mount$)).toBe(mountedAt);
      expectSubscriptions(unmount$).toBe(unmountSubs);
    }),
  );
});
