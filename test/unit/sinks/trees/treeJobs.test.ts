import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createPrng } from "../../../../src/sim/prng.ts";
import { createOwnershipJob } from "../../../../src/sinks/trees/ownershipJob.ts";
import { createRemovalJob } from "../../../../src/sinks/trees/removalJob.ts";
import type { TreeJob } from "../../../../src/sinks/trees/treeJob.ts";
import { createUsageJob } from "../../../../src/sinks/trees/usageJob.ts";
import { makeDeep } from "../../../support/hostileTrees.ts";
import { MISSING_FOR_CHOWN, mustSkip } from "../../../support/mustSkip.ts";
import { IN_MEMORY, temporaryDirectory } from "../../../support/temporaryDirectory.ts";

/** Descriptors of this process. */
const openFiles = (): number => fs.readdirSync("/proc/self/fd").length;

/** Works to the end; `meanwhile` happens after each step. Nothing is left open. */
function finish<Value>(make: () => TreeJob<Value>, meanwhile: (steps: number) => void = () => {}): Value {
  const before = openFiles();
  const job = make();
  try {
    for (let steps = 1; !job.step(); steps += 1) meanwhile(steps);
    return job.value;
  } finally {
    job.close();
    expect(openFiles()).toBe(before);
  }
}

/** A bushy tree from a seed: how many files and directories are in it, itself included. */
function grow(path: string, seed: number): number {
  const prng = createPrng(seed);
  let made = 0;
  const growAt = (here: string, depth: number): void => {
    fs.mkdirSync(here);
    made += 1;
    for (let index = prng.int(0, 12); index > 0; index -= 1) {
      const name = join(here, `n${index}`);
      if (depth < 7 && prng.int(0, 2) === 0) growAt(name, depth + 1);
      else {
        fs.writeFileSync(name, "");
        made += 1;
      }
    }
  };
  growAt(path, 0);
  return made;
}

const dir = temporaryDirectory(IN_MEMORY);
const at = (...names: readonly string[]): string => join(dir(), ...names);

describe.each([1, 2, 64])("a tree of which %d directories may be open", (maxOpen) => {
  it.each([1, 2, 3, 4, 5])("is counted and removed whole (seed %d)", (seed) => {
    const made = grow(at("tree"), seed);
    const { inodes, isPartial } = finish(() => createUsageJob(at("tree"), maxOpen));
    expect([inodes, isPartial]).toEqual([BigInt(made), undefined]);
    finish(() => createRemovalJob(at("tree"), maxOpen));
    expect(fs.readdirSync(at("tree"))).toEqual([]);
  });

  it.skipIf(mustSkip("groups of trees", MISSING_FOR_CHOWN))("is given to a group whole", () => {
    const made = grow(at("tree"), 6);
    const own = () => finish(() => createOwnershipJob(at("tree"), { fsGroup: 4_711 }, maxOpen));
    expect(own()).toEqual({ entries: made, failures: 0 });
    const groups = fs
      .readdirSync(at("tree"), { recursive: true })
      .map((name) => fs.statSync(at("tree", String(name))).gid);
    expect([groups.length, new Set(groups)]).toEqual([made - 1, new Set([4_711])]);
  });

  it("may be deeper than any path is long", () => {
    makeDeep(at("deep"), 3_000);
    expect(finish(() => createUsageJob(at("deep"), maxOpen)).inodes).toBe(3_001n);
    finish(() => createRemovalJob(at("deep"), maxOpen));
    expect(fs.readdirSync(at("deep"))).toEqual([]);
  });
});

