import { createWriteStream, rmSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, open, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subscription } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SourceSnapshot } from "../../../src/core/pod/sourceSnapshot.ts";
import { filePodSource } from "../../../src/sources/filePodSource.ts";
import { manifestDigest } from "../../../src/sources/manifestDigest.ts";
import { manifestDirectory } from "../../../src/sources/manifestDirectory.ts";
import { systemClock } from "../../../src/sources/systemClock.ts";
import { podYaml } from "../../support/manifests.ts";
import { waitFor } from "../../support/waitFor.ts";

let base: string;
let place: string;
let snapshots: SourceSnapshot[];
let running: Subscription | undefined;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "rxlet-manifests-"));
  place = join(base, "manifests");
  snapshots = [];
});
afterEach(async () => {
  running?.unsubscribe();
  running = undefined;
  await rm(base, { recursive: true });
});

const summary = (): string =>
  (snapshots.at(-1)?.pods ?? []).map((pod) => `${pod.metadata.name}@${pod.spec.containers[0]?.image}`).join(" ");
let reads = 0;
const watching = (path = place): void => {
  const directory = manifestDirectory(path, systemClock);
  reads = 0;
  running = filePodSource({
    path,
    directory: {
      ...directory,
      read: (file) => {
        reads += 1;
        return directory.read(file);
      },
    },
    nodeName: "n",
    resyncPeriodMs: 3_600_000,
    clock: systemClock,
    digest: manifestDigest,
  }).subscribe({ next: (snapshot) => snapshots.push(snapshot) });
};
/** Waits for the pods of the newest snapshot; no audit helps within a test. */
const pods = (expected: string) => waitFor(`pods "${expected}"`, () => snapshots.length > 0 && summary() === expected);
/** Moves a manifest into place, as careful writers do. */
const moveIn = async (name: string, text: string): Promise<void> => {
  const aside = join(base, "aside");
  await writeFile(aside, text);
  await rename(aside, join(place, name));
};

