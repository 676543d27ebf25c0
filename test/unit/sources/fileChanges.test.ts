/** Changes of a file: in place, by replacement, through links, and of the links themselves. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subscription } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { fileChanges } from "../../../src/sources/fileChanges.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

describe("changes of a file", () => {
  const dir = temporaryDirectory();
  let running: Subscription | undefined;
  afterEach(() => running?.unsubscribe());
  const at = (path: string): string => join(dir(), path);
  const follow = (path: string) => {
    const state = { count: 0, failure: "" };
    running = fileChanges(path).subscribe({
      next: () => (state.count += 1),
      error: (thrown) => (state.failure = (thrown as { message: string }).message),
    });
    return state;
  };
  /** Acts, and waits until that was reported. */
  const reported = async (state: { readonly count: number }, act: () => void): Promise<void> => {
    const before = state.count;
    act();
    await waitFor("the report", () => state.count > before);
  };

  it("are reported whether it is written, replaced, removed or made again", async () => {
    const state = follow(at("file"));
    expect(state.count).toBe(1);
    await reported(state, () => writeFileSync(at("file"), "a"));
    await reported(state, () => writeFileSync(at("file"), "b"));
    await reported(state, () => {
      writeFileSync(at("other"), "c");
      renameSync(at("other"), at("file"));
    });
    await reported(state, () => rmSync(at("file")));
    await reported(state, () => writeFileSync(at("file"), "d"));
    expect(state.failure).toBe("");
  });

  it("are reported through links, also to another place than before", async () => {
    for (const place of ["one", "two"]) {
      mkdirSync(at(place));
      writeFileSync(at(`${place}/file`), "a");
    }
    symlinkSync("one/file", at("second"));
    symlinkSync("second", at("link"));
    const state = follow(at("link"));
    await reported(state, () => writeFileSync(at("one/file"), "b"));
    await reported(state, () => {
      symlinkSync("two/file", at("new"));
      renameSync(at("new"), at("second"));
    });
    await reported(state, () => writeFileSync(at("two/file"), "b"));
    expect(state.failure).toBe("");
  });

  it("survive links that lead back to themselves", () => {
    symlinkSync("b", at("a"));
    symlinkSync("a", at("b"));
    expect(follow(at("a"))).toEqual({ count: 1, failure: "" });
  });
});
