/** `rxlet.dev/rollback-after`: the last good version of a manifest runs again, over kills of the daemon in each phase. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { isRollbackFile } from "../../src/core/rollback/rollbackFile.ts";
import { waitFor } from "../support/waitFor.ts";
import { HOST, type LocalNode, startLocalNode } from "./localNode.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
const labelOf = ({ metadata }: Pod): string => metadata.labels?.["version"] ?? "";

const NEVER_READY = { exec: { command: ["false"] }, periodSeconds: 1 };

const version = (label: string, after: string, readinessProbe?: object) =>
  manifest(
    "web",
    { containers: [script("main", UNTIL_TERM, { ...HOST, ...(readinessProbe && { readinessProbe }) })] },
    { labels: { version: label }, annotations: { "rxlet.dev/rollback-after": after } },
  );

describe("a manifest with rollback-after", () => {
  let node: LocalNode;
  const put = (value: unknown) => node.daemon.put("web.json", value);
  const readyAs = (label: string) =>
    node.daemon.until("web", (pod) => labelOf(pod) === label && isReady(pod), `ready as ${label}`);
  /** Files of records. A file that is about to replace one, and that a kill leaves behind, is none. */
  const files = async () => {
    const directory = join(node.folder, "kubelet/rollback");
    return (await readdir(directory)).filter(isRollbackFile).map((file) => join(directory, file));
  };
  const records = async () => Promise.all((await files()).map((file) => readFile(file, "utf8")));
  const written = (...texts: readonly string[]) =>
    waitFor(`a record with ${texts.join(" and ")}`, async () =>
      (await records()).some((record) => texts.every((text) => record.includes(text))),
    );
  const reasons = async () => (await node.daemon.events("web")).filter(({ reason }) => reason === "ManifestRolledBack");

  beforeAll(async () => {
    node = await startLocalNode();
    await put(version("one", "2s"));
    await readyAs("one");
  });
  afterAll(() => node.close());

  it("runs its last good version again, says why, and leaves the file", async () => {
    await written('"version":"one"');
    const [file = ""] = await files();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const before = await readyAs("one");
    await put(version("two", "2s", NEVER_READY));
    const [event] = await waitFor("the event", async () => {
      const found = await reasons();
      return found.length > 0 && found;
    });
    const after = await readyAs("one");
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(event).toMatchObject({
      type: "Warning",
      message: expect.stringMatching(
        /^The changed manifest did not become Ready within 2s \(.+\): its last good version/,
      ),
    });
    expect(await readFile(join(node.daemon.manifests, "web.json"), "utf8")).toBe(
      JSON.stringify(version("two", "2s", NEVER_READY)),
    );
    const { out } = await node.run(["explain", "web-test-node"]);
    expect(out).toContain("its last good version runs until it changes again");
  });

  it("stays there over a kill, and tries the next change", async () => {
    await node.daemon.kill("SIGKILL");
    await node.daemon.restart();
    await readyAs("one");
    // Long enough to become Ready on a busy machine.
    await put(version("three", "5m"));
    await readyAs("three");
    await written('"version":"three"');
  });

  it("counts down over a kill during the trial, as explain tells", async () => {
    await put(version("four", "20s", NEVER_READY));
    await written('"version":"three"', '"trial"');
    await node.daemon.kill("SIGKILL");
    await node.daemon.restart();
    await node.daemon.until("web", (pod) => labelOf(pod) === "four", "there as four");
    // Until the version before has ended, explain shows that one.
    const isTold = async () =>
      /Rollback; rollback at \S+, in \d+s\n +the manifest has changed; unless its pod becomes Ready/.test(
        (await node.run(["explain", "web-test-node"])).out,
      );
    await waitFor("explain to tell the countdown", isTold);
    await readyAs("three");
    await written('"version":"three"', '"failed"');
  });

  it("rolls a version back that was already refused when the daemon was killed", async () => {
    await node.daemon.kill("SIGKILL");
    await node.daemon.restart();
    await readyAs("three");
    expect((await node.daemon.pods()).map(labelOf)).toEqual(["three"]);
  });

  it("forgets the record with the manifest", async () => {
    await node.daemon.drop("web.json");
    await node.daemon.untilGone("web");
    await waitFor("no record", async () => (await records()).length === 0);
  });
});