describe("manifests on a real file system", () => {
  it("follows renames into place, edits in place and deletions", async () => {
    await mkdir(place);
    watching();
    await pods("");
    await moveIn("a.yaml", podYaml("a", "app:1"));
    await pods("a-n@app:1");
    await moveIn("a.yaml", podYaml("a", "app:2"));
    await pods("a-n@app:2");
    await writeFile(join(place, "a.yaml"), podYaml("a", "app:3"));
    await pods("a-n@app:3");
    await moveIn("b.yaml", podYaml("b", "app:1"));
    await pods("a-n@app:3 b-n@app:1");
    await rm(join(place, "a.yaml"));
    await pods("b-n@app:1");
  });
  it("sees that a file was removed and made anew at once, and that one was only replaced", async () => {
    await mkdir(place);
    await writeFile(join(place, "a.yaml"), podYaml("a"));
    watching();
    await pods("a-n@app:1");
    await moveIn("a.yaml", podYaml("a"));
    await moveIn("b.yaml", podYaml("b"));
    await pods("a-n@app:1 b-n@app:1");
    const names = () => snapshots.map((snapshot) => snapshot.pods.map(({ metadata }) => metadata.name).join(" "));
    expect(names()).toEqual(["a-n", "a-n b-n"]);
    rmSync(join(place, "a.yaml"));
    writeFileSync(join(place, "a.yaml"), podYaml("a"));
    await waitFor("a pod that ended and began", () => names().join(", ") === "a-n, a-n b-n, b-n, a-n b-n");
  });
  it("never loses the pod of a file written in halves", async () => {
    await mkdir(place);
    await moveIn("a.yaml", podYaml("a", "app:1"));
    watching();
    await pods("a-n@app:1");
    const text = podYaml("a", "app:2");
    await using file = await open(join(place, "a.yaml"), "w");
    await file.write(text.slice(0, 30));
    await waitFor("the half to be read", () => reads > 1);
    await file.write(text.slice(30));
    await pods("a-n@app:2");
    expect(snapshots.map((snapshot) => [snapshot.pods.length, snapshot.problems])).toEqual([
      [1, []],
      [1, []],
    ]);
  });
  it("follows the swap of a mounted ConfigMap's ..data link", async () => {
    await mkdir(join(place, "..1"), { recursive: true });
    await writeFile(join(place, "..1", "a.yaml"), podYaml("a", "app:1"));
    await symlink("..1", join(place, "..data"));
    await symlink("..data/a.yaml", join(place, "a.yaml"));
    watching();
    await pods("a-n@app:1");
    await mkdir(join(place, "..2"));
    await writeFile(join(place, "..2", "a.yaml"), podYaml("a", "app:2"));
    await symlink("..2", join(place, "..data_tmp"));
    await rename(join(place, "..data_tmp"), join(place, "..data"));
    await pods("a-n@app:2");
    expect(snapshots.at(-1)?.problems).toEqual([]);
  });
  it("notices a directory that appears late, vanishes and comes back", async () => {
    watching();
    await pods("");
    await mkdir(place);
    await moveIn("a.yaml", podYaml("a", "app:1"));
    await pods("a-n@app:1");
    await rm(place, { recursive: true });
    await pods("");
    await mkdir(place);
    await moveIn("a.yaml", podYaml("a", "app:2"));
    await pods("a-n@app:2");
  });
  it("notices a directory that vanishes together with the watched one above it, and comes back with it", async () => {
    const above = join(base, "above");
    place = join(above, "manifests");
    await mkdir(above);
    watching();
    await pods("");
    await rm(above, { recursive: true });
    await mkdir(place, { recursive: true });
    await moveIn("a.yaml", podYaml("a", "app:1"));
    await pods("a-n@app:1");
    await rm(above, { recursive: true });
    await pods("");
    await mkdir(place, { recursive: true });
    await moveIn("a.yaml", podYaml("a", "app:2"));
    await pods("a-n@app:2");
  });
  it("follows a single file through replacement and deletion", async () => {
    await mkdir(place);
    await moveIn("a.yaml", podYaml("a", "app:1"));
    watching(join(place, "a.yaml"));
    await pods("a-n@app:1");
    await moveIn("a.yaml", podYaml("a", "app:2"));
    await pods("a-n@app:2");
    await moveIn("a.yaml", podYaml("a", "app:3"));
    await pods("a-n@app:3");
    await rm(join(place, "a.yaml"));
    await pods("");
    await moveIn("a.yaml", podYaml("a", "app:4"));
    await pods("a-n@app:4");
  });
  it("ignores hidden and editors' files, notes directories, reports huge files and links to nowhere", async () => {
    await mkdir(join(place, "sub"), { recursive: true });
    for (const name of [".hidden", "a.yaml~", "#a.yaml#", "a.yaml.swp", "4913"]) await moveIn(name, "not a pod");
    await symlink("nowhere", join(place, "link"));
    await new Promise((resolve) =>
      createWriteStream(join(place, "huge")).end(Buffer.alloc(1024 * 1024 + 1, "#"), resolve as () => void),
    );
    watching();
    await pods("");
    const problems = snapshots[0]?.problems.map(({ severity, origin, reason }) => [
      severity,
      origin.slice(place.length + 1),
      reason,
    ]);
    expect(problems).toEqual([
      ["error", "huge", "is larger than 1 MiB, the most that is read"],
      ["warning", "link", "is a symbolic link that leads nowhere"],
      ["warning", "sub", "is a directory; only the files directly in the manifest directory are read"],
    ]);
  });
  it("goes on watching beside a link that leads back to itself", async () => {
    await mkdir(place);
    await symlink("loop", join(place, "loop"));
    watching();
    await pods("");
    await moveIn("a.yaml", podYaml("a", "app:1"));
    await pods("a-n@app:1");
    expect(snapshots.at(-1)?.problems.map(({ origin, reason }) => [origin, reason])).toEqual([
      [join(place, "loop"), "is a symbolic link that leads back to itself"],
    ]);
  });
});

describe("manifestDigest", () => {
  it("is 32 hexadecimal digits, and tells where parts end", () => {
    const digests = [
      manifestDigest(["ab", "c"]),
      manifestDigest(["a", "bc"]),
      manifestDigest(["abc"]),
      manifestDigest([]),
    ];
    expect(digests.every((digest) => /^[0-9a-f]{32}$/.test(digest))).toBe(true);
    expect(new Set(digests).size).toBe(4);
  });
});
