/** Files of the Debian package that are made from tables and from other files. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { documentErrors, readConfigDocument } from "../../../src/cli/configDocument.ts";
import { SUB_COMMANDS } from "../../../src/cli/commandTable.ts";
import { KUBELET_FLAGS } from "../../../src/cli/flags.ts";
import { bashCompletion, fishCompletion, zshCompletion } from "../../../scripts/debian/completions.ts";
import {
  architectureOf,
  conffilesFile,
  controlFile,
  md5sumsFile,
  newestRelease,
} from "../../../scripts/debian/controlFiles.ts";
import { manPage, roff } from "../../../scripts/debian/manPage.ts";
import { packagedConfig, packagedUnit, replaced } from "../../../scripts/debian/packagedFiles.ts";

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const RELEASE = { version: "1.2.3", maintainer: "Somebody <somebody@example.com>", dateMs: 0 };
const file = (path: string, content: string) => ({ path, content: Buffer.from(content), isExecutable: false });
const FILES = [file("/etc/a", "x".repeat(1_025)), file("/usr/b", "b"), file("/usr/empty", "")];

describe("the control files", () => {
  it("have version, maintainer and date of the newest entry of the changelog, and the version of the program", () => {
    const entry = (version: string, date: string) =>
      `rxlet (${version}) unstable; urgency=medium\n\n  * Change.\n\n -- ${RELEASE.maintainer}  ${date}\n`;
    const date = "Thu, 01 Jan 1970 00:00:00 +0000";
    const older = entry("1.2.2", "Thu, 01 Jan 1969 00:00:00 +0000");
    expect(newestRelease(`${entry("1.2.3", date)}\n${older}`)).toEqual(RELEASE);
    const { version } = JSON.parse(read("package.json")) as { readonly version: string };
    expect(newestRelease(read("packaging/debian/changelog")).version).toBe(version);
    expect(() => newestRelease("other (1) unstable\n")).toThrow("changelog: the first line must be `rxlet (VERSION)");
    expect(() => newestRelease(entry("1", "yesterday"))).toThrow("changelog: the last line of an entry must be");
  });

  it("name sizes, configuration files and digests", () => {
    expect(controlFile(RELEASE, "amd64", FILES)).toMatch(
      /^Package: rxlet\nVersion: 1\.2\.3\nArchitecture: amd64\nMaintainer: Somebody <somebody@example\.com>\nInstalled-Size: 3\nDepends: libc6 /,
    );
    expect(
      controlFile(RELEASE, "amd64", FILES)
        .split("\n")
        .filter((line) => line.length > 80),
    ).toEqual([expect.stringMatching(/^Depends: /), expect.stringMatching(/^Recommends: /)]);
    expect(conffilesFile(FILES)).toBe("/etc/a\n");
    expect(md5sumsFile(FILES)).toBe(
      "92eb5ffee6ae2fec3ad71c777531578f  usr/b\nd41d8cd98f00b204e9800998ecf8427e  usr/empty\n",
    );
  });

  it("exist for architectures that Node is released for", () => {
    expect([architectureOf("x64"), architectureOf("arm64")]).toEqual(["amd64", "arm64"]);
    expect(() => architectureOf("mips")).toThrow("no Debian architecture is known for mips");
  });
});

describe("files with the paths of the package", () => {
  it("are the unit, with arguments from /etc/default, and the configuration, without faults", () => {
    expect(packagedUnit(read("packaging/rxlet.service"))).toContain(
      "EnvironmentFile=-/etc/default/rxlet\nExecStart=/usr/bin/rxlet --config=/etc/rxlet/config.yaml $RXLET_ARGS\n",
    );
    const config = packagedConfig(read("packaging/config.yaml"));
    expect(documentErrors(readConfigDocument("config.yaml", config, "whole"))).toEqual([]);
  });

  it("fail to be made when the part to replace is not there once", () => {
    expect(replaced("a b", "a", "$&")).toBe("$& b");
    expect(() => replaced("a a", "a", "b")).toThrow('packaging: must contain "a" once');
    expect(() => replaced("", "a", "b")).toThrow('packaging: must contain "a" once');
  });
});

describe("the man page", () => {
  it("prints each character of a text, and none as a request", () => {
    expect(roff(".a\n'b `c` \\d ^e ~f --g")).toBe("\\&.a\n\\(aqb \\(gac\\(ga \\ed \\(hae \\(tif \\-\\-g");
  });

  it("is the same for the same facts, and has no control characters or long unbroken lines of roff", () => {
    const page = manPage({ version: "1.2.3", dateMs: 0 });
    expect(page).toBe(manPage({ version: "1.2.3", dateMs: 0 }));
    expect(page).toMatch(/^\.TH RXLET 8 "1970-01-01" "rxlet 1\.2\.3" /);
    expect(page.split("\n").filter((line) => /[^\n\x20-\x7e]/.test(line))).toEqual([]);
  });
});

describe.each([
  ["bash", bashCompletion(), (name: string) => `--${name}`],
  ["fish", fishCompletion(), (name: string) => ` -l ${name} `],
  ["zsh", zshCompletion(), (name: string) => `'--${name}`],
])("the completion for %s", (_, text, shown) => {
  it("has every command and flag", () => {
    const flags = [...KUBELET_FLAGS, ...SUB_COMMANDS.flatMap((command) => command.flags)];
    const missing = flags.map(({ name }) => shown(name)).filter((flag) => !text.includes(flag));
    expect([missing, SUB_COMMANDS.filter(({ name }) => !text.includes(name))]).toEqual([[], []]);
  });
});
