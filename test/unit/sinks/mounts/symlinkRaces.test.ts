import * as fs from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom, type Observable } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isKubeletError } from "../../../../src/core/errors.ts";
import { openBelow } from "../../../../src/fileSystem/insideDirectory.ts";
import { bindInside, makeInside } from "../../../../src/sinks/mounts/insideVolume.ts";
import { runTool } from "../../../../src/sinks/mounts/mountTool.ts";
import type { RunTool } from "../../../../src/sinks/mounts/mountTools.ts";
import { unmount } from "../../../../src/sinks/mounts/bind.ts";
import { MISSING_FOR_CHOWN, mustSkip } from "../../../support/mustSkip.ts";
import { missingForMounts, privateMounts } from "../../../support/privateMounts.ts";
import { whileSwapped } from "../../../support/swapper.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";
import { realFiles, realVolumeFiles } from "../../../support/realFiles.ts";

const TRIES = 10_000;
const MOUNT_TRIES = 200;

/** The volume has `sub/dir/file`, and so has what is outside; somebody swaps `sub` for a link to the latter. */
async function place(dir: string) {
  const [volume, outside] = [join(dir, "volume"), join(dir, "outside")];
  for (const each of [join(volume, "sub"), outside]) {
    await fs.mkdir(join(each, "dir"), { recursive: true });
    await fs.writeFile(join(each, "dir", "file"), each);
  }
  const { ino } = await fs.stat(join(volume, "sub", "dir", "file"));
  return { volume, outside, ino, swapped: join(volume, "sub") };
}

const FORBIDDEN = 4_711;
const SEEN = ["Conflict", "InvalidArgument", "NotFound", "Io", "AlreadyExists", "PermissionDenied"];

/** How much longer it may take on a busy machine until an attempt and a swap have met. */
const PATIENCE = 50;

/**
 * Counts how so many tries end, or more until each of these endings was seen; other failures than a refusal are thrown.
 */
async function tally(
  tries: number,
  attempt: () => Promise<string>,
  endings: readonly string[] = [],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const isUnseen = (): boolean => endings.some((ending) => !counts.has(ending));
  for (let index = 0; index < tries || (index < tries * PATIENCE && isUnseen()); index += 1) {
    const how = await attempt().catch((thrown: unknown) => {
      const code = codeOf(thrown);
      if (!SEEN.includes(code) && !/^E[A-Z]+$/.test(code)) throw thrown;
      return "refused";
    });
    counts.set(how, (counts.get(how) ?? 0) + 1);
  }
  return counts;
}

const codeOf = (thrown: unknown): string =>
  isKubeletError(thrown) ? thrown.code : String((thrown as { readonly code?: unknown }).code);
const done = <T>(call: Observable<T>): Promise<T> => lastValueFrom(call);

