import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Subscription } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { diskLinkChanges } from "../../../src/sources/diskLinks.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

describe("the links to disks", () => {
  const placeOf = temporaryDirectory();
  let running: Subscription | undefined;
  afterEach(() => running?.unsubscribe());
  /** Follows the links; `failure` is that of the watch. */
  const follow = (root: string) => {
    const state = { count: 0, failure: "" };
    running = diskLinkChanges(root).subscribe({
      next: () => (state.count += 1),
      error: (thrown) => (state.failure = (thrown as { message: string }).message),
    });
    return state;
  };

  it("are followed from before the first disk, and after the last", async () => {
    const root = placeOf();
    const byPath = join(root, "dev/disk/by-path");
    mkdirSync(join(root, "dev"));
    const state = follow(root);
    expect(state.count).toBe(2);
    for (const name of ["a", "b"]) {
      let before = state.count;
      mkdirSync(byPath, { recursive: true });
      await waitFor("the directory", () => state.count > before);
      before = state.count;
      symlinkSync("../../sdb", join(byPath, name));
      await waitFor("the link", () => state.count > before);
      before = state.count;
      rmSync(join(root, "dev/disk"), { recursive: true });
      await waitFor("the end", () => state.count > before);
    }
    expect(state.failure).toBe("");
  });

  it("cannot be followed without /dev", () => {
    const root = placeOf();
    expect(follow(root).failure).toBe(`cannot watch ${root}/dev/disk/by-path: nothing above it exists`);
  });
});
