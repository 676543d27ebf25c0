/** Trees that a hostile container leaves, through the ports of this machine. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom, type Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { makeDeep, makeWide } from "../support/hostileTrees.ts";
import { MISSING_FOR_CHOWN, mustSkip } from "../support/mustSkip.ts";
import { realFiles, realVolumeFiles } from "../support/realFiles.ts";
import { IN_MEMORY, temporaryDirectory } from "../support/temporaryDirectory.ts";

const LEVELS = 40_000;
const NAMES = 300_000;
const FS_GROUP = 4_711;

const done = <T>(call: Observable<T>): Promise<T> => lastValueFrom(call);

describe("a hostile tree", () => {
  const files = realFiles();
  const volumes = realVolumeFiles();
  const dir = temporaryDirectory(IN_MEMORY);
  const at = (...names: readonly string[]): string => join(dir(), ...names);

  it(`is measured and removed with ${LEVELS} nested directories`, { timeout: 180_000 }, async () => {
    makeDeep(at("deep"), LEVELS);
    expect(await done(volumes.usage(at("deep")))).toMatchObject({ inodes: BigInt(LEVELS + 1) });
    await done(files.remove(at("deep")));
    expect(await fs.readdir(dir())).toEqual([]);
  });

  it.skipIf(mustSkip("a wide tree for a group", MISSING_FOR_CHOWN))(
    `is measured, given another owner and removed with ${NAMES} long names in one directory`,
    { timeout: 180_000 },
    async () => {
      makeWide(at("wide"), NAMES);
      const seen: bigint[] = [];
      const { inodes } = await done(volumes.usage(at("wide"), (counted) => seen.push(counted.inodes)));
      // Five files with 60,000 names each, and the directory.
      expect(inodes).toBe(6n);
      expect(seen.length).toBeGreaterThan(100);
      expect(await done(volumes.setOwnership(at("wide"), { fsGroup: FS_GROUP }))).toEqual({
        entries: NAMES + 1,
        failures: 0,
      });
      await done(files.remove(at("wide")));
      expect(await fs.readdir(dir())).toEqual([]);
    },
  );

  it.skipIf(mustSkip("turns of volumes", MISSING_FOR_CHOWN))(
    "keeps no small volume waiting, neither for its group nor to be measured or removed",
    { timeout: 180_000 },
    async () => {
      makeWide(at("wide"), NAMES);
      await fs.mkdir(at("small"));
      await fs.mkdir(at("token"));
      for (let index = 0; index < 300; index += 1) await fs.writeFile(at("small", `${index}`), "");
      const ended: string[] = [];
      const ending = (name: string, call: Observable<unknown>): Promise<unknown> =>
        done(call).finally(() => ended.push(name));
      const token = new Map([["token", { content: Buffer.from("t"), mode: 0o600 }]]);
      const large = [
        ending("large group", volumes.setOwnership(at("wide"), { fsGroup: FS_GROUP })),
        ending("large usage", volumes.usage(at("wide"))),
      ];
      await Promise.all([
        ending("small group", volumes.setOwnership(at("small"), { fsGroup: FS_GROUP })),
        ending("token", volumes.writeAtomic(at("token"), token, { fsGroup: FS_GROUP })),
        ending("small usage", volumes.usage(at("small"))),
      ]);
      await ending("small removal", files.remove(at("small")));
      expect(ended.toSorted()).toEqual(["small group", "small removal", "small usage", "token"]);
      await Promise.all(large);
      await done(files.remove(at("wide")));
    },
  );
});
