/** Configuration, kubeconfig and credential provider files that are long, deep or repeat themselves. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MAX_TEXT_BYTES, nodeConfigReaders } from "../../../src/cli/configReaders.ts";
import { loadCredentialProviders } from "../../../src/cli/loadCredentialProviders.ts";
import { loadKubeconfig } from "../../../src/cli/loadKubeconfig.ts";
import { MAX_DOCUMENT_CHARS, readYamlDocument } from "../../../src/cli/yamlDocument.ts";
import { MAX_JSON_DEPTH } from "../../../src/core/json.ts";
import { MAX_ALIASES } from "../../../src/core/yamlAliases.ts";
import { memoryReaders } from "./memoryReaders.ts";

const nested = (open: string, close: string, depth: number): string =>
  `${open.repeat(depth - 1)}{}${close.repeat(depth - 1)}`;
const errorsOf = (text: string) => readYamlDocument("f.yaml", text).syntaxErrors;

const TOO_DEEP = `is nested more than ${MAX_JSON_DEPTH} levels deep`;
const TOO_LONG = `holds more than ${MAX_DOCUMENT_CHARS} characters`;

const REFUSED: readonly (readonly [what: string, text: string, reason: string])[] = [
  ["JSON one level too deep", nested('{"a":', "}", MAX_JSON_DEPTH + 1), TOO_DEEP],
  ["lists of JSON without an end", "[".repeat(300_000), TOO_DEEP],
  ["a flow collection of YAML", `a: ${"[".repeat(300_000)}`, TOO_DEEP],
  ["lists in lists in one line", "- ".repeat(50_000), TOO_DEEP],
  ["one character too many", `a: ${"x".repeat(MAX_DOCUMENT_CHARS - 2)}`, TOO_LONG],
];

describe("a configuration file", () => {
  it.each(REFUSED)("is refused for %s", (_what, text, reason) => {
    expect(errorsOf(text)).toEqual([`f.yaml: ${reason}`]);
  });

  it("is refused for a map merged into another again and again, at its line", () => {
    const text = `a: &a {x: 1}\nb: {${"<<: *a, ".repeat(10_000)}}`;
    expect(errorsOf(text)).toEqual([`f.yaml:2: holds more than ${MAX_ALIASES} aliases`]);
  });

  it("is read at its bounds", () => {
    expect(errorsOf(nested('{"a":', "}", MAX_JSON_DEPTH / 10))).toEqual([]);
    expect(errorsOf(`a: ${"x".repeat(MAX_DOCUMENT_CHARS - 3)}`)).toEqual([]);
    expect(errorsOf(`a: &a 1\nb: [${"*a, ".repeat(MAX_ALIASES)}]`)).toEqual([]);
  });

  it("with 20,000 keys is read, and each of them is found", () => {
    const { wire, locate } = readYamlDocument(
      "f.yaml",
      Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`).join("\n"),
    );
    expect(Object.keys(wire as object)).toHaveLength(20_000);
    const lines = Array.from({ length: 20_000 }, (_, at) => locate([`k${at}`]).line);
    expect([lines.at(0), lines.at(-1)]).toEqual([1, 20_000]);
  });

  it("tells of the first 20 duplicate keys", () => {
    const errors = errorsOf(`${"a: 1\n".repeat(10_000)}b: {c: 1, "c": 2}\n`);
    expect([errors.length, errors[0]]).toEqual([20, 'f.yaml:2: duplicate key "a"']);
    expect(errorsOf('b: {c: 1, d: {e: 1}, "c": 2}\n')).toEqual(['f.yaml:1: duplicate key "c"']);
  });
});

describe("a file named in the error", () => {
  const deep = nested('{"a":', "}", 300_000);
  const readers = memoryReaders({ "/k": deep, "/p/a.json": deep, "/bin/x": "#!" });

  it("is a kubeconfig", async () => {
    expect(await loadKubeconfig("kubeconfig", "/k", readers)).toEqual({ ok: false, errors: [`/k: ${TOO_LONG}`] });
  });

  it("is one of the credential provider directory", async () => {
    const flags = { imageCredentialProviderConfig: "/p", imageCredentialProviderBinDir: "/bin" };
    const errors = [`/p/a.json: ${TOO_LONG}`];
    expect(await loadCredentialProviders(flags, readers, true)).toEqual({ ok: false, errors });
  });
});

describe("reading a file", () => {
  it("stops at its bound, also where there is no end", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rxlet-config-"));
    try {
      const file = join(folder, "file");
      await writeFile(file, "x".repeat(MAX_TEXT_BYTES));
      expect((await nodeConfigReaders.readText(file)).length).toBe(MAX_TEXT_BYTES);
      const why = `it is larger than ${MAX_TEXT_BYTES} bytes`;
      await expect(nodeConfigReaders.readText("/dev/zero")).rejects.toThrow(why);
      await expect(nodeConfigReaders.readText(join(folder, "none"))).rejects.toThrow("ENOENT");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
