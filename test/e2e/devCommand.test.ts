/** `rxlet dev` as a newcomer runs it: the examples on the embedded runtime, in a pipe, without root. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import type { TimelineView } from "../../src/core/timeline/timelineView.ts";
import { kill } from "../support/kernelState.ts";
import { scriptAt } from "../support/networkNamespace.ts";
import { waitFor } from "../support/waitFor.ts";
import { freePort } from "../support/ports.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const EXAMPLES = fileURLToPath(new URL("../../examples/first-pods", import.meta.url));
/** The examples take some seconds by themselves, and a crash loop is one only from the second crash on. */
const WAIT_MS = 30_000;
/** A guest of the machine runs none of these. */
const MACHINE_PROGRAMS = ["iptables", "ip6tables", "nft", "ip", "setpriv"];

describe("rxlet dev", () => {
  let folder: string;
  let child: ChildProcess;
  let output: string;
  let url: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-e2e-dev-"));
    await cp(EXAMPLES, join(folder, "pods"), { recursive: true });
    await mkdir(join(folder, "tmp"));
    await mkdir(join(folder, "bin"));
    for (const program of MACHINE_PROGRAMS)
      scriptAt(join(folder, "bin", program), `echo ${program} >>${folder}/called`);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    output = "";
    const args = [MAIN, "dev", join(folder, "pods"), "--node-name", "laptop", "--read-only-port", String(port)];
    child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, TMPDIR: join(folder, "tmp"), PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}` },
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (text: Buffer) => (output += text.toString()));
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") process.stderr.write(output);
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill("SIGINT");
      await ended;
    }
    for (const { pid } of await processesMentioning(folder)) kill(pid);
    expect(await readFile(join(folder, "called"), "utf8").catch(() => "none"), "programs that change the machine").toBe(
      "none",
    );
    await rm(folder, { recursive: true, force: true });
  });

  const pods = async (): Promise<readonly Pod[]> =>
    ((await (await fetch(`${url}/pods`)).json()) as { readonly items: readonly Pod[] }).items;
  const until = (name: string, what: string, wanted: (pod: Pod) => boolean): Promise<Pod> =>
    waitFor(
      `${name} to be ${what}`,
      async () => (await pods()).find((pod) => pod.metadata.name === `${name}-laptop` && wanted(pod)),
      WAIT_MS,
    );
  /** The newest line about a pod. */
  const line = (name: string): string =>
    output
      .split("\n")
      .filter((text) => text.includes(` ${name}-laptop `))
      .at(-1) ?? "";

  it("runs the examples, follows an edit, and leaves nothing behind after Ctrl-C", async () => {
    await until("app", "Running", ({ status }) => status?.phase === "Running");
    await until("job", "Completed", ({ status }) => status?.phase === "Succeeded");
    await until(
      "crasher",
      "in CrashLoopBackOff",
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CrashLoopBackOff",
    );
    const web = await until("web", "Running", ({ status }) => status?.phase === "Running");
    const { podIP } = web.status ?? {};
    await waitFor(
      "the table to say so",
      () => line("web").includes("Running") && line("crasher").includes("CrashLoopBackOff"),
    );
    expect(line("web")).toMatch(new RegExp(`^\\S+Z  web-laptop +1/1 +Running +0 restarts +${podIP}$`));
    expect(line("job")).toMatch(/0\/1 +Completed/);
    expect(output).toContain(`${url}/pods`);
    expect(output).toContain(`${url}/metrics`);
    expect(output).toContain(join(folder, "pods"));
    // In a pipe nothing is redrawn.
    expect(output.includes("\u001b")).toBe(false);
    expect(await (await fetch(`http://${podIP}:8080/hello`)).text()).toBe(
      "hello from web-laptop, you asked for /hello\n",
    );

    const manifest = join(folder, "pods", "web.yaml");
    await writeFile(manifest, (await readFile(manifest, "utf8")).replace("hello from", "greetings from"));
    await until(
      "web",
      "replaced",
      ({ metadata, status }) => metadata.uid !== web.metadata.uid && status?.phase === "Running",
    );
    const answer = await waitFor("the new web server to answer", async () => {
      const { status } = (await pods()).find(({ metadata }) => metadata.name === "web-laptop") ?? {};
      return (await fetch(`http://${status?.podIP}:8080/`)).text();
    });
    expect(answer).toBe("greetings from web-laptop, you asked for /\n");

    const ended = once(child, "exit");
    child.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
    expect(output).toContain("Stopping pods");
    expect(await readdir(join(folder, "tmp"))).toEqual([]);
    expect(await processesMentioning(folder)).toEqual([]);
  });

  it.skipIf(process.platform !== "linux")("has sixteen threads for files and names", async () => {
    await until("web", "Running", ({ status }) => status?.phase === "Running");
    const tasks = `/proc/${child.pid}/task`;
    const names = await Promise.all((await readdir(tasks)).map((id) => readFile(`${tasks}/${id}/comm`, "utf8")));
    expect(names.filter((name) => name === "libuv-worker\n")).toHaveLength(16);
  });

  it("explains a crash loop, and retries at once when the manifest asks for it", async () => {
    const crashing = (pod: Pod): boolean =>
      pod.status?.containerStatuses?.[0]?.state?.waiting?.reason === "CrashLoopBackOff";
    const before = await until("crasher", "in CrashLoopBackOff", (pod) => {
      return crashing(pod) && (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) >= 2;
    });
    const port = new URL(url).port;
    const text = await explain("crasher-laptop", "--port", port);
    expect(text.code).toBe(0);
    expect(text.out).toMatch(/^default\/crasher-laptop {2}Running, syncing since /);
    expect(text.out).toMatch(/\n {2}\w+: CrashLoopBackOff for \S+; next try at \S+Z, in \S+\n/);
    expect(text.out).toMatch(/\n {2}\S+Z +\S+s {2}RunPodSandbox\n/);
    const json = await explain("crasher-laptop", "--server", url, "-o", "json");
    const view = JSON.parse(json.out) as TimelineView;
    expect([view.pod.uid, view.waits[0]?.what]).toEqual([before.metadata.uid, "CrashLoopBackOff"]);

    const manifest = join(folder, "pods", "crasher.yaml");
    const asked = (await readFile(manifest, "utf8")).replace(
      /^( *)metadata:\n/m,
      "$1metadata:\n$1  annotations: { rxlet.dev/retry-at: now }\n",
    );
    await writeFile(manifest, asked);
    const restarts = (pod: Pod): number => pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
    const retried = await until("crasher", "restarted", (pod) => restarts(pod) > restarts(before));
    expect(retried.metadata.uid).toBe(before.metadata.uid);
    const after = JSON.parse((await explain("crasher-laptop", "--server", url, "-o", "json")).out) as TimelineView;
    expect(after.entries.filter(({ what }) => what === "RetryNow")).toHaveLength(1);
  });

  it("says which pod may have been meant, and when nobody answers", async () => {
    await until("web", "Running", ({ status }) => status?.phase === "Running");
    expect(await explain("web", "--server", url)).toEqual({
      code: 1,
      out: "",
      err: 'rxlet: no pod "default/web" on this node; did you mean default/web-laptop?\n',
    });
    const nobody = await explain("web", "--port", String(await freePort()));
    expect([nobody.code, nobody.err]).toEqual([
      1,
      expect.stringMatching(/^rxlet: no rxlet answers at http:\S+ \(.*readOnlyPort/),
    ]);
  });

  it("leaves nothing behind when it is interrupted while it starts", async () => {
    await waitFor("its directory to be there", async () => (await readdir(join(folder, "tmp"))).length > 0);
    const ended = once(child, "exit");
    child.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
    expect(await readdir(join(folder, "tmp"))).toEqual([]);
    expect(await processesMentioning(folder)).toEqual([]);
  });
});

