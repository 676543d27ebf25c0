/**
 * Finds what a private containerd needs on this machine, and says loudly what is missing. RXLET_CONTAINERD names
 * another containerd binary; its shim, ctr and runc are looked for beside it first. RXLET_E2E=required turns
 * "cannot run here" from a skip into a failure.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { describe, it } from "vitest";
import { findProgram } from "./findProgram.ts";
import { mustSkip } from "./mustSkip.ts";

export interface ContainerdInstallation {
  readonly containerd: string;
  readonly ctr: string;
  readonly runc: string;
  /** Directories to search for the shim, before PATH. */
  readonly programFolder: string;
  /** Directory of the CNI plugins. */
  readonly cniFolder: string;
}

/** The installation, or the reasons why there is none. */
export type ContainerdSearch =
  | { readonly found: true; readonly installation: ContainerdInstallation }
  | { readonly found: false; readonly missing: readonly string[] };

const CNI_FOLDERS = ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"];
const CNI_PLUGINS = ["bridge", "host-local", "loopback"];

/** Looks, and changes nothing. */
export function findContainerd(): ContainerdSearch {
  const missing: string[] = [];
  if (process.platform !== "linux") missing.push("Linux");
  if (process.getuid?.() !== 0) missing.push("root");
  const named = process.env["RXLET_CONTAINERD"];
  const beside = named === undefined ? [] : [dirname(named)];
  const program = (name: string, debianPackage: string): string => {
    const file = findProgram(name, beside);
    if (file === undefined) missing.push(`${name} (Debian: ${debianPackage})`);
    return file ?? "";
  };
  const containerd = named ?? program("containerd", "containerd");
  if (named !== undefined && !existsSync(named)) missing.push(`RXLET_CONTAINERD=${named}`);
  program("containerd-shim-runc-v2", "containerd");
  program("busybox", "busybox-static");
  program("ip", "iproute2");
  const cniFolder = CNI_FOLDERS.find((folder) => CNI_PLUGINS.every((plugin) => existsSync(`${folder}/${plugin}`)));
  if (cniFolder === undefined) missing.push("CNI plugins (Debian: containernetworking-plugins)");
  const installation: ContainerdInstallation = {
    containerd,
    ctr: program("ctr", "containerd"),
    runc: program("runc", "runc"),
    programFolder: dirname(containerd),
    cniFolder: cniFolder ?? "",
  };
  return missing.length === 0 ? { found: true, installation } : { found: false, missing };
}

/** Whether the containerd there is of this version or a later one. */
export function isContainerdAtLeast({ containerd }: ContainerdInstallation, major: number, minor: number): boolean {
  const text = execFileSync(containerd, ["--version"], { encoding: "utf8" });
  const [, foundMajor = 0, foundMinor = 0] = (/ v?(\d+)\.(\d+)\./.exec(text) ?? []).map(Number);
  return foundMajor > major || (foundMajor === major && foundMinor >= minor);
}

/**
 * `describe` for suites on a real containerd. Where it cannot run, the reason is printed and the suite skipped, or
 * failed with RXLET_E2E=required. `alsoMissing` is what else it lacks.
 */
export function describeOnContainerd(
  title: string,
  suite: (installation: ContainerdInstallation) => void,
  alsoMissing: readonly string[] = [],
): void {
  const search = findContainerd();
  if (search.found && alsoMissing.length === 0) {
    describe(title, () => suite(search.installation));
    return;
  }
  const missing = [...(search.found ? [] : search.missing), ...alsoMissing];
  describe.skipIf(mustSkip(title, missing))(title, () => {
    it("can run on this machine", () => {
      throw new Error(`missing: ${missing.join(", ")}`);
    });
  });
}
