import { describe, expect, it } from "vitest";
import { chooseDev } from "../../../../src/core/dev/chooseDev.ts";
import { devDirectoryName, type DevInstance, parseDevRecord } from "../../../../src/core/dev/devInstance.ts";

const at = (manifests: string, pid = 1): DevInstance => ({
  pid,
  manifests,
  server: "https://127.0.0.1:4000",
  startedAt: "2026-01-01T00:00:00Z",
  directory: `/run/rxlet/${pid}`,
});
const [shop, blog] = [at("/src/shop/pods", 1), at("/src/blog/pods", 2)];
const NOWHERE = { dir: undefined, kubeconfig: "", cwd: "/" };

describe("chooseDev", () => {
  it.each([
    ["none of none", [], NOWHERE, undefined],
    ["the only one", [shop], NOWHERE, shop],
    ["the only one, wherever it is", [shop], { ...NOWHERE, cwd: "/src/blog" }, shop],
    ["the directory asked for", [shop, blog], { ...NOWHERE, dir: "/src/blog/pods" }, blog],
    [
      "the directory asked for, whatever else says",
      [shop, blog],
      { dir: "/src/blog/pods", kubeconfig: "/run/rxlet/1/kubeconfig", cwd: "/src/shop" },
      blog,
    ],
    [
      "the one whose kubeconfig is in use",
      [shop, blog],
      { ...NOWHERE, kubeconfig: "/home/me/.kube/config:/run/rxlet/2/kubeconfig" },
      blog,
    ],
    ["the one whose manifests are below the current directory", [shop, blog], { ...NOWHERE, cwd: "/src/shop" }, shop],
    [
      "the one whose manifests are above the current directory",
      [shop, blog],
      { ...NOWHERE, cwd: "/src/blog/pods/web" },
      blog,
    ],
    ["the nearest of two above each other", [at("/", 3), shop], { ...NOWHERE, cwd: "/src/shop" }, shop],
  ])("chooses %s", (_, running, choice, expected) => {
    expect(chooseDev(running, choice)).toEqual({ ok: true, value: expected });
  });

  it.each([
    [
      "several that fit as well",
      [shop, blog],
      { ...NOWHERE, cwd: "/src" },
      "you have several rxlet dev running; choose one with --dev DIR or its KUBECONFIG:\n  /src/shop/pods  (pid 1)\n  /src/blog/pods  (pid 2)",
    ],
    [
      "names that only begin alike",
      [at("/src/pods", 1), at("/src/pods2", 2)],
      { ...NOWHERE, cwd: "/src/pods3" },
      "you have several rxlet dev running; choose one with --dev DIR or its KUBECONFIG:\n  /src/pods  (pid 1)\n  /src/pods2  (pid 2)",
    ],
    [
      "two that run the same directory",
      [shop, at("/src/shop/pods", 5)],
      { ...NOWHERE, dir: "/src/shop/pods" },
      "you have several rxlet dev running; choose one with --dev DIR or its KUBECONFIG:\n  /src/shop/pods  (pid 1)\n  /src/shop/pods  (pid 5)",
    ],
    [
      "a directory nothing runs",
      [shop],
      { ...NOWHERE, dir: "/x" },
      "you have no rxlet dev running on /x; running:\n  /src/shop/pods  (pid 1)",
    ],
    ["a directory when nothing runs at all", [], { ...NOWHERE, dir: "/x" }, "you have no rxlet dev running on /x"],
  ])("rejects %s", (_, running, choice, message) => {
    expect(chooseDev(running, choice)).toEqual({ ok: false, error: expect.objectContaining({ message }) });
  });
});

describe("parseDevRecord", () => {
  const record = { pid: 7, manifests: "/m", server: "https://127.0.0.1:4000", startedAt: "2026-01-01T00:00:00Z" };

  it("parses a written record", () => {
    expect(parseDevRecord(JSON.stringify(record))).toEqual(record);
    expect(parseDevRecord(JSON.stringify({ ...record, pid: 1 }))?.pid).toBe(1);
  });

  it.each([
    ["no JSON", "{"],
    ["no object", "null"],
    ["no process", JSON.stringify({ ...record, pid: 0 })],
    ["a process that is no number", JSON.stringify({ ...record, pid: "1" })],
    ["a fraction of a process", JSON.stringify({ ...record, pid: 1.5 })],
    ["no start", JSON.stringify({ ...record, startedAt: undefined })],
    ["a server without a port", JSON.stringify({ ...record, server: "https://127.0.0.1:" })],
    ["a server with a path", JSON.stringify({ ...record, server: "https://127.0.0.1:4000/x" })],
    ["no manifests", JSON.stringify({ ...record, manifests: undefined })],
    ["a server elsewhere", JSON.stringify({ ...record, server: "https://10.0.0.1:4000" })],
    ["a server without TLS", JSON.stringify({ ...record, server: "http://127.0.0.1:4000" })],
  ])("rejects %s", (_, text) => {
    expect(parseDevRecord(text)).toBeUndefined();
  });
});

it.each([
  ["/src/first-pods", "first-pods-01234567"],
  ["/", "root-01234567"],
  ["/src/my pods\n", "my_pods_-01234567"],
])("builds the directory name of %j", (manifests, name) => {
  expect(devDirectoryName(manifests, "0123456789abcdef")).toBe(name);
});
