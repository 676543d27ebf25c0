import { EMPTY, merge, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { MountEntry } from "../../../../src/core/mount/mountInfo.ts";
import { setUpFailure } from "../../../../src/core/volume/podVolumes.ts";
import { createSemaphore } from "../../../../src/operators/semaphore.ts";
import { mountDevice, releaseDevice } from "../../../../src/pipelines/volumes/deviceMounts.ts";
import type { Files } from "../../../../src/ports/files.ts";
import type { Mounts } from "../../../../src/ports/mounts.ts";
import { marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const mountPoint = "/k/plugins/kubernetes.io/local-volume/mounts/pv1";
const device = { source: "/dev/sdb", fsType: "ext4", options: ["defaults"], mountPoint };
const mounted = (at: string) => ({ device: "8:16", root: "/", mountPoint: at }) as unknown as MountEntry;

/** Ports that find these mounts; what else is called is given. */
const portsOf = (entries: readonly string[], mounts: Partial<Mounts>, files: Partial<Files> = {}) => ({
  files: { makeDirectory: () => EMPTY, kindOf: () => of("Directory"), ...files } as unknown as Files,
  mounts: { list: () => of(entries.map(mounted)), ...mounts } as unknown as Mounts,
  telemetry: recordingTelemetry(),
});

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
      const unmountSubs = "---^-!";
      const mount = "      ---|";
      const removal = "    -|";
      const removalSubs = "-----^!";
      const expected = "   ------|";

      const turns = createSemaphore(1);
      const unmount$ = cold<void>(unmount);
      const [mount$, removal$] = [cold<void>(mount), cold<void>(removal)];
      const ports = (...entries: string[]) => portsOf(entries, { unmount: () => unmount$ }, { remove: () => removal$ });
      const release = (...entries: string[]) =>
        releaseDevice(ports(mountPoint, ...entries), { rootDir: "/k" }, "pv1", turns);
      expectObservable(
        merge(turns.run(mount$), release("/k/pods/u/volumes/kubernetes.io~local-volume/pv1"), release()),
      ).toBe(expected);
      expectSubscriptions(unmount$).toBe(unmountSubs);
      expectSubscriptions(removal$).toBe(removalSubs);
    }),
  );
});
