/** Times of the status of a static pod over a restart of the daemon. */
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { waitFor } from "../support/waitFor.ts";
import { HOST, type LocalNode, startLocalNode } from "./localNode.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
const timesOf = ({ status }: Pod) => ({
  startTime: status?.startTime,
  conditions: Object.fromEntries((status?.conditions ?? []).map((each) => [each.type, each.lastTransitionTime])),
});
/** The condition Ready as the file holds it. */
const readyOf = (pod: Pod) => ({ type: "Ready", status: "True", lastTransitionTime: timesOf(pod).conditions["Ready"] });
const restartsOf = ({ status }: Pod) => status?.containerStatuses?.map(({ restartCount }) => restartCount);

describe("the status of a static pod", () => {
  let node: LocalNode;
  const file = (pod: Pod): string => join(node.folder, "kubelet/pods", pod.metadata.uid, "status-times.json");

  beforeAll(async () => {
    node = await startLocalNode();
    const main = script("main", "test -e ran && sleep 3600; touch ran; exit 3", {
      ...HOST,
      workingDir: node.folder,
    });
    const side = script("side", UNTIL_TERM, HOST);
    await node.daemon.put("web.json", manifest("web", { containers: [main, side] }));
  });
  afterAll(() => node.close());

  /** Times have whole seconds, so what starts anew has another one later. */
  const restartLater = async (): Promise<void> => {
    await node.daemon.kill("SIGKILL");
    const second = Math.floor(Date.now() / 1_000);
    await waitFor("another second", () => Math.floor(Date.now() / 1_000) > second + 1);
    await node.daemon.restart();
  };

  it("keeps its start, its transitions and its restarts", async () => {
    const before = await node.daemon.until("web", (pod) => isReady(pod) && restartsOf(pod)?.[0] === 1, "ready again");
    const isWritten = async () => (await readFile(file(before), "utf8")).includes(JSON.stringify(readyOf(before)));
    await waitFor("the file to hold the last transition", isWritten);
    expect((await stat(file(before))).mode & 0o777).toBe(0o600);
    await restartLater();
    const after = await node.daemon.until("web", isReady, "ready after the restart");
    expect([timesOf(after), restartsOf(after)]).toEqual([timesOf(before), restartsOf(before)]);
    expect(after.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode).toBe(3);
  });

  it("starts its transitions anew with a damaged file", async () => {
    const before = await node.daemon.until("web", isReady, "ready");
    await writeFile(file(before), "garbage");
    await restartLater();
    const after = await node.daemon.until("web", isReady, "ready after the restart");
    expect(timesOf(after).conditions["Ready"]).not.toBe(timesOf(before).conditions["Ready"]);
    expect(await node.daemon.log()).toContain("Times of a status cannot be used");
  });
});
