import { defer, firstValueFrom, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { ImageFsInfoResponse } from "../../../../src/gen/cri.ts";
import { createDiskLookup } from "../../../../src/pipelines/stats/diskPlaces.ts";

const DIRECTORIES = { rootDir: "/kubelet", podLogsDir: "/pods", containerLogsDir: "/links" };
const fsAt = (mountpoint: string | undefined) => (mountpoint === undefined ? [] : [{ fsId: { mountpoint } }]);

/** A lookup on a node whose paths begin with the name of their device. */
function lookupOf({
  images = "/a/images" as string | undefined,
  containers = undefined as string | undefined,
  separatesDisks = true,
}) {
  const node = { isAway: false, asked: 0 };
  const ports = {
    images: {
      imageFsInfo: () =>
        defer(() => {
          node.asked += 1;
          if (node.isAway) return throwError(() => kubeletError("Unavailable", "away"));
          return of(
            ImageFsInfoResponse.fromPartial({ imageFilesystems: fsAt(images), containerFilesystems: fsAt(containers) }),
          );
        }),
    },
    hostUsage: {
      device: (path: string) =>
        path === ""
          ? throwError(() => kubeletError("NotFound", "no path"))
          : of(path.startsWith("/a") ? 1n : path.startsWith("/b") ? 2n : 3n),
    },
  };
  return { node, lookup: createDiskLookup(ports as never, { directories: DIRECTORIES, separatesDisks }) };
}

describe("the disks of a node", () => {
  it.each<[string, Parameters<typeof lookupOf>[0], object]>([
    ["everything on one", { images: "/images" }, { hasImageFs: false, isSplit: false }],
    [
      "everything on one, at two places",
      { images: "/images", containers: "/layers" },
      { hasImageFs: false, isSplit: false },
    ],
    [
      "images and layers apart from the node",
      { images: "/a/i", containers: "/a/l" },
      { hasImageFs: true, isSplit: false },
    ],
    ["images apart from layers", { images: "/a/i", containers: "/layers" }, { hasImageFs: true, isSplit: true }],
    ["layers apart from images", { images: "/images", containers: "/b/l" }, { hasImageFs: true, isSplit: true }],
    ["three of them", { images: "/a/i", containers: "/b/l" }, { hasImageFs: true, isSplit: true }],
    ["no report about layers", { images: "/a/i" }, { hasImageFs: true, isSplit: false }],
    [
      "the gate off, without effect on one disk",
      { images: "/a/i", separatesDisks: false },
      { hasImageFs: true, isSplit: false },
    ],
  ])("are known: %s", async (_what, given, layout) => {
    const { lookup } = lookupOf(given);
    expect(await firstValueFrom(lookup.layout$)).toEqual(layout);
  });

  it("are an error when layers are apart from images although the gate is off", async () => {
    const { lookup } = lookupOf({ images: "/a/i", containers: "/layers", separatesDisks: false });
    await expect(firstValueFrom(lookup.layout$)).rejects.toMatchObject({
      message: "KubeletSeparateDiskGC is turned off but we still have a split filesystem",
    });
    expect(await firstValueFrom(lookup.places$)).toEqual({ images: "/a/i", containers: "/layers" });
  });

  it("are asked for until they are known, and then no more", async () => {
    const { node, lookup } = lookupOf({});
    node.isAway = true;
    await expect(firstValueFrom(lookup.layout$)).rejects.toMatchObject({ code: "Unavailable" });
    node.isAway = false;
    for (const found$ of [lookup.layout$, lookup.layout$]) await firstValueFrom(found$);
    await firstValueFrom(lookup.places$);
    expect(node.asked).toBe(2);
  });

  it("are an error when the runtime reports no file system of images", async () => {
    await expect(firstValueFrom(lookupOf({ images: "" }).lookup.layout$)).rejects.toMatchObject({
      code: "NotFound",
    });
  });
});