describe("a directory swapped for a link on the way", () => {
  const dir = temporaryDirectory();

  it(`never leads what is opened outside, in ${TRIES} tries`, async () => {
    const { volume, outside, ino, swapped } = await place(dir());
    const real = await fs.realpath(volume);
    await whileSwapped(swapped, outside, async () => {
      const attempt = async () => {
        await using opened = await openBelow(real, ["sub", "dir", "file"]);
        return (await opened.stat()).ino === ino ? "inside" : "outside";
      };
      const counts = await tally(TRIES, attempt, ["inside", "refused"]);
      expect([...counts.keys()].sort()).toEqual(["inside", "refused"]);
    });
  });

  it("would lead outside after a check by path and a later open", async () => {
    const { volume, outside, ino, swapped } = await place(dir());
    await whileSwapped(swapped, outside, async () => {
      const attempt = async () => {
        const path = await fs.realpath(join(volume, "sub", "dir", "file"));
        if (!path.startsWith(volume)) return "refused";
        return (await fs.stat(path)).ino === ino ? "inside" : "outside";
      };
      const counts = await tally(TRIES, attempt, ["outside"]);
      expect([...counts.keys()]).toContain("outside");
    });
  });

  it("never makes a directory outside", async () => {
    const { volume, outside, swapped } = await place(dir());
    /** In the volume's own directory, wherever it is just now; one made while that was aside goes with the next swap. */
    const isKept = async (name: string): Promise<boolean> => {
      const places = [swapped, `${swapped}.aside`].map((path) =>
        fs.readdir(join(path, "dir")).catch((): string[] => []),
      );
      return (await Promise.all(places)).some((names) => names.includes("file") && names.includes(name));
    };
    await whileSwapped(swapped, outside, async () => {
      let made = 0;
      const attempt = async () => {
        made += 1;
        await makeInside({ volumeRoot: volume, subPath: `sub/dir/new-${made}/newer` });
        return (await isKept(`new-${made}`)) ? "kept" : "made";
      };
      expect([...(await tally(TRIES / 10, attempt, ["kept", "refused"])).keys()]).toContain("kept");
    });
    expect(await fs.readdir(join(outside, "dir"))).toEqual(["file"]);
  });

  it.each([
    ["a small tree", 20],
    ["a tree that a thread removes", 200],
  ])("never removes files outside, beside %s", async (_, size) => {
    const { volume, outside, swapped } = await place(dir());
    const files = realFiles();
    const fill = async (): Promise<void> => {
      await fs.mkdir(join(swapped, "dir"), { recursive: true });
      for (let index = 0; index < size; index += 1) await fs.writeFile(join(swapped, "dir", `more-${index}`), "");
    };
    await whileSwapped(swapped, outside, async () => {
      const attempt = async () => {
        await fill().catch(() => {});
        await done(files.remove(volume));
        return "removed";
      };
      // A removal that meets a swap finds names it did not expect, and says so.
      const counts = await tally(TRIES / 2.5 / size, attempt, ["removed", "refused"]);
      expect([...counts.keys()].sort()).toEqual(["refused", "removed"]);
    });
    expect(await fs.readFile(join(outside, "dir", "file"), "utf8")).toBe(outside);
  });

  it.skipIf(mustSkip("giving volumes away while links are swapped", MISSING_FOR_CHOWN))(
    "never has what is outside given away",
    async () => {
      const { volume, outside, swapped } = await place(dir());
      const volumes = realVolumeFiles();
      await whileSwapped(swapped, outside, async () => {
        const counts = await tally(TRIES / 10, async () => {
          await done(volumes.setOwnership(volume, { fsGroup: FORBIDDEN }));
          return "done";
        });
        expect([...counts.keys()]).toEqual(["done"]);
      });
      const groups = await Promise.all(
        [outside, join(outside, "dir"), join(outside, "dir", "file")].map(async (path) => (await fs.stat(path)).gid),
      );
      expect(groups).not.toContain(FORBIDDEN);
      expect((await fs.stat(join(volume, "sub", "dir", "file"))).gid).toBe(FORBIDDEN);
    },
  );
});

describe.skipIf(mustSkip("binds of swapped directories", missingForMounts()))(
  "a subPath swapped for a link on the way",
  () => {
    let mounted: ReturnType<typeof privateMounts>;
    beforeEach(() => {
      mounted = privateMounts();
    });
    afterEach(() => mounted.close());

    it(`never binds what is outside, in ${MOUNT_TRIES} tries`, async () => {
      const { volume, outside, ino, swapped } = await place(mounted.place);
      const target = join(mounted.place, "target");
      const { signal } = new AbortController();
      const run: RunTool = (tool) => runTool({ ...tool, signal });
      await whileSwapped(swapped, outside, async () => {
        const attempt = async () => {
          await bindInside({ volumeRoot: volume, subPath: "sub/dir/file", target }, run);
          const isInside = (await fs.stat(target)).ino === ino;
          await unmount(target, false, run);
          return isInside ? "inside" : "outside";
        };
        const counts = await tally(MOUNT_TRIES, attempt, ["inside", "refused"]);
        expect([...counts.keys()].sort()).toEqual(["inside", "refused"]);
      });
    });
  },
);
