import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../src/core/api.ts";
import {
  dottedSysctl,
  forbiddenSysctl,
  safeSysctls,
  sysctlAllowlist,
  sysctlPatternFault,
} from "../../../../src/core/pod/sysctls.ts";
import { podOf } from "../../../support/pods.ts";

describe("dottedSysctl", () => {
  it.each([
    ["net.ipv4.conf.eno2/100.rp_filter", "net.ipv4.conf.eno2/100.rp_filter"],
    ["net/ipv4/conf/eno2.100/rp_filter", "net.ipv4.conf.eno2/100.rp_filter"],
    ["kernel/shm_rmid_forced", "kernel.shm_rmid_forced"],
    ["net", "net"],
    ["", ""],
  ])("%s is %s", (name, dotted) => {
    expect(dottedSysctl(name)).toBe(dotted);
  });
});

describe("safeSysctls", () => {
  const ALWAYS = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
  ];
  const SINCE_4_5 = ["net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes"];

  it.each<[string, string, readonly string[]]>([
    ["linux", "", ALWAYS],
    ["linux", "3.15.99", ALWAYS],
    ["linux", "3.16", [...ALWAYS, "net.ipv4.ip_local_reserved_ports"]],
    [
      "linux",
      "4.5.0-1-amd64",
      [...ALWAYS, "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", ...SINCE_4_5],
    ],
    [
      "linux",
      "v4.14",
      [
        ...ALWAYS,
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        ...SINCE_4_5,
      ],
    ],
    [
      "linux",
      "6.1.0-13-amd64",
      [
        ...ALWAYS,
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        ...SINCE_4_5,
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_wmem",
      ],
    ],
    ["darwin", "23.1.0", []],
  ])("on %s %s", (system, kernel, names) => {
    expect(safeSysctls(system, kernel)).toEqual(names);
  });
});

describe("sysctlPatternFault", () => {
  it.each(["kernel.sem", "kernel.shm*", "kernel.msgmax", "fs.mqueue.*", "net.*", "net/ipv4/tcp_rmem", "net.core.s*"])(
    "takes %s",
    (pattern) => {
      expect(sysctlPatternFault(pattern)).toBeUndefined();
    },
  );

  it.each(["*", "kernel.*", "kernel.sem*x", "vm.swappiness", "fs.mqueue"])("rejects %s", (pattern) => {
    expect(sysctlPatternFault(pattern)).toMatch(
      pattern === "kernel.sem*x" ? /^must be a sysctl name/ : /^must be a sysctl known to be namespaced, got "/,
    );
  });

  it.each(["", "Net.ipv4", "net..x", "net.*.x", `net.${"a".repeat(250)}`])("rejects the malformed %j", (pattern) => {
    expect(sysctlPatternFault(pattern)).toMatch(/^must be a sysctl name of at most 253 characters/);
  });
});

describe("forbiddenSysctl", () => {
  const allowed = sysctlAllowlist(["kernel.shm_rmid_forced", "net/ipv4/tcp_syncookies", "net.core.*", "kernel.sem*"]);
  const asking = (name: string, spec: Partial<PodSpec> = {}) =>
    forbiddenSysctl(podOf({ spec: { ...spec, securityContext: { sysctls: [{ name, value: "1" }] } } }), allowed);

  it.each<[string, Partial<PodSpec>, string | undefined]>([
    ["kernel.shm_rmid_forced", {}, undefined],
    ["kernel/shm_rmid_forced", {}, undefined],
    ["net.ipv4.tcp_syncookies", {}, undefined],
    ["net.core.somaxconn", {}, undefined],
    ["kernel.sem_next_id", {}, undefined],
    ["kernel.shm_rmid_forced", { hostNetwork: true }, undefined],
    ["net.core.somaxconn", { hostIPC: true }, undefined],
    ["kernel.msgmax", {}, 'forbidden sysctl: "kernel.msgmax" not allowlisted'],
    ["vm/swappiness", {}, 'forbidden sysctl: "vm.swappiness" not allowlisted'],
    [
      "kernel.sem_next_id",
      { hostIPC: true },
      'forbidden sysctl: "kernel.sem_next_id" not allowed with host ipc enabled',
    ],
    [
      "net.core.somaxconn",
      { hostNetwork: true },
      'forbidden sysctl: "net.core.somaxconn" not allowed with host net enabled',
    ],
  ])("%s with %j", (name, spec, expected) => {
    expect(asking(name, spec)).toBe(expected);
  });

  it("names the first of several", () => {
    const sysctls = ["net.core.a", "kernel.x", "kernel.y"].map((name) => ({ name, value: "1" }));
    expect(forbiddenSysctl(podOf({ spec: { securityContext: { sysctls } } }), allowed)).toBe(
      'forbidden sysctl: "kernel.x" not allowlisted',
    );
  });

  it("accepts a pod without sysctls", () => {
    expect(forbiddenSysctl(podOf(), allowed)).toBeUndefined();
  });
});
