/** The local socket of a daemon: who may use it, and the commands on it. */
import { type ChildProcess, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { chmod, readdir, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { findProgram } from "../support/findProgram.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { waitFor } from "../support/waitFor.ts";
import { asUser, HOST, type LocalNode, startLocalNode } from "./localNode.ts";
import { finished } from "./devNode.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const isRunning = ({ status }: Pod) => status?.phase === "Running";
/** Numbers without an entry in the databases of the machine. */
const [GROUP, MEMBER, STRANGER] = [54_321, 54_322, 54_323];

const TITLE = "the local socket";
const isRoot = process.getuid?.() === 0;
/** Members of the group reach the socket through the temporary directory. */
const isOpen = (statSync(tmpdir()).mode & 0o001) !== 0;
const MISSING = [
  ...(isRoot ? [] : ["root"]),
  ...(isOpen ? [] : ["a temporary directory that other users may enter"]),
  ...(findProgram("setpriv") === undefined ? ["setpriv"] : []),
];

describe.skipIf(mustSkip(TITLE, MISSING))(TITLE, () => {
  let node: LocalNode;

  beforeAll(async () => {
    node = await startLocalNode(GROUP);
    await node.daemon.put(
      "web.json",
      manifest("web", { containers: [script("main", `echo up; ${UNTIL_TERM}`, HOST)] }),
    );
    const talk = script("main", "while :; do echo tick; sleep 0.2; done", HOST);
    await node.daemon.put("talker.json", manifest("talker", { containers: [talk] }));
    for (const name of ["web", "talker"]) await node.daemon.until(name, isRunning, "Running");
    await waitFor("the socket", () => stat(node.socket));
  });
  afterAll(() => node.close());

  it("belongs to root and the group, with its directory", async () => {
    const [socket, directory, proofs] = await Promise.all(
      [node.socket, join(node.socket, ".."), join(node.socket, "../peers")].map((path) => stat(path)),
    );
    expect([socket, directory, proofs].map((facts) => [facts?.uid, facts?.gid, (facts?.mode ?? 0) & 0o7777])).toEqual([
      [0, GROUP, 0o660],
      [0, GROUP, 0o750],
      [0, GROUP, 0o1730],
    ]);
  });

  it("lets root and members of the group in, and leaves no proof behind", async () => {
    for (const user of [undefined, { uid: MEMBER, groups: [GROUP] }]) {
      const { out, err, code } = await node.run(["get", "pods"], "", user);
      expect([out.split("\n")[2]?.replaceAll(/ +/g, " "), err, code]).toEqual([
        expect.stringMatching(/^web-test-node 1\/1 Running 0 \d+/),
        "",
        0,
      ]);
    }
    expect(await readdir(join(node.socket, "../peers"))).toEqual([]);
  });

  it("keeps others out, at the directory and at the socket itself", async () => {
    const stranger = { uid: STRANGER };
    const refused = `rxlet: this user may not use ${node.socket}: only root and the group of the socket may\n`;
    expect(await node.run(["get", "pods"], "", stranger)).toEqual({ out: "", err: refused, code: 1 });
    const connect = `require("node:net").connect(${JSON.stringify(node.socket)}).on("error", ({ code }) => console.log(code)).on("connect", () => console.log("in"))`;
    const words = [...asUser(stranger), process.execPath, "-e", connect];
    const attempt = async () => (await finished(spawn(words[0] ?? "", words.slice(1)))).out;
    expect(await attempt()).toBe("EACCES\n");
    // The socket does not rely on its directory.
    await chmod(join(node.socket, ".."), 0o755);
    expect(await attempt()).toBe("EACCES\n");
    expect((await node.run(["get", "pods"], "", stranger)).err).toBe(refused);
    await chmod(join(node.socket, ".."), 0o750);
  });

  it("refuses requests without a session, and proofs of another user", async () => {
    const ask = async (method: string, path: string, headers = {}) => {
      const asked = request({ socketPath: node.socket, method, path, headers: { "content-length": "0", ...headers } });
      asked.end();
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      return { status: answer.statusCode, said: await text(answer) };
    };
    expect((await ask("GET", "/pods")).status).toBe(401);
    expect((await ask("GET", "/pods", { authorization: `Bearer ${"0".repeat(64)}` })).status).toBe(401);
    const session = "/rxlet/v1/session";
    const challenge = async () => (JSON.parse((await ask("POST", session)).said) as { challenge: string }).challenge;
    const first = await challenge();
    expect(await ask("POST", `${session}?challenge=${first}`)).toEqual({
      status: 403,
      said: "this user may not use the local socket: the client has created no file\n",
    });
    // The group may create files here, so a member can connect; a file of a stranger proves a stranger.
    const second = await challenge();
    const proof = join(node.socket, "../peers", second);
    await writeFile(proof, second);
    const owned = spawn("chown", [`${STRANGER}:${STRANGER}`, proof]);
    await once(owned, "exit");
    expect(await ask("POST", `${session}?challenge=${second}`)).toEqual({
      status: 403,
      said: `this user may not use the local socket: user ${STRANGER} does not belong to group ${GROUP}\n`,
    });
    const third = await challenge();
    await writeFile(join(node.socket, "../peers", third), "something else");
    expect((await ask("POST", `${session}?challenge=${third}`)).said).toContain("it does not hold the challenge");
  });

  it("serves the commands", async () => {
    expect(await node.run(["logs", "web-test-node"])).toEqual({ out: "up\n", err: "", code: 0 });
    expect(
      await node.run(["exec", "-i", "web-test-node", "--", "sh", "-c", "read x; echo $x; exit 4"], "in\n"),
    ).toEqual({ out: "in\n", err: "command terminated with exit code 4\n", code: 4 });
    expect((await node.run(["explain", "web-test-node"])).out).toMatch(/^default\/web-test-node {2}Running/);
    expect((await node.run(["retry", "web-test-node"])).out).toBe("default/web-test-node: backoffs are reset\n");
  });

  it("forwards ports and attaches", async () => {
    const http = createServer((_request, answer) => answer.end("hello"));
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as AddressInfo;
    const said = (child: ChildProcess): (() => string) => {
      let output = "";
      for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part: Buffer) => (output += String(part)));
      return () => output;
    };
    const interrupted = async (child: ChildProcess): Promise<unknown> => {
      const exit = once(child, "exit");
      child.kill("SIGINT");
      return (await exit)[0];
    };
    const forward = node.spawn(["port-forward", "web-test-node", `:${port}`]);
    const forwarded = said(forward);
    const local = await waitFor("it to listen", () => /from 127\.0\.0\.1:(\d+) -> /.exec(forwarded())?.[1]);
    expect(await (await fetch(`http://127.0.0.1:${local}/`, { headers: { connection: "close" } })).text()).toBe(
      "hello",
    );
    expect(await interrupted(forward)).toBe(0);
    http.close();
    http.closeAllConnections();
    const attach = node.spawn(["attach", "talker-test-node"]);
    const attached = said(attach);
    await waitFor("output", () => attached().includes("tick"));
    expect(await interrupted(attach)).toBe(130);
  });

  it("is served again after the daemon was killed", async () => {
    await node.daemon.kill("SIGKILL");
    const { err, code } = await node.run(["get", "pods"]);
    expect([err, code]).toEqual([expect.stringContaining(`no rxlet answers at ${node.socket}`), 1]);
    await node.daemon.restart();
    await waitFor("the socket", async () => (await node.run(["get", "pods"])).code === 0);
  });
});
