import { describe, expect, it } from "vitest";
import * as paths from "../../../src/core/paths.ts";

const roots = { rootDir: "/var/lib/kubelet", podLogsDir: "/var/log/pods" };
const pod = { namespace: "demo", name: "web", uid: "u1" };

describe("paths", () => {
  it.each([
    [paths.podsDir(roots), "/var/lib/kubelet/pods"],
    [paths.podDir(roots, "u1"), "/var/lib/kubelet/pods/u1"],
    [paths.podVolumesDir(roots, "u1"), "/var/lib/kubelet/pods/u1/volumes"],
    [
      paths.podVolumeDir(roots, "u1", paths.escapePluginName("kubernetes.io/empty-dir"), "data"),
      "/var/lib/kubelet/pods/u1/volumes/kubernetes.io~empty-dir/data",
    ],
    [paths.podVolumeSubpathsDir(roots, "u1"), "/var/lib/kubelet/pods/u1/volume-subpaths"],
    [paths.podPluginsDir(roots, "u1"), "/var/lib/kubelet/pods/u1/plugins"],
    [paths.podContainerDir(roots, "u1", "web"), "/var/lib/kubelet/pods/u1/containers/web"],
    [paths.terminationLogPath(roots, "u1", "web", "0a1b2c3d"), "/var/lib/kubelet/pods/u1/containers/web/0a1b2c3d"],
    [paths.etcHostsPath(roots, "u1"), "/var/lib/kubelet/pods/u1/etc-hosts"],
    [paths.seccompProfilesDir(roots), "/var/lib/kubelet/seccomp"],
    [paths.podLogDir(roots, pod), "/var/log/pods/demo_web_u1"],
    [paths.containerLogPath(roots, pod, "web", 3), "/var/log/pods/demo_web_u1/web/3.log"],
  ])("is where upstream has it: %s", (path, expected) => {
    expect(path).toBe(expected);
  });

  it.each([
    ["/var/log/pods/demo_web_u1/main/3.log", true],
    ["/other/link/demo_web_u1/main/0.log", true],
    ["demo_web_u1/main/3.log", false],
    ["/var/log/pods/../demo_web_u1/main/3.log", false],
    ["/var/log/pods/demo_web_u2/main/3.log", false],
    ["/var/log/pods/demo_web_u1/other/3.log", false],
    ["/var/log/pods/demo_web_u1/main/.log", false],
    ["/var/log/pods/demo_web_u1/main", false],
    ["/", false],
    ["", false],
  ])("knows a log of a container: %s is %s", (path, expected) => {
    expect(paths.isContainerLog(path, pod, "main")).toBe(expected);
  });

  it("names a log link after pod, namespace, container and id", () => {
    const link = { podName: "web", namespace: "demo", container: "main", containerId: "abc" };
    expect(paths.containerLogLinkPath("/var/log/containers", link)).toBe("/var/log/containers/web_demo_main-abc.log");
  });

  it("cuts the name of a log link to 255 characters, suffix kept", () => {
    const link = { podName: "p".repeat(253), namespace: "demo", container: "main", containerId: "abc" };
    const name = paths.containerLogLinkPath("/logs", link).slice("/logs/".length);
    expect(name).toBe(`${"p".repeat(251)}.log`);
  });

  it.each([
    ["demo_web_u1", pod],
    ["demo_web", undefined],
    ["demo_web_u1_x", undefined],
    ["_web_u1", undefined],
    ["", undefined],
  ])("reads a pod's identity from its log directory %j", (name, expected) => {
    expect(paths.parsePodLogDir(name)).toEqual(expected);
  });

  it.each([
    ["web_demo_main-0a1b2c.log", "0a1b2c"],
    ["web_demo_side-car-0a1b2c.log", "0a1b2c"],
    ["web_demo_main-0a1b2c.log.rxlet-42", "0a1b2c"],
    ["web_demo_main.log", undefined],
    ["syslog", undefined],
    ["web_demo_main-0a1b2c.log.1", undefined],
  ])("reads a container's id from the name of its log link %j", (name, id) => {
    expect(paths.parseContainerLogLink(name)).toBe(id);
  });

  it("tells a pod's log links from those of others", () => {
    const names = ["web_demo_main-0a.log", "web_demo2_main-0a.log", "web-2_demo_main-0a.log", "web"];
    expect(names.filter((name) => paths.isLogLinkOf(pod, name))).toEqual(["web_demo_main-0a.log"]);
  });
});