it("rxlet dev says what is wrong with a directory that is not there, and ends", async () => {
  const wrong = spawn(process.execPath, [MAIN, "dev", "/nowhere/at/all"], { stdio: ["ignore", "ignore", "pipe"] });
  let reported = "";
  wrong.stderr.on("data", (text: Buffer) => (reported += text.toString()));
  expect(await once(wrong, "close")).toEqual([1, null]);
  expect(reported).toBe("rxlet: /nowhere/at/all: there is no such file or directory\n");
});

/** Runs `rxlet explain` to its end. */
async function explain(...args: readonly string[]) {
  const asked = spawn(process.execPath, [MAIN, "explain", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  asked.stdout.on("data", (text: Buffer) => (out += text.toString()));
  asked.stderr.on("data", (text: Buffer) => (err += text.toString()));
  const [code] = await once(asked, "close");
  return { code: code as number, out, err };
}

/** Command lines that name the directory, or run in an environment that does. */
async function processesMentioning(
  folder: string,
): Promise<readonly { readonly pid: number; readonly command: string }[]> {
  const found: { readonly pid: number; readonly command: string }[] = [];
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const [command, environment] = await Promise.all(
      ["cmdline", "environ"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
    );
    if (`${command}${environment}`.includes(folder))
      found.push({ pid: Number(pid), command: `${command}`.replaceAll("\0", " ") });
  }
  return found;
}
