import { map } from "rxjs";
import { describe, it } from "vitest";
import type { CsiDriver } from "../../../../src/core/volume/csiVolume.ts";
import type { Volume } from "../../../../src/core/volume/volumeLayout.ts";
import { followOrigin, type VolumeOriginDeps } from "../../../../src/pipelines/volumes/volumeOrigin.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";

const INLINE: Volume = { name: "v", csi: { driver: "d" } };
const csi = { driver: "d", mode: "Ephemeral", source: {} };
const driver: CsiDriver = { spec: { attachRequired: false } };
const DRIVERS = {
  n: new Map<string, CsiDriver>(),
  o: new Map([["other", driver]]),
  d: new Map([["d", driver]]),
};
const ORIGINS = {
  u: { name: "v", csi },
  a: { name: "v", csi: { ...csi, known: "absent" } },
  k: { name: "v", csi: { ...csi, known: driver } },
};

const follow = ({ clock }: Marbles, volume: Volume, csiDrivers$?: VolumeOriginDeps["csiDrivers$"]) =>
  followOrigin(podOf(), volume, { api: undefined, clock, csiDrivers$, syncPeriodMs: 60_000 }).pipe(
    map((origin) => (origin.ok ? origin.value : origin.error.message)),
  );

describe("the origin of a CSI volume in the pod", () => {
  it.each([
    {
      rule: "follows its driver",
      drivers: "   n-o-d-d-n",
      unsub: "     ----------!",
      expected: "  a---k---a",
    },
    {
      rule: "is unknown after a second without drivers, and then follows them",
      drivers: "   1500ms d",
      unsub: "     1501ms !",
      expected: "  1s u 499ms k",
    },
    {
      rule: "waits a second for drivers",
      drivers: "   999ms d",
      unsub: "     1500ms !",
      expected: "  999ms k",
    },
  ])("$rule", ({ drivers, unsub, expected }) =>
    marbles((m) => {
      m.expectObservable(follow(m, INLINE, m.hot(drivers, DRIVERS)), unsub).toBe(expected, ORIGINS);
    })(),
  );

  it("is known at once on a standalone node", () =>
    marbles((m) => {
      const expected = "(u|)";

      m.expectObservable(follow(m, INLINE)).toBe(expected, ORIGINS);
    })());

  it("follows the driver that replaces the kind of a cloud", () =>
    marbles((m) => {
      const drivers = "   n";
      const unsub = "     -!";
      const expected = "  m";
      const source = { volumeHandle: "h", volumeAttributes: {}, accessModes: ["ReadWriteOnce"] };
      const driver = {
        driver: "cinder.csi.openstack.org",
        mode: "Persistent",
        source,
        isMigrated: true,
        known: "absent",
      };
      const origin = { name: "cinder.csi.openstack.org-h", csi: driver };

      const followed$ = follow(m, { name: "v", cinder: { volumeID: "h" } }, m.hot(drivers, DRIVERS));
      m.expectObservable(followed$, unsub).toBe(expected, { m: origin });
    })());

  it("reports why such a volume cannot be translated", () =>
    marbles((m) => {
      const expected = "(e|)";
      const why =
        "failed to translate in-tree pv to CSI: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/x)";

      m.expectObservable(follow(m, { name: "v", awsElasticBlockStore: { volumeID: "aws://z/x" } })).toBe(expected, {
        e: why,
      });
    })());

  it("is its name only for a volume without a driver", () =>
    marbles((m) => {
      const expected = "(n|)";

      m.expectObservable(follow(m, { name: "v", emptyDir: {} })).toBe(expected, { n: { name: "v" } });
    })());
});
