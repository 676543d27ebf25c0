/**
 * Finds what a private Docker needs on this machine, and says loudly what is missing. RXLET_E2E=required turns "cannot
 * run here" from a skip into a failure.
 */
import { dirname } from "node:path";
import { describe, it } from "vitest";
import { findProgram } from "./findProgram.ts";
import { mustSkip } from "./mustSkip.ts";

export interface DockerInstallation {
  readonly dockerd: string;
  readonly containerd: string;
  /** Directory of the shim, before PATH. */
  readonly programFolder: string;
}

/** The installation, or the reasons why there is none. */
export type DockerSearch =
  | { readonly found: true; readonly installation: DockerInstallation }
  | { readonly found: false; readonly missing: readonly string[] };

/** Looks, and changes nothing. */
export function findDocker(): DockerSearch {
  const missing: string[] = [];
  if (process.platform !== "linux") missing.push("Linux");
  if (process.getuid?.() !== 0) missing.push("root");
  const program = (name: string, debianPackage: string): string => {
    const file = findProgram(name);
    if (file === undefined) missing.push(`${name} (Debian: ${debianPackage})`);
    return file ?? "";
  };
  const dockerd = program("dockerd", "docker.io");
  const containerd = program("containerd", "containerd");
  program("containerd-shim-runc-v2", "containerd");
  program("runc", "runc");
  program("busybox", "busybox-static");
  program("ip", "iproute2");
  if (missing.length > 0) return { found: false, missing };
  return { found: true, installation: { dockerd, containerd, programFolder: dirname(containerd) } };
}

/** `describe` for suites on a real Docker. Where it cannot run, the reason is printed and the suite skipped. */
export function describeOnDocker(title: string, suite: (installation: DockerInstallation) => void): void {
  const search = findDocker();
  if (search.found) {
    describe(title, () => suite(search.installation));
    return;
  }
  describe.skipIf(mustSkip(title, search.missing))(title, () => {
    it("can run on this machine", () => {
      throw new Error(`missing: ${search.missing.join(", ")}`);
    });
  });
}
