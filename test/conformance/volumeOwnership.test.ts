/** Ownership of volumes on real mounts: given to the pod's group once, and what containers wrote since stays as it is. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom, of } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PodSpec } from "../../src/core/api.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { missingForMounts, privateMounts, type PrivateMounts } from "../support/privateMounts.ts";
import { type Death, liveOnce, type VolumeLivesOptions } from "../support/volumeLives.ts";
import { realFiles, realVolumeFiles } from "../support/realFiles.ts";
import { waitFor } from "../support/waitFor.ts";

type Source = Omit<NonNullable<PodSpec["volumes"]>[number], "name">;

const GROUP = 4_711;
const CLAIM: Source = { persistentVolumeClaim: { claimName: "local" } };

describe.skipIf(mustSkip("owners of volumes on real mounts", missingForMounts()))("a volume of a pod's group", () => {
  let on: PrivateMounts;
  beforeEach(async () => {
    on = privateMounts();
    await fs.mkdir(join(on.place, "kubelet"));
    await fs.mkdir(join(on.place, "disk"));
    await fs.writeFile(join(on.place, "disk", "old"), "", { mode: 0o600 });
  });
  afterEach(() => on.close());

  const api = (): VolumeLivesOptions["api"] => ({
    get: ((resource: string) =>
      of(
        resource === "persistentvolumes"
          ? { metadata: { name: "pv1" }, spec: { claimRef: { uid: "c" }, local: { path: join(on.place, "disk") } } }
          : { metadata: { name: "local", uid: "c" }, spec: { volumeName: "pv1" }, status: { phase: "Bound" } },
      )) as unknown as NonNullable<VolumeLivesOptions["api"]>["get"],
  });
  const live = (source: Source, death?: Death) =>
    liveOnce(
      {
        machine: { files: realFiles(), mounts: on.mounts, volumeFiles: realVolumeFiles() },
        rootDir: join(on.place, "kubelet"),
        pod: podOf({
          spec: {
            volumes: [{ name: "v", ...source }],
            securityContext: { fsGroup: GROUP },
            containers: [containerOf({ volumeMounts: [{ name: "v", mountPath: "/v" }] })],
          },
        }),
        objects: [],
        api: api(),
        whenMounted: async () => {},
      },
      death,
    );
  const looks = async (...names: readonly string[]): Promise<readonly unknown[]> => {
    const { gid, mode } = await fs.stat(join(on.place, ...names));
    return [gid, (mode & 0o7777).toString(8)];
  };

  it.each<[string, Source, string]>([
    ["emptyDir", { emptyDir: {} }, "kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/v"],
    ["emptyDir in memory", { emptyDir: { medium: "Memory" } }, "kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/v"],
    ["local", CLAIM, "disk"],
  ])("is given once, also where a kubelet comes back: %s", async (_kind, source, place) => {
    await live(source, "mounted");
    expect((await looks(place))[0]).toBe(GROUP);
    await fs.writeFile(join(on.place, place, "secret"), "mine", { mode: 0o600 });
    await live(source, "mounted");
    expect((await looks(place, "secret"))[1]).toBe("600");
    await live(source);
    expect(await fs.readdir(join(on.place, "kubelet", "pods"))).toEqual([]);
  });

  it("is given again where it was lost with the machine", async () => {
    const place = "kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/v";
    const source: Source = { emptyDir: { medium: "Memory" } };
    await live(source, "mounted");
    // The walk through the volume may still hold a directory of it open.
    await waitFor("the unmount", () => lastValueFrom(on.mounts.unmount(join(on.place, place))).then(() => true));
    await live(source, "mounted");
    expect(await looks(place)).toEqual([GROUP, "3777"]);
  });

  it("stays another pod's while that one has it too", async () => {
    const other = join(on.place, "kubelet/pods/uid-2/volumes/kubernetes.io~local-volume/pv1");
    await fs.mkdir(other, { recursive: true });
    await lastValueFrom(on.mounts.bind({ source: join(on.place, "disk"), target: other }));
    expect((await live(CLAIM, "mounted")).events).toEqual([
      "AlreadyMountedVolume The requested fsGroup is 4711, but the volume pv1 has GID 0. The volume may not be shareable.",
    ]);
    expect(await looks("disk", "old")).toEqual([0, "600"]);
    await live(CLAIM);
    await lastValueFrom(on.mounts.unmount(other));
    await live(CLAIM, "mounted");
    expect(await looks("disk", "old")).toEqual([GROUP, "660"]);
  });
});
