import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createNodeLogs } from "../../../src/sources/nodeLogs.ts";
import { testAppOptions, testKubeletApp } from "../../support/kubeletApp.ts";

/** Knows one service, and prints what it was asked; its complaints are part of the answer. */
const JOURNALCTL = `#!/bin/sh
if [ "$1" = --field ] && [ -n "$ENDLESS" ]; then echo kubelet.service; exec yes transient.scope; fi
if [ "$1" = --field ]; then echo crond.service; echo kubelet.service; exit; fi
echo "asked: $*"
case "$*" in *--boot*) echo "no such boot" >&2; exit 1;; esac
`;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rxlet-logs-"));
  const logs = join(folder, "log");
  await mkdir(join(logs, "pods", "a b"), { recursive: true });
  await writeFile(join(folder, "secret"), "secret\n");
  await writeFile(join(logs, "syslog"), "a line\n");
  await writeFile(join(logs, "<x>:&.log"), "odd\n");
  await writeFile(join(logs, "pods", "a b", "0.log"), "of a pod\n");
  await symlink("pods/a b/0.log", join(logs, "inside"));
  await symlink("../secret", join(logs, "outside"));
  await symlink("/", join(logs, "root"));
  execFileSync("mkfifo", [join(logs, "fifo")]);
  await mkdir(join(folder, "bin"));
  await writeFile(join(folder, "bin", "journalctl"), JOURNALCTL, { mode: 0o755 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function get(path: string, enableSystemLogQuery = false) {
  const { handlers } = testAppOptions().options;
  const nodeLogs = createNodeLogs(join(folder, "log"));
  const { app } = testKubeletApp({ nodeLogs, handlers: { ...handlers, enableSystemLogQuery } });
  const response = await app.request(path, {}, { incoming: { socket: {} } });
  return [response.status, await response.text()];
}

const HEAD = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n';

describe("/logs/", () => {
  it("lists a directory", async () => {
    expect(await get("/logs/")).toEqual([
      200,
      `${HEAD}<pre>\n<a href="%3Cx%3E%3A%26.log">&lt;x&gt;:&amp;.log</a>\n<a href="fifo">fifo</a>\n<a href="inside">inside</a>\n` +
        '<a href="outside">outside</a>\n<a href="pods/">pods/</a>\n<a href="root">root</a>\n<a href="syslog">syslog</a>\n</pre>\n',
    ]);
    expect(await get("/logs/pods/")).toEqual([200, `${HEAD}<pre>\n<a href="a%20b/">a b/</a>\n</pre>\n`]);
  });

  it.each([
    ["/logs/syslog", "a line\n"],
    ["/logs/pods/a%20b/0.log", "of a pod\n"],
    ["/logs/inside", "of a pod\n"],
    ["/logs/%3Cx%3E%3A%26.log", "odd\n"],
  ])("%s is a file", async (path, text) => {
    expect(await get(path)).toEqual([200, text]);
  });

  it.each([
    ["/logs/pods", "pods/"],
    ["/logs/pods/a%20b", "a%20b/"],
    ["/logs/syslog/", "../syslog"],
  ])("%s is found at %s", async (path, location) => {
    const { app } = testKubeletApp({ nodeLogs: createNodeLogs(join(folder, "log")) });
    const { status, headers } = await app.request(path, {}, { incoming: { socket: {} } });
    expect([status, headers.get("location")]).toEqual([301, location]);
  });

  it("sends the modification time of a file", async () => {
    const { app } = testKubeletApp({ nodeLogs: createNodeLogs(join(folder, "log")) });
    for (const path of ["/logs/", "/logs/syslog"]) {
      const { headers } = await app.request(path, {}, { incoming: { socket: {} } });
      expect(headers.get("last-modified")).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
    }
  });

  it.each([
    "/logs/nothing",
    "/logs/outside",
    "/logs/root",
    "/logs/root/etc/passwd",
    "/logs/..%2fsecret",
    "/logs/%2e%2e/secret",
    "/logs/..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/logs/%252e%252e/secret",
    "/logs/fifo",
    "/logs/a%00b",
    "/logs/%ff",
  ])("answers 404 for %s", async (path) => {
    const [status, text] = await get(path);
    expect([status, String(text).includes("secret"), String(text).includes("root:")]).toEqual([404, false, false]);
  });

  describe("with a journal", () => {
    beforeEach(() => vi.stubEnv("PATH", `${join(folder, "bin")}:${process.env["PATH"]}`));
    afterEach(() => vi.unstubAllEnvs());
    const plain = "asked: --utc --no-pager --output=short-precise";

    it.each([
      ["query=kubelet", `${plain} --unit=kubelet\n`],
      [
        "query=kubelet&query=crond&tailLines=2&pattern=oh%20no&sinceTime=2026-01-02T03:04:05Z",
        `${plain} --since=2026-1-2 03:04:05 --pager-end --lines=2 --unit=kubelet --unit=crond --grep=oh no --case-sensitive=false\n`,
      ],
      ["query=kubelet&query=syslog", `${plain} --unit=kubelet\na line\n`],
      ["query=kubelet&query=other", `${plain} --unit=kubelet\n\nlog not found for other\n`],
      ["query=kubelet&boot=-1", `${plain} --unit=kubelet --boot -1\nno such boot\n`],
    ])("%s is answered from the journal, and from files for services without it", async (query, text) => {
      expect(await get(`/logs/?${query}`, true)).toEqual([200, text]);
    });

    it("reads no more than a MiB of unit names", async () => {
      vi.stubEnv("ENDLESS", "yes");
      expect(await get("/logs/?query=kubelet", true)).toEqual([200, `${plain} --unit=kubelet\n`]);
    });

    it.each([
      "query=kubelet%24(id)",
      "query=--help%20",
      "query=kubelet&pattern=a%00b",
      "query=kubelet&tailLines=100001",
    ])("%s is not passed to the journal", async (query) => {
      expect((await get(`/logs/?${query}`, true))[0]).toBe(406);
    });
  });

  it("answers queries only if they are enabled", async () => {
    expect(await get("/logs/?query=/syslog", true)).toEqual([200, "a line\n"]);
    expect((await get("/logs/?query=/syslog"))[1]).toContain("<pre>");
    expect(await get("/logs/?query=/../secret", true)).toEqual([404, "404 page not found\n"]);
    expect(await get("/logs/?query=syslog", true)).toEqual([200, "a line\n"]);
    expect(await get("/logs/?query=missing", true)).toEqual([200, "\nlog not found for missing\n"]);
    expect(await get("/logs/?query=syslog&tailLines=1", true)).toEqual([
      200,
      "\noptions present and query resolved to log files for [syslog]\ntry without specifying options\n",
    ]);
    expect(await get("/logs/?query=a&boot=2", true)).toEqual([406, "boot: Invalid value: 2: must be less than 1\n"]);
  });
});
