/** A `rxlet dev` or its built-in runtime that is killed: nothing they started runs on for ever. */
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mayMount } from "../../src/sinks/mounts/mayMount.ts";
import { mountsBelow } from "../support/kernelState.ts";
import { waitFor } from "../support/waitFor.ts";
import { createDevUser, type DevNode, type DevUser, processesMentioning } from "./devNode.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const HOST = { image: "rxlet.dev/host" };
/** Equals `MAX_RESTARTS` of the built-in runtime. */
const MAX_RESTARTS = 5;

describe("rxlet dev after a process is killed", () => {
  let user: DevUser;
  let node: DevNode;

  beforeEach(async () => {
    user = await createDevUser();
    const volumes = mayMount() ? [{ name: "memory", emptyDir: { medium: "Memory" } }] : [];
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: "/memory" }));
    const web = manifest("web", { volumes, containers: [script("main", UNTIL_TERM, { ...HOST, volumeMounts })] });
    node = await user.start("pods", { "web.json": web });
    await node.until("web", "Running", ({ status }) => status?.phase === "Running");
  });
  afterEach(() => user.close());

  const commandOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  const runtimePid = (): Promise<number> =>
    waitFor("the built-in runtime to run", async () => {
      const pids = await processesMentioning(user.folder);
      const commands = await Promise.all(pids.map(commandOf));
      return pids.find((_, at) => commands[at]?.includes("\0runtime\0--socket\0"));
    });
  const containerPids = async (): Promise<readonly number[]> => {
    const pids = await processesMentioning(user.folder);
    const commands = await Promise.all(pids.map(commandOf));
    return pids.filter((_, at) => commands[at]?.includes("/containers/"));
  };

  it("leaves no runtime, pods or directories after SIGKILL of dev", async () => {
    expect(await user.leftovers()).toHaveLength(2);
    expect(await containerPids()).not.toEqual([]);
    expect(mountsBelow(user.folder)).toHaveLength(mayMount() ? 1 : 0);
    const ended = once(node.child, "exit");
    node.child.kill("SIGKILL");
    await ended;
    await waitFor("all processes to end", async () => (await processesMentioning(user.folder)).length === 0);
    expect([mountsBelow(user.folder), await user.leftovers()]).toEqual([[], ["rxlet"]]);
    expect(await readdir(`${user.folder}/run/rxlet`)).toEqual([]);
  });

  it("keeps running the same containers after SIGKILL of the runtime", async () => {
    const containers = await containerPids();
    const before = await runtimePid();
    process.kill(before, "SIGKILL");
    await waitFor("dev to say so", () =>
      node
        .output()
        .includes("The built-in runtime ended (killed by SIGKILL) and was started again; containers run on\n"),
    );
    await waitFor("another runtime", async () => (await runtimePid()) !== before);
    expect(containers).toEqual(expect.arrayContaining([...(await containerPids())]));
    await node.put("late.json", manifest("late", { containers: [script("main", UNTIL_TERM, HOST)] }));
    await node.until("late", "Running", ({ status }) => status?.phase === "Running");
    expect(await node.stop()).toBe(0);
    expect([await processesMentioning(user.folder), await user.leftovers()]).toEqual([[], []]);
  });

  it("kills an unresponsive runtime and its containers on a second Ctrl-C", async () => {
    process.kill(await runtimePid(), "SIGSTOP");
    const ended = once(node.child, "exit");
    node.child.kill("SIGINT");
    await waitFor("dev to stop its pods", () => node.output().includes("Stopping pods"));
    node.child.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
    expect([await processesMentioning(user.folder), await user.leftovers()]).toEqual([[], []]);
  });

  it("exits with a reason and leaves nothing when the runtime dies repeatedly", async () => {
    const ended = once(node.child, "exit");
    let last = 0;
    for (let deaths = 0; deaths <= MAX_RESTARTS; deaths++) {
      const pid = await waitFor("the next runtime", async () => {
        const found = await runtimePid();
        return found !== last && found;
      });
      await waitFor("it to serve", () => countOf(node.output(), "was started again") === deaths);
      process.kill(pid, "SIGKILL");
      last = pid;
    }
    expect(await ended).toEqual([1, null]);
    expect(node.output()).toContain("the built-in runtime ended: killed by SIGKILL\n");
    expect([await processesMentioning(user.folder), await user.leftovers()]).toEqual([[], []]);
  });
});

const countOf = (text: string, words: string): number => text.split(words).length - 1;
