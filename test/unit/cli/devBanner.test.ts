import { expect, it } from "vitest";
import { bannerBlock, bannerLines, type DevBanner, startingLine } from "../../../src/cli/devBanner.ts";

const BANNER: DevBanner = {
  program: "npx node src/main.ts",
  manifests: "/pods",
  isEmpty: false,
  kubeconfig: "/run/user/1/rxlet/pods-1/kubeconfig",
  readOnly: "http://127.0.0.1:10255",
  portInUse: undefined,
  twinPid: undefined,
  log: "/tmp/rxlet.log",
};

it("names the commands and addresses that work, with a pod that exists", () => {
  expect(bannerLines(BANNER, "web-laptop")).toEqual([
    "Manifests  /pods  (edit, add or remove files: pods follow)",
    "Live view  http://127.0.0.1:10255/live/",
    "Logs       npx node src/main.ts logs web-laptop -f",
    "Commands   get pods, exec, attach, port-forward, explain, retry, volumes, pressure: the same way",
    "kubectl    export KUBECONFIG=/run/user/1/rxlet/pods-1/kubeconfig",
    "API        http://127.0.0.1:10255/pods",
    "Metrics    http://127.0.0.1:10255/metrics",
    "Log        /tmp/rxlet.log",
    "Ctrl-C     stops the pods and leaves nothing behind",
  ]);
});

it("says what to do with an empty directory", () => {
  expect(bannerLines({ ...BANNER, isEmpty: true }, undefined)[0]).toBe(
    "Manifests  /pods  (empty: add files, pods follow)",
  );
});

it("says why a port is another one", () => {
  const lines = bannerLines({ ...BANNER, readOnly: "http://127.0.0.1:42975", portInUse: 10255 }, undefined);
  expect(lines[1]).toBe("Live view  http://127.0.0.1:42975/live/  (port 10255 is in use)");
});

it("warns that another instance runs the same manifests", () => {
  expect(bannerLines({ ...BANNER, twinPid: 4711 }, undefined)[1]).toBe(
    "Warning    process 4711 is an rxlet dev of the same manifests: each pod runs twice",
  );
});

it("leaves out addresses of a server that is off", () => {
  const lines = bannerLines({ ...BANNER, readOnly: undefined }, undefined);
  expect(lines.map((line) => line.split(" ")[0])).toEqual([
    "Manifests",
    "Logs",
    "Commands",
    "kubectl",
    "Log",
    "Ctrl-C",
  ]);
});

it("names no command before there is a server to ask", () => {
  const lines = bannerLines({ ...BANNER, kubeconfig: undefined }, undefined);
  expect(lines.map((line) => line.split(" ")[0])).toEqual(["Manifests", "Live", "API", "Metrics", "Log", "Ctrl-C"]);
});

it("keeps the lines that a small screen needs most", () => {
  const lines = bannerLines(BANNER, "web-laptop");
  const labels = (rows: number): readonly string[] =>
    bannerBlock(lines, 100, rows).map((line) => line.split(" ")[0] ?? "");
  expect(labels(9)).toEqual(["Manifests", "Live", "Logs", "Commands", "kubectl", "API", "Metrics", "Log", "Ctrl-C"]);
  expect(labels(8)).toEqual(["Manifests", "Live", "Logs", "Commands", "kubectl", "API", "Log", "Ctrl-C"]);
  expect(labels(4)).toEqual(["Manifests", "Live", "Logs", "kubectl"]);
  expect(labels(1)).toEqual(["Manifests"]);
  expect(labels(0)).toEqual(["Manifests"]);
});

it.each([
  ["/pods", "Starting a node for the pods of /pods..."],
  [undefined, "Starting a node for the pods of the examples..."],
])("begins with the manifests of %s", (dir, line) => {
  expect(startingLine(dir)).toBe(line);
});