describe("names that are no UTF-8", () => {
  it("are counted and removed", () => {
    const bytes = (...names: readonly number[][]) =>
      Buffer.concat(names.flatMap((name) => [Buffer.from("/"), Buffer.from(name)]));
    const place = (...names: readonly number[][]) => Buffer.concat([Buffer.from(dir()), bytes(...names)]);
    fs.mkdirSync(place([0xff, 0xfe]));
    fs.writeFileSync(place([0xff, 0xfe], [0xc3, 0x28]), "");
    fs.writeFileSync(place([0xff, 0xfe], [0xc3, 0xa9]), "");
    fs.writeFileSync(place([0x80]), "");
    expect(finish(() => createUsageJob(dir(), 1)).inodes).toBe(5n);
    finish(() => createRemovalJob(dir(), 1));
    expect(fs.readdirSync(dir())).toEqual([]);
  });
});

describe("files with many names", () => {
  it("count once, and by shares beyond the bound on remembered files", () => {
    fs.mkdirSync(at("links"));
    // The first names of 4,096 files fill what is remembered; the others count by halves.
    const files = 4_200;
    for (let index = 0; index < files; index += 1) {
      fs.closeSync(fs.openSync(at("links", `a${index}`), "w"));
      fs.linkSync(at("links", `a${index}`), at("links", `b${index}`));
    }
    expect(finish(() => createUsageJob(at("links"), 1)).inodes).toBe(BigInt(files + 1));
    finish(() => createRemovalJob(at("links"), 1));
  });
});

describe("a tree that is changed meanwhile", () => {
  /** `dir/tree/1/2/3/4/5` with a file in each, and `dir/outside` with files. */
  const build = (): void => {
    let here = at("tree");
    for (const name of ["", "1", "2", "3", "4", "5"]) {
      here = join(here, name);
      fs.mkdirSync(here, { recursive: true });
      fs.writeFileSync(join(here, "file"), "");
    }
    fs.mkdirSync(at("outside"));
    for (const name of ["a", "b", "c"]) fs.writeFileSync(at("outside", name), "");
  };
  /** Path of an open file; empty once it is closed, which a thread of an earlier test may do at any time. */
  const openedPath = (fd: string): string => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  };
  /** Once the deepest directory is open, and those above are closed, the third is moved out of the tree. */
  const moveOut = (job: TreeJob<unknown>) => {
    let isMoved = false;
    return (): void => {
      const isDeep = fs.readdirSync("/proc/self/fd").some((fd) => openedPath(fd).endsWith("/4/5"));
      if (isMoved || !isDeep || job.progress.entries === 0) return;
      fs.renameSync(at("tree", "1", "2", "3"), at("outside", "3"));
      isMoved = true;
    };
  };

  it("is counted in part and reported as such, without files outside of it", () => {
    build();
    const job = createUsageJob(at("tree"), 1);
    const meanwhile = moveOut(job);
    while (!job.step()) meanwhile();
    job.close();
    expect(fs.existsSync(at("outside", "3"))).toBe(true);
    expect(job.value.isPartial).toBe(true);
    expect(job.value.inodes <= 12n).toBe(true);
  });

  it("is removed, without the directories that were moved out of it", () => {
    build();
    const job = createRemovalJob(at("tree"), 1);
    const meanwhile = moveOut(job);
    while (!job.step()) meanwhile();
    job.close();
    expect(fs.readdirSync(at("tree"))).toEqual([]);
    expect(fs.readdirSync(at("outside")).sort()).toEqual(["3", "a", "b", "c"]);
  });

  it("cannot be removed while a process keeps filling it: removal fails after a hundred passes", () => {
    fs.mkdirSync(at("tree"));
    fs.writeFileSync(at("tree", "first"), "");
    let files = 0;
    const fill = (steps: number): void => {
      // A pass is one file and the end, at which there has to be another file.
      if (steps % 2 === 1) fs.writeFileSync(at("tree", `${(files += 1)}`), "");
    };
    const remove = () => finish(() => createRemovalJob(at("tree"), 1), fill);
    expect(remove).toThrow(expect.objectContaining({ code: "Io", message: `cannot remove ${at("tree")}: ENOTEMPTY` }));
    expect(files).toBeGreaterThan(50);
  });
});
