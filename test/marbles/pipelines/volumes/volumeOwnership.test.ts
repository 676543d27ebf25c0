/** Notices to pods during a change of their volumes' group: `h` the hint, `a`, `b` the number of processed files. */
import { map, type Observable, of, tap, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { layoutOf, layoutOfOrigin, type VolumeLayout } from "../../../../src/core/volume/volumeLayout.ts";
import { alreadyMounted } from "../../../../src/core/volume/volumeNotices.ts";
import { giveAway } from "../../../../src/pipelines/volumes/volumeOwnership.ts";
import type { KubeletPorts } from "../../../../src/ports/kubeletPorts.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";

const DIRECTORY = "uid-1/volumes/kubernetes.io~local-volume/pv1";
const NOTICES = {
  h: `Setting volume ownership for ${DIRECTORY} is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods`,
  a: `Setting volume ownership for ${DIRECTORY}, processed 9000 files.`,
  b: `Setting volume ownership for ${DIRECTORY}, processed 15000 files.`,
};

const pod = podOf({ spec: { securityContext: { fsGroup: 5 } } });
const local = layoutOfOrigin(pod, { name: "pv1", local: { path: "/mnt/d" } }, volumeNodeOf());
const emptyDir = layoutOf(pod, { name: "v", emptyDir: {} }, volumeNodeOf());

/** Notices for a change of group of this duration, a thousand files each 10 s. */
function reported({ clock, scheduler }: Marbles, layout: VolumeLayout | undefined, ms: number): Observable<string> {
  if (layout === undefined) throw new Error("no layout");
  const ports = {
    clock,
    files: { kindOf: () => of(undefined), makeDirectory: () => of(undefined), writeFile: () => of(undefined) },
    volumeFiles: {
      setOwnership: (_dir: string, _ownership: unknown, seen: (entries: number) => void = () => {}) => {
        for (let at = 9_999; at < ms; at += 10_000) {
          scheduler.schedule(() => seen(((at + 1) / 10_000) * 1_000), at);
        }
        return timer(ms, scheduler).pipe(map(() => ({ entries: 0, failures: 0 })));
      },
    },
  } as unknown as Pick<KubeletPorts, "files" | "volumeFiles" | "clock">;
  return giveAway(ports, layout).pipe(
    tap(({ reason }) => expect(reason).toBe("VolumePermissionChangeInProgress")),
    map(({ message }) => message),
  );
}

describe("giving a volume to a group", () => {
  it(
    "is reported after 30 s, then each minute, until it ends",
    marbles((m) => {
      const expected = "30s h 59999ms a 59999ms b 4999ms |";

      m.expectObservable(reported(m, local, 155_000)).toBe(expected, NOTICES);
    }),
  );

  it(
    "is not reported when it is quick",
    marbles((m) => {
      const expected = "29s |";

      m.expectObservable(reported(m, local, 29_000)).toBe(expected);
    }),
  );

  it(
    "is not reported for a volume that ends with its pod",
    marbles((m) => {
      const expected = "155s |";

      m.expectObservable(reported(m, emptyDir.ok ? emptyDir.value : undefined, 155_000)).toBe(expected);
    }),
  );
});

describe("a volume that other pods use", () => {
  it("gives a notice when it belongs to another group", () => {
    expect(alreadyMounted("pv1", 5, 7)).toEqual([
      {
        reason: "AlreadyMountedVolume",
        message: "The requested fsGroup is 5, but the volume pv1 has GID 7. The volume may not be shareable.",
      },
    ]);
    expect(alreadyMounted("pv1", 5, 5)).toEqual([]);
  });
});
