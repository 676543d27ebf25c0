/** The live view of a daemon: its stream, who gets it, and `rxlet top`. The page has tests in a browser. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createLiveEventReader } from "../../src/core/live/liveEvents.ts";
import { LIVE_PATHS, type LiveMarble, type LiveMessage } from "../../src/core/live/liveMessages.ts";
import { BUILT_MAIN } from "../support/builtProgram.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { waitFor } from "../support/waitFor.ts";
import { HOST, type LocalNode, startLocalNode } from "./localNode.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

/** A watcher of a stream, with everything that it was sent. */
async function watch(url: string) {
  const ended = new AbortController();
  const { body, status } = await fetch(`${url}${LIVE_PATHS.stream}`, { signal: ended.signal });
  const messages: LiveMessage[] = [];
  const reader = createLiveEventReader();
  const reading = (async () => {
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) messages.push(...reader.take(piece));
  })().catch(() => undefined);
  const stop = async (): Promise<void> => {
    ended.abort();
    await reading;
  };
  return { status, messages, stop };
}

const marblesIn = (messages: readonly LiveMessage[]): readonly LiveMarble[] =>
  messages.flatMap((message) => (message.kind === "marbles" ? message.marbles : []));

describe("the live view of a daemon", () => {
  let node: LocalNode;

  beforeAll(async () => {
    node = await startLocalNode(undefined, ["--live-view"]);
    const crash = script("main", "echo crasher says hello; exit 3", HOST);
    await node.daemon.put("crasher.json", manifest("crasher", { containers: [crash] }));
    await node.daemon.until(
      "crasher",
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CrashLoopBackOff",
      "in a crash loop",
    );
  });
  afterAll(() => node.close());

  it("tells of the pipeline, the node, each pod and its next try", async () => {
    const { messages, stop } = await watch(node.daemon.readOnlyUrl);
    const kinds = () => new Set(messages.map(({ kind }) => kind));
    await waitFor("a message of each kind", () => kinds().size === 5);
    const garbage = await waitFor(
      "images",
      () => messages.flatMap((message) => (message.kind === "node" ? (message.garbage ?? []) : []))[0],
    );
    await stop();
    // The images of the embedded runtime are the machine itself, which it keeps.
    expect([garbage.unusedImages, garbage.keptImages > 0]).toEqual([0, true]);
    expect(messages[0]?.kind).toBe("graph");
    const pods = messages.find((message) => message.kind === "pods")?.pods ?? [];
    const wait = pods[0]?.waits.find(({ what }) => what === "CrashLoopBackOff");
    expect(pods[0]).toMatchObject({ namespace: "default", name: "crasher-test-node", source: "file" });
    expect((wait?.next?.at ?? 0) - Date.now()).toBeGreaterThan(-60_000);
    // The steps of the past come at once.
    expect(marblesIn(messages).map(({ place }) => place)).toContain("timelines");
    const graph = messages.find((message) => message.kind === "graph");
    const writersOf = (cell: string) =>
      graph?.parts.filter(({ writes }) => writes.includes(cell)).map(({ name }) => name);
    expect(writersOf("volumes")).toEqual(["podServices"]);
    expect(graph?.places.filter(({ name, kind }) => kind === "cell" && writersOf(name)?.length !== 1)).toEqual([]);
    const facts = messages.find((message) => message.kind === "node");
    expect(facts?.sources).toContainEqual({ name: "file", isUp: true, restarts: 0 });
  });

  it("has the marbles of a new pod with their causes, from its manifest to its status", async () => {
    const { messages, stop } = await watch(node.daemon.readOnlyUrl);
    await node.daemon.put("web.json", manifest("web", { containers: [script("main", UNTIL_TERM, HOST)] }));
    const running = await waitFor("the marble of a status", () =>
      marblesIn(messages).find(({ place, text }) => place === "podStatuses" && text === "Running, Ready"),
    );
    await stop();
    const all = new Map(marblesIn(messages).map((marble) => [marble.id, marble]));
    const chain: string[] = [];
    for (let at: LiveMarble | undefined = running; at !== undefined; at = all.get(at.cause ?? 0)) chain.push(at.place);
    expect([chain[0], chain.at(-1)]).toEqual(["podStatuses", "registryInputs"]);
    expect([...all.values()].find(({ place, pod }) => place === "registryInputs" && pod === running.pod)?.text).toMatch(
      /^ADD web/,
    );
  });

  it("prints a view for a program, over the local socket", async () => {
    const { out, err, code } = await node.run(["top", "--once"]);
    expect([err, code]).toEqual(["", 0]);
    expect(out).toMatch(/^POD +READY +STATE +RESTARTS +WAITS FOR\n/);
    expect(out).toMatch(/default\/crasher-test-node +0\/1 +Running +\d+ +CrashLoopBackOff main, next try in \d+s/);
  });

  it("has a bound on what it takes from a user: views that do not exist are refused", async () => {
    const { err, code } = await node.run(["top", "--view=all"]);
    expect([err, code]).toEqual(['rxlet: --view: must be one of pods, pipeline, marbles, node, got "all"\n', 1]);
  });

  it.skipIf(mustSkip("rxlet top on a terminal", hasScript() ? [] : ["script of util-linux"]))(
    "is shown on a terminal, with keys for its views and its end",
    async () => {
      const command = `${process.execPath} ${BUILT_MAIN} top --socket=${node.socket}`;
      const env = { ...process.env, TMPDIR: node.folder, NODE_COMPILE_CACHE: "", SHELL: "/bin/sh" };
      const terminal = spawn("script", ["-qfec", command, "/dev/null"], { env, stdio: ["pipe", "pipe", "inherit"] });
      onTestFinished(() => void terminal.kill("SIGKILL"));
      let seen = "";
      terminal.stdout.on("data", (text: Buffer) => (seen += text.toString()));
      const ended = once(terminal, "exit");
      await waitFor("the pods", () => seen.includes("crasher-test-node") && seen.includes("[1 pods]"));
      terminal.stdin.write("4");
      await waitFor("the node", () => seen.includes("[4 node]") && seen.includes("pressure"));
      const press = async (key: string, what: string, shown: string): Promise<void> => {
        const before = seen.length;
        terminal.stdin.write(key);
        await waitFor(what, () => seen.slice(before).includes(shown));
      };
      await press("\t", "the pods again", "> default/crasher-test-node");
      await press("\r", "the timeline", "So far");
      await press("r", "the answer to a retry", "default/crasher-test-node: backoffs are reset");
      await press("l", "the log", "[log of main]");
      await waitFor("a line of the log", () => seen.includes("crasher says hello"));
      await press("\u001b", "the pods once more", "> default/crasher-test-node");
      terminal.stdin.write("q");
      expect(await ended).toEqual([0, null]);
      // The screen from before comes back.
      expect(seen.endsWith("\u001b[?1049l")).toBe(true);
    },
  );
});

function hasScript(): boolean {
  return spawnSync("script", ["--version"]).stdout?.includes("util-linux") === true;
}

describe("a daemon without --live-view", () => {
  it("shows it on its local socket alone", async () => {
    const node = await startLocalNode();
    try {
      const answer = await fetch(`${node.daemon.readOnlyUrl}${LIVE_PATHS.stream}`);
      expect(answer.status).toBe(404);
      const top = [BUILT_MAIN, "top", "--once", `--server=${node.daemon.readOnlyUrl}`];
      expect(spawnSync(process.execPath, top, { encoding: "utf8" }).stderr).toContain(
        "has no live view: start the node with --live-view",
      );
      expect(await node.run(["top", "--once"])).toMatchObject({ out: "No pods.\n", code: 0 });
    } finally {
      await node.close();
    }
  });
});
