/** kubectl against a running `rxlet dev`, with the kubeconfig that its banner names. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KUBECTL } from "../support/kubectl.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { waitFor } from "../support/waitFor.ts";
import { createDevUser, type DevNode, type DevUser } from "./devNode.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const HOST = { image: "rxlet.dev/host" };
const TITLE = "kubectl against rxlet dev";
const MISSING = KUBECTL === undefined ? ["kubectl"] : [];
const TICKS = "n=0; while :; do echo tick $n; n=$((n+1)); sleep 0.2; done";

describe.skipIf(mustSkip(TITLE, MISSING))(TITLE, () => {
  let user: DevUser;
  let dev: DevNode;

  beforeAll(async () => {
    user = await createDevUser();
    dev = await user.start("pods", {
      "web.json": manifest("web", {
        containers: [script("main", UNTIL_TERM, { ...HOST, env: [{ name: "GREETING", value: "hello" }] })],
      }),
      "ticker.json": manifest("ticker", { containers: [script("main", TICKS, HOST)] }),
    });
    for (const name of ["web", "ticker"]) await dev.until(name, "Running", ({ status }) => status?.phase === "Running");
  });
  afterAll(() => user.close());

  /** Output of a command so far. */
  const listening = (child: ChildProcess): (() => string) => {
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part: Buffer) => (said += String(part)));
    return () => said;
  };
  const ended = async (child: ChildProcess): Promise<void> => {
    const exit = once(child, "exit");
    child.kill();
    await exit;
  };

  it("shows pods as a table, and the node", async () => {
    const { out } = await dev.kubectl(["get", "pods", "-A"]);
    expect(out.split("\n").map((line) => line.replaceAll(/ +/g, " "))).toEqual([
      "NAMESPACE NAME READY STATUS RESTARTS AGE",
      expect.stringMatching(/^default ticker-laptop 1\/1 Running 0 \d+s$/),
      expect.stringMatching(/^default web-laptop 1\/1 Running 0 \d+s$/),
      "",
    ]);
    const wide = await dev.kubectl(["get", "pod", "web-laptop", "-o", "wide", "--no-headers"]);
    expect(wide.out).toMatch(/^web-laptop +1\/1 +Running +0 +\w+ +127\.\d+\.\d+\.\d+ +laptop +<none> +<none>\n$/);
    expect((await dev.kubectl(["get", "nodes", "--no-headers"])).out).toMatch(/^laptop +Ready +<none> +\S+ +v1\.36\./);
  });

  it("watches a pod come and go", async () => {
    const watch = dev.spawnKubectl(["get", "pods", "--watch", "--no-headers"]);
    const said = listening(watch);
    await waitFor("the list before the watch", () => said().includes("web-laptop"));
    await dev.put("late.json", manifest("late", { containers: [script("main", UNTIL_TERM, HOST)] }));
    await waitFor("the watch to show it running", () => /late-laptop +1\/1 +Running/.test(said()));
    await rm(join(dev.manifests, "late.json"));
    await waitFor("the watch to show it going", () => /late-laptop +\S+ +Terminating/.test(said()));
    await ended(watch);
  });

  it("shows the usage of the node and of pods", async () => {
    expect((await dev.kubectl(["top", "node", "--no-headers"])).out).toMatch(/^laptop +\d+m +\d+% +\d+Mi +\d+%/);
    const { out } = await dev.kubectl(["top", "pod", "--containers", "--no-headers"]);
    expect(out).toMatch(/^(default +)?ticker-laptop +main +\d+m +\d+Mi *$/m);
  });

  it("waits for conditions", async () => {
    const { out, code } = await dev.kubectl(["wait", "--for=condition=Ready", "pod/web-laptop", "--timeout=20s"]);
    expect([out, code]).toEqual(["pod/web-laptop condition met\n", 0]);
  });

  it("follows a log", async () => {
    const logs = dev.spawnKubectl(["logs", "-f", "ticker-laptop", "--tail=1"]);
    const said = listening(logs);
    await waitFor("three lines", () => said().split("\n").length > 3);
    await ended(logs);
    expect(said()).toMatch(/^tick \d+\n/);
  });

  it.each(["true", "false"])("execs, with WebSockets: %s", async (webSockets) => {
    process.env["KUBECTL_REMOTE_COMMAND_WEBSOCKETS"] = webSockets;
    try {
      const command = ["sh", "-c", "read x; echo $GREETING $x; echo err >&2; exit 3"];
      expect(await dev.kubectl(["exec", "-i", "web-laptop", "--", ...command], "you\n")).toEqual({
        out: "hello you\n",
        err: "err\ncommand terminated with exit code 3\n",
        code: 3,
      });
    } finally {
      delete process.env["KUBECTL_REMOTE_COMMAND_WEBSOCKETS"];
    }
  });

  it("attaches", async () => {
    const attach = dev.spawnKubectl(["attach", "ticker-laptop"]);
    const said = listening(attach);
    await waitFor("output", () => /tick \d+\n/.test(said()));
    await ended(attach);
  });

  it("forwards a port", async () => {
    const http = createServer((request, answer) => answer.end(`hello ${request.url}`));
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as AddressInfo;
    const forward = dev.spawnKubectl(["port-forward", "web-laptop", `:${port}`]);
    const said = listening(forward);
    const local = await waitFor("kubectl to listen", () => /127\.0\.0\.1:(\d+)/.exec(said())?.[1]);
    expect(await (await fetch(`http://127.0.0.1:${local}/there`)).text()).toBe("hello /there");
    await ended(forward);
    http.close();
    http.closeAllConnections();
  });

  it("describes a pod with its events", async () => {
    const { out } = await dev.kubectl(["describe", "pod", "web-laptop"]);
    expect(out).toMatch(/^Name: +web-laptop$/m);
    expect(out).toMatch(/^ +Normal +Started +\S+.* kubelet +Container started$/m);
    const events = await dev.kubectl(["get", "events", "--field-selector=reason=Started", "--no-headers"]);
    expect(events.out).toMatch(/Normal +Started +pod\/web-laptop +Container started/);
  });

  it.each([
    ["delete", ["delete", "pod", "web-laptop"]],
    ["annotate", ["annotate", "pod", "web-laptop", "a=b"]],
    ["apply", ["apply", "-f", "web.json"]],
    ["create a deployment", ["create", "deployment", "x", "--image=y"]],
  ])("says where pods are changed instead: %s", async (_, args) => {
    const named = args.map((arg) => (arg === "web.json" ? join(dev.manifests, arg) : arg));
    const { err, code } = await dev.kubectl(named);
    expect([code, err.trim()]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`this node runs the manifests of ${dev.manifests}: add, edit or remove files there$`),
      ),
    ]);
  });

  it("ends watches and streams when it ends", async () => {
    const children = [
      ["get", "pods", "-w"],
      ["logs", "-f", "ticker-laptop"],
      ["attach", "ticker-laptop"],
    ].map((args) => dev.spawnKubectl(args));
    const texts = children.map(listening);
    await waitFor("all of them to say something", () => texts.every((said) => said() !== ""));
    const exits = children.map((child) => once(child, "exit"));
    expect(await dev.stop()).toBe(0);
    await Promise.all(exits);
    expect(await user.leftovers()).toEqual([]);
  });
});
