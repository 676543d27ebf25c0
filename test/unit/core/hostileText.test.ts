import { describe, it } from "vitest";
import { pairIn } from "../../../src/core/cert/pemFile.ts";
import { pemContents } from "../../../src/core/cert/pemBlocks.ts";
import { servingTemplate } from "../../../src/core/cert/servingTemplate.ts";
import { formatRuntimeVersion } from "../../../src/core/node/runtimeVersion.ts";
import { podCgroupName } from "../../../src/core/resources/podCgroup.ts";
import { parseInterfaces, parseMeminfo } from "../../../src/core/stats/procText.ts";
import { safeText } from "../../../src/core/telemetry/plainValue.ts";
import { trimmedEnd } from "../../../src/core/trimmedEnd.ts";
import { parseManifest } from "../../../src/sources/parseManifest.ts";
import { expectLinear } from "../../support/expectLinear.ts";
import { podOf } from "../../support/pods.ts";

const times = (text: string) => (size: number) => text.repeat(Math.ceil(size / text.length));

/** Work that takes the square of its input when a regular expression begins again at every character. */
const READERS: readonly (readonly [string, (size: number) => string, (text: string) => unknown])[] = [
  ["certificates that begin and never end", times("-----BEGIN A-----\n"), pemContents],
  ["certificates that begin and end as others", times("-----BEGIN A-----\n-----END B-----\n"), pemContents],
  ["pairs that begin and never end", times("-----BEGIN CERTIFICATE-----\n"), pairIn],
  ["slashes before the end of a cgroup", (size) => `${"/".repeat(size)}x`, rootCgroup],
  ["zeros before the end", (size) => `${"0".repeat(size)}x`, (text) => trimmedEnd(text, "0")],
  ["colons of an address of the node", (size) => `${":".repeat(size)}x`, addressed],
  ["numbers of a version", (size) => `${"1.".repeat(size / 2)}x`, formatRuntimeVersion],
  ["columns of an interface", (size) => `eth0: ${"1".repeat(size)}x`, parseInterfaces],
  ["lines without a figure", times(" kB\r"), parseMeminfo],
];

function rootCgroup(cgroupRoot: string): string {
  return podCgroupName(podOf(), { cgroupRoot, cgroupsPerQos: true });
}

function addressed(address: string): unknown {
  return servingTemplate("node", [{ type: "Hostname", address }], true);
}

describe("text from elsewhere is read in linear time", () => {
  it.each(READERS)("%s", (_what, textOf, read) => expectLinear(textOf, read));

  it("schemes of a URL in a log line", () => {
    const lines = 10;
    expectLinear(times("a+"), (text) => Array.from({ length: lines }, () => safeText(text)), 8192);
  });

  it("brackets in the path of a problem", () => {
    const [document] = parseManifest(new TextEncoder().encode("a: 1")).documents;
    expectLinear(times("["), (path) => document?.lineOf(path));
  });
});
