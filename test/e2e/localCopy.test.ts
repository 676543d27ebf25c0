/** `rxlet cp` on the local socket of a daemon. */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { findProgram } from "../support/findProgram.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { waitFor } from "../support/waitFor.ts";
import { HOST, type LocalNode, startLocalNode } from "./localNode.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const isRunning = ({ status }: Pod) => status?.phase === "Running";
const TITLE = "rxlet cp";

describe.skipIf(mustSkip(TITLE, findProgram("tar") === undefined ? ["tar"] : []))(TITLE, () => {
  let node: LocalNode;
  let inside = "";

  beforeAll(async () => {
    node = await startLocalNode();
    // The containers of the embedded runtime have the files of the machine.
    inside = join(node.folder, "inside");
    await mkdir(inside);
    await node.daemon.put("web.json", manifest("web", { containers: [script("main", UNTIL_TERM, HOST)] }));
    await node.daemon.until("web", isRunning, "Running");
    await waitFor("the socket", () => stat(node.socket));
  });
  afterAll(() => node.close());

  it("copies a large file in and out as it is", async () => {
    const bytes = randomBytes(3_000_000);
    const file = join(node.folder, "large");
    await writeFile(file, bytes);
    expect(await node.run(["cp", file, `web-test-node:${inside}`])).toEqual({ out: "", err: "", code: 0 });
    expect((await readFile(join(inside, "large"))).equals(bytes)).toBe(true);
    const back = join(node.folder, "back");
    expect(await node.run(["cp", `default/web-test-node:${inside}/large`, back])).toEqual({
      out: "",
      err: "",
      code: 0,
    });
    expect((await readFile(back)).equals(bytes)).toBe(true);
  });

  it("copies directories, without links that lead out of them", async () => {
    const tree = join(node.folder, "tree");
    await mkdir(join(tree, "sub"), { recursive: true });
    await writeFile(join(tree, "sub/file"), "text");
    await symlink("/etc/passwd", join(tree, "sub/out"));
    const into = await node.run(["cp", tree, `web-test-node:${inside}/copied`]);
    expect(into).toEqual({
      out: "",
      err: `warning: skipping link out of the copy: "${tree}/sub/out" -> "/etc/passwd"\n`,
      code: 1,
    });
    await symlink("/etc/passwd", join(inside, "copied/sub/out"));
    const back = join(node.folder, "tree-back");
    expect(await node.run(["cp", `web-test-node:${inside}/copied`, back])).toEqual({
      out: "",
      err: 'warning: skipping link: "./copied/sub/out" -> "/etc/passwd"\n',
      code: 1,
    });
    expect((await readdir(back, { recursive: true })).toSorted()).toEqual(["sub", "sub/file"]);
  });

  it("says what is wrong", async () => {
    expect(await node.run(["cp", `web-test-node:${inside}/none`, join(node.folder, "x")])).toMatchObject({
      err: expect.stringMatching(/^rxlet: tar in the container ended with exit code 2: .*none/),
      code: 1,
    });
    expect(await node.run(["cp", join(node.folder, "none"), `web-test-node:${inside}`])).toEqual({
      out: "",
      err: `rxlet: cannot read ${node.folder}/none: ENOENT\n`,
      code: 1,
    });
    expect(await node.run(["cp", `web-test-node:${inside}/large`, join(node.folder, "y"), "--max-bytes=1000"])).toEqual(
      {
        out: "",
        err: "rxlet: the copy has more than 1000 bytes: --max-bytes allows more\n",
        code: 1,
      },
    );
    expect((await node.run(["cp", "a", "b"])).err).toContain("a side must be in a pod");
  });
});
