/** A running `rxlet dev` serves other commands of the same user. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { waitFor } from "../support/waitFor.ts";
import { createDevUser, type DevNode, type DevUser, finished } from "./devNode.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const HOST = { image: "rxlet.dev/host" };
const isRunning = ({ status }: Pod): boolean => status?.phase === "Running";
const isBackingOff = ({ status }: Pod): boolean =>
  status?.containerStatuses?.[0]?.state?.waiting?.reason === "CrashLoopBackOff";
const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;

const UNREAD = "rxlet: nobody reads the output any more: stopping the pods, for 5s at most\n";
const STUBBORN = "trap '' TERM; while :; do sleep 1; done";

it("starts twice at the same moment, the second one on another port", async () => {
  const user = await createDevUser();
  try {
    const outputs = await Promise.all(
      ["left", "right"].map(async (name) => {
        const directory = join(user.folder, name);
        await mkdir(directory);
        const child = user.spawn(["dev", directory]);
        let output = "";
        for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += String(text)));
        await waitFor(`the API of ${name}`, () => {
          if (child.exitCode !== null) throw new Error(output);
          return output.includes("API  ") && output.includes("KUBECONFIG=");
        });
        return output;
      }),
    );
    const ports = outputs.map((output) => /^API +http:\/\/127\.0\.0\.1:(\d+)\/pods/m.exec(output)?.[1] ?? "");
    expect(new Set(ports).size).toBe(2);
    for (const [index, port] of ports.entries()) {
      expect(outputs[index]?.includes(`:${port}/live/  (port 10255 is in use)`)).toBe(port !== "10255");
    }
  } finally {
    await user.close();
  }
});

describe("rxlet dev and the commands beside it", () => {
  let user: DevUser;
  let shop: DevNode;
  let blog: DevNode;

  beforeAll(async () => {
    user = await createDevUser();
    shop = await user.start("shop", {
      "web.json": manifest("web", { containers: [script("main", UNTIL_TERM, HOST)] }),
      "crasher.json": manifest("crasher", { containers: [script("main", "exit 3", HOST)] }),
    });
    await shop.until("web", "Running", isRunning);
  });
  afterAll(() => user.close());

  it("finds the one that runs", async () => {
    const pressure = await user.run(["pressure"]);
    expect([pressure.out.split("\n")[2], pressure.code]).toEqual(["No eviction threshold is set.", 0]);
    expect(pressure.out).toMatch(/^Kept: \d+ images?, up to [\d.]+.*$/m);
    const { out, err, code } = await user.run(["explain", "web-laptop"]);
    expect([out, err, code]).toEqual([expect.stringMatching(/^default\/web-laptop {2}Running/), "", 0]);
  });

  it("retries", async () => {
    const before = await shop.until("crasher", "in CrashLoopBackOff", isBackingOff);
    expect(await user.run(["retry", "crasher-laptop"])).toEqual({
      out: "default/crasher-laptop: backoffs are reset\n",
      err: "",
      code: 0,
    });
    await shop.until("crasher", "restarted", (pod) => restartsOf(pod) > restartsOf(before));
  });

  it("keeps its keys from other users, and answers nobody without one", async () => {
    const { mode } = await stat(shop.kubeconfig);
    expect(mode & 0o077).toBe(0);
    const record = await readFile(join(dirname(shop.kubeconfig), "dev.json"), "utf8");
    const { server } = JSON.parse(record) as { readonly server: string };
    const ca = await readFile(join(dirname(shop.kubeconfig), "ca.crt"));
    const status = await new Promise((resolve, reject) => {
      request(`${server}/pods`, { ca, agent: false }, ({ statusCode }) => resolve(statusCode))
        .on("error", reject)
        .end();
    });
    expect(status).toBe(401);
  });

  it("warns that another instance runs the same manifests", async () => {
    const twin = user.spawn(["dev", shop.manifests, "--node-name", "laptop", "--read-only-port", "0"]);
    let output = "";
    twin.stdout?.on("data", (text: Buffer) => (output += String(text)));
    const text = `process ${shop.child.pid} is an rxlet dev of the same manifests: each pod runs twice`;
    await waitFor("the warning", () => output.includes(text), 30_000);
    const ended = once(twin, "exit");
    twin.kill("SIGINT");
    await ended;
  });

  it("ends when nobody reads its output any more, though it has nothing to write", async () => {
    expect(await unread("empty", "head -1", {})).toEqual({
      out: expect.stringMatching(/^Starting a node .*\n$/),
      err: UNREAD,
      code: 0,
    });
  });

  it("does not wait half a minute for pods when nobody reads its output any more", async () => {
    const stubborn = { terminationGracePeriodSeconds: 3600, containers: [script("main", STUBBORN, HOST)] };
    const run = unread("stubborn", "grep -m1 ' Running '", { "stubborn.json": manifest("stubborn", stubborn) });
    expect(await run).toEqual({ out: expect.stringContaining(" Running "), err: UNREAD, code: 0 });
  });

  /** Runs `rxlet dev` on a new directory until this program has read enough and dev has ended too. */
  async function unread(name: string, reader: string, manifests: Readonly<Record<string, unknown>>) {
    const directory = join(user.folder, name);
    await mkdir(directory);
    for (const [file, text] of Object.entries(manifests)) await writeFile(join(directory, file), JSON.stringify(text));
    const args = [...user.main, "dev", directory, "--read-only-port", "0"];
    const shell = spawn("sh", ["-c", `"$@" | ${reader}`, "sh", process.execPath, ...args], {
      env: { ...user.env, TMPDIR: user.folder },
      stdio: ["pipe", "pipe", "pipe"],
    });
    return finished(shell);
  }

  describe("with a second one", () => {
    beforeAll(async () => {
      blog = await user.start("blog", {
        "page.json": manifest("page", { containers: [script("main", UNTIL_TERM, HOST)] }),
      });
      await blog.until("page", "Running", isRunning);
    });

    it("lists both where none is meant, and takes the one of --dev or the nearest directory", async () => {
      const unclear = await user.run(["explain", "page-laptop"]);
      expect([unclear.code, unclear.err.split("\n").slice(0, 3)]).toEqual([
        1,
        [
          "rxlet: you have several rxlet dev running; choose one with --dev DIR or its KUBECONFIG:",
          expect.stringContaining(`  ${blog.manifests}  (pid `),
          expect.stringContaining(`  ${shop.manifests}  (pid `),
        ],
      ]);
      const chosen = await user.run(["explain", "page-laptop", "--dev", blog.manifests]);
      const near = await user.run(["explain", "page-laptop"], "", blog.manifests);
      expect([chosen.code, near.code]).toEqual([0, 0]);
    });

    it("leaves nothing behind, and the other one alone", async () => {
      expect(await blog.stop()).toBe(0);
      expect((await user.run(["explain", "web-laptop"])).code).toBe(0);
      expect(await shop.stop()).toBe(0);
      expect(await user.leftovers()).toEqual([]);
      const { err, code } = await user.run(["retry", "web-laptop", "--server="]);
      expect([err, code]).toEqual([
        expect.stringMatching(/^rxlet: you have no rxlet dev running, and no rxlet answers at/),
        1,
      ]);
    });
  });
});
