import { appendFileSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom, type Subscription } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { flexDriverFiles } from "../../../src/sources/flexDriverFiles.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

describe("the files of flexVolume drivers", () => {
  const placeOf = temporaryDirectory();
  let root = "";
  let following: Subscription | undefined;
  beforeEach(() => {
    root = join(placeOf(), "exec");
  });
  afterEach(() => following?.unsubscribe());
  const list = () => lastValueFrom(flexDriverFiles(root).list());
  const install = (directory: string, file: string) => {
    mkdirSync(join(root, directory), { recursive: true });
    writeFileSync(join(root, directory, file), "#!/bin/sh\n");
  };

  it("are in a directory that is created, as upstream", async () => {
    expect(await list()).toEqual([]);
    expect(statSync(root).mode & 0o777).toBe(0o755);
  });

  it("are named after their directories", async () => {
    install("acme~disk", "disk");
    install("plain", "plain");
    install(".hidden", ".hidden");
    install("empty", "other");
    install("nested", "x");
    mkdirSync(join(root, "nested/nested"));
    symlinkSync(join(root, "plain"), join(root, "link"));
    writeFileSync(join(root, "file"), "");
    expect((await list()).map(({ driver }) => driver)).toEqual(["acme/disk", "plain"]);
  });

  it("have another stamp after a change", async () => {
    install("acme~disk", "disk");
    const [before] = await list();
    appendFileSync(join(root, "acme~disk/disk"), "exit 0\n");
    const [after] = await list();
    expect(after?.stamp).not.toBe(before?.stamp);
    expect(await list()).toEqual([after]);
  });

  it("are announced when one comes, changes or goes", async () => {
    await list();
    let seen = 0;
    following = flexDriverFiles(root).changes$.subscribe(() => (seen += 1));
    const changed = async (change: () => void) => {
      const before = seen;
      change();
      await waitFor("a hint", () => seen > before);
    };
    await waitFor("the watch", () => seen > 0);
    await changed(() => install("acme~disk", "disk"));
    await waitFor("the driver", async () => (await list()).length === 1);
    await changed(() => appendFileSync(join(root, "acme~disk/disk"), "exit 0\n"));
    await changed(() => rmSync(join(root, "acme~disk"), { recursive: true }));
  });

  it("end with an error when the directory is removed", async () => {
    await list();
    let failure: unknown;
    let isReady = false;
    following = flexDriverFiles(root).changes$.subscribe({
      next: () => (isReady = true),
      error: (thrown) => (failure = thrown),
    });
    await waitFor("the watch", () => isReady);
    rmSync(root, { recursive: true });
    await waitFor("the error", () => failure !== undefined);
    expect(failure).toMatchObject({ code: "Io", message: `watching ${root}: the directory was removed` });
  });
});
