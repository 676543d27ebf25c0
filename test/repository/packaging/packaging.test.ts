import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { documentErrors, readConfigDocument } from "../../../src/cli/configDocument.ts";
import { findProgram } from "../../support/findProgram.ts";
import { mustSkip } from "../../support/mustSkip.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const packaged = (name: string): string => readFileSync(new URL(`../../../packaging/${name}`, import.meta.url), "utf8");

describe("packaging", () => {
  it("has a configuration without faults", () => {
    expect(documentErrors(readConfigDocument("config.yaml", packaged("config.yaml"), "whole"))).toEqual([]);
  });

  it("has a CNI network list with a bridge and port mapping", () => {
    const list = JSON.parse(packaged("10-rxlet.conflist")) as {
      readonly plugins: readonly { readonly type: string }[];
    };
    expect(list.plugins.map(({ type }) => type)).toEqual(["bridge", "portmap"]);
  });

  it("has a unit that restarts the agent alone, leaves containers running and bounds the heaps of malloc", () => {
    const lines = packaged("rxlet.service").split("\n");
    const wanted = [
      "Restart=always",
      "KillMode=process",
      "Environment=MALLOC_ARENA_MAX=2",
      "Environment=MALLOC_MMAP_THRESHOLD_=32768",
      "Environment=MALLOC_TRIM_THRESHOLD_=131072",
      "ExecStart=/usr/local/bin/rxlet --config=/etc/rxlet/config.yaml",
    ];
    expect(wanted.filter((line) => !lines.includes(line))).toEqual([]);
  });

  it("has a unit that waits for the end of the start and restarts an agent that stalls, without a core of its memory", () => {
    const lines = packaged("rxlet.service").split("\n");
    const wanted = ["Type=notify", "NotifyAccess=main", "WatchdogSec=60", "WatchdogSignal=SIGKILL"];
    expect(wanted.filter((line) => !lines.includes(line))).toEqual([]);
  });

  it("starts the agent with every file and variable of kubeadm", () => {
    const [before, command = ""] = packaged("10-kubeadm.conf").split("\nExecStart=\n");
    expect(command).toBe(
      "ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS\n",
    );
    expect(before?.match(/^Environment.*$/gm)).toEqual([
      'Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"',
      'Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"',
      "EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env",
      "EnvironmentFile=-/etc/default/kubelet",
    ]);
  });
});

const ANALYZE = "systemd-analyze";
const TITLE = "units as systemd reads them";

describe.skipIf(mustSkip(TITLE, findProgram(ANALYZE) === undefined ? [ANALYZE] : []))(TITLE, () => {
  const dir = temporaryDirectory();
  /** Writes units whose commands exist on this machine; returns what systemd says of one of them. */
  const faults = (unit: string, files: Readonly<Record<string, string>>): string => {
    for (const [name, text] of Object.entries(files)) {
      const file = join(dir(), name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text.replace(/^ExecStart=\/\S+/gm, "ExecStart=/bin/true"));
    }
    return execFileSync(
      "/bin/sh",
      ["-c", `${ANALYZE} verify --man=no "$1" 2>&1 || echo "exit status $?"`, "sh", join(dir(), unit)],
      {
        encoding: "utf8",
        timeout: 30_000,
      },
    );
  };

  it("has no faults, alone and with the drop-in for kubeadm", () => {
    const text = packaged("rxlet.service");
    const dropIn = { "kubelet.service.d/10-kubeadm.conf": packaged("10-kubeadm.conf") };
    expect([
      faults("rxlet.service", { "rxlet.service": text }),
      faults("kubelet.service", { "kubelet.service": text, ...dropIn }),
    ]).toEqual(["", ""]);
  });

  it("reports a fault that is put in", () => {
    const text = packaged("rxlet.service").replace("WatchdogSec=", "WatchdogSecs=");
    expect(faults("rxlet.service", { "rxlet.service": text })).toContain("WatchdogSecs");
  });
});
