/** File systems that do not answer: no work of other volumes waits for them, and no thread of Node's is lost to them. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { from, lastValueFrom, type Observable } from "rxjs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFiles } from "../../src/sinks/files.ts";
import { createRemoteFiles } from "../../src/sinks/remote/remoteFiles.ts";
import { createTrees } from "../../src/sinks/trees/trees.ts";
import { createVolumeFiles } from "../../src/sinks/volumeFiles/volumeFiles.ts";
import { createRemoteFileSystem } from "../../src/sources/remoteFileSystem.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { type DeadMount, deadMount, missingForDeadMounts } from "../support/deadMount.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { type PrivateMounts, privateMounts } from "../support/privateMounts.ts";

const DEADLINE_MS = 300;
/** The process that works there has to start meanwhile. */
const SUB_PATH_MS = 3_000;
/** More than libuv's pool has threads. */
const PODS = 20;

const ending = (call: Observable<unknown>): Promise<string> =>
  lastValueFrom(call).then(
    () => "done",
    (thrown: unknown) => (thrown as { readonly code: string }).code,
  );

describe.skipIf(mustSkip("mounts that do not answer", missingForDeadMounts()))("a mount that does not answer", () => {
  const remoteFiles = createRemoteFiles({ deadlineMs: DEADLINE_MS });
  const trees = createTrees({ clock: systemClock });
  const files = createFiles(trees, remoteFiles);
  const volumes = createVolumeFiles({ clock: systemClock, trees, remoteFiles });
  let mounted: PrivateMounts;
  const dead: DeadMount[] = [];
  const at = (...names: readonly string[]): string => join(mounted.place, ...names);
  const mountDead = async (name: string, options = {}): Promise<string> => {
    await fs.mkdir(at(name));
    dead.push(deadMount(at(name), options));
    return at(name);
  };
  const held = (): number => process.getActiveResourcesInfo().filter((name) => name.startsWith("FSReq")).length;
  beforeEach(() => {
    mounted = privateMounts((place) => place, SUB_PATH_MS);
  });
  afterEach(() => {
    for (const each of dead.splice(0)) each.close();
    mounted.close();
  });

  it("does not block a caller that inspects it or creates an entry in it", async () => {
    const share = await mountDead("share");
    const calls = (path: string) => [
      files.kindOf(path),
      files.createDirectory(path, 0o755),
      files.createFile(path),
      volumes.groupOf(path),
    ];
    const ends = await Promise.all([...calls(share), ...calls(join(share, "below"))].map(ending));
    expect(ends).toEqual(ends.map(() => "DeadlineExceeded"));
    expect(held()).toBe(0);
  });

  it("is not waited for by other volumes that get their group", async () => {
    const share = await mountDead("share", { answersForRoot: true });
    await fs.mkdir(at("local"));
    const stuck = lastValueFrom(volumes.setOwnership(share, { fsGroup: 4_711 }));
    const left = expect(stuck).rejects.toMatchObject({ code: "Io" });
    expect(await ending(volumes.setOwnership(at("local"), { fsGroup: 4_711 }))).toBe("done");
    expect((await fs.stat(at("local"))).gid).toBe(4_711);
    // A job that starts after the close finds the empty directory under the mount, and succeeds.
    await vi.waitFor(() => expect(dead[0]?.isWaitedFor()).toBe(true), 30_000);
    dead[0]?.close();
    await left;
  });

  it("is not measured for longer than its deadline", async () => {
    const share = await mountDead("share");
    expect(await ending(from(createRemoteFileSystem("stat", DEADLINE_MS)(share)))).toBe("Io");
    expect(held()).toBe(0);
  });

  it(`holds none of Node's threads when it answers for its root alone and ${PODS} pods use a subPath`, async () => {
    const share = await mountDead("share", { answersForRoot: true });
    const bind = (index: number) => {
      const place = { volumeRoot: share, subPath: "sub", target: at(`target-${index}`) };
      return index % 2 === 0 ? mounted.mounts.bindInside(place) : mounted.mounts.makeInside(place);
    };
    expect(await ending(files.kindOf(share))).toBe("done");
    const ends = Array.from({ length: PODS }, (_, index) => ending(bind(index)));
    const looked = await Promise.all(Array.from({ length: PODS }, () => ending(files.kindOf(share))));
    expect(looked).toEqual(looked.map(() => "done"));
    // Some programs outlast SIGKILL until the server answers: with eight of those no other one starts.
    expect(new Set(["DeadlineExceeded", "Unavailable", ...(await Promise.all(ends))]).size).toBe(2);
    expect(held()).toBe(0);
  });
});
