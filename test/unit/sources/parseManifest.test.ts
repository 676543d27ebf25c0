import { describe, expect, it } from "vitest";
import { parseManifest } from "../../../src/sources/parseManifest.ts";
import { bytesOf } from "../../support/manifests.ts";

const valuesOf = (text: string) => parseManifest(bytesOf(text)).documents.map((document) => document.value);
const faultsOf = (text: string) => parseManifest(bytesOf(text)).faults;

describe("YAML as upstream reads it", () => {
  it.each([
    ["octal", "0644", 420],
    ["hexadecimal", "0x1f", 31],
    ["underscores", "1_000", 1000],
    ["no octal digit", "08", 8],
    ["words for true", "yes", true],
    ["words for false", "off", false],
    ["null", "~", null],
    ["a date is text", "2026-01-01", "2026-01-01"],
    ["an instant is text", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
    ["base 60 is text", "1:30", "1:30"],
    ["an exponent", "1e3", 1000],
    ["an unknown tag counts for nothing", "!mine 1", "1"],
  ])("%s: %s", (_title, text, expected) => {
    expect([valuesOf(`a: ${text}\n`), faultsOf(`a: ${text}\n`)]).toEqual([[{ a: expected }], []]);
  });
  it("resolves aliases and merges", () => {
    expect(valuesOf("a: &x {k: v}\nb: {<<: *x, z: 1}\n")).toEqual([{ a: { k: "v" }, b: { k: "v", z: 1 } }]);
  });
  it("makes strings of keys", () => {
    expect(valuesOf("1: a\ntrue: b\n")).toEqual([{ "1": "a", true: "b" }]);
  });
  it("drops a byte order mark", () => {
    expect([valuesOf("\ufeffa: 1\n"), valuesOf('\ufeff{"a": 1}')]).toEqual([[{ a: 1 }], [{ a: 1 }]]);
  });
  it.each([
    ['{"a": 1,\n"b" 2}', 2, "Expected ':' after property name"],
    ['{"a": {\n"b": 2\n', 2, "the text ends too early"],
  ])("describes the fault of %j once, in the terms of JSON", (text, line, reason) => {
    expect(parseManifest(new TextEncoder().encode(text))).toEqual({
      documents: [],
      faults: [{ line, reason: `is not valid JSON: ${reason}` }],
    });
  });

  it("reads JSON, the last of two equal keys winning as upstream", () => {
    expect(valuesOf('{\n\t"a": 1, "a": 2}')).toEqual([{ a: 2 }]);
  });
});

describe("what cannot be read", () => {
  it("is a fault with its line", () => {
    expect(faultsOf("a: 1\nb: [\n")).toEqual([
      {
        line: 3,
        reason: "is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
      },
    ]);
  });
  it("does not keep the other documents from being read", () => {
    const text = "a: 1\n---\nb: b: c\n---\nd: 1\n";
    expect([valuesOf(text), faultsOf(text).map((fault) => fault.line)]).toEqual([[{ a: 1 }, { d: 1 }], [3]]);
  });
  it("refuses aliases that multiply", () => {
    const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(",")}]`);
    const text = ["l0: &l0 [x,x]", ...levels, ""].join("\n");
    expect([valuesOf(text), faultsOf(text)]).toEqual([
      [],
      [{ line: 6, reason: "its aliases stand for more than 100000 values" }],
    ]);
  });
  it("survives what is nested too deeply", () => {
    for (const open of ["[", "{a: ", "- "]) {
      const { documents, faults } = parseManifest(bytesOf(open.repeat(10_000)));
      expect([documents.length, faults.length > 0]).toEqual([0, true]);
    }
  });
  it("reads at most 1000 documents", () => {
    const { documents, faults } = parseManifest(bytesOf("a: 1\n---\n".repeat(1500)));
    expect([documents.length, faults]).toEqual([
      1000,
      [{ line: undefined, reason: "holds more than 1000 documents; the rest is not read" }],
    ]);
  });
});

describe("lineOf", () => {
  const text =
    "# c\nmetadata:\n  labels:\n    a.b/c: x\nspec:\n  containers:\n  - name: a\n    ports:\n    - containerPort: 1\n";
  const lineOf = (path: string) => parseManifest(bytesOf(text)).documents[0]?.lineOf(path);
  it.each([
    ["", 2],
    ["metadata.labels[a.b/c]", 4],
    ["spec", 5],
    ["spec.containers[0]", 7],
    ["spec.containers[0].ports[0].containerPort", 9],
    ["spec.containers[0].ports[0].hostPort", 9],
    ["spec.containers[1].name", 6],
    ["status.phase", 2],
  ])("%j is line %i", (path, line) => {
    expect(lineOf(path)).toBe(line);
  });

  it.each([
    ["", 2],
    ["metadata.labels[a.b/c]", 5],
    ["spec.containers[1].ports[0].containerPort", 11],
    ["spec.containers[1].ports[0].hostPort", 10],
    ["spec.containers[2].name", 7],
    ["status.phase", 2],
  ])("%j is line %i in JSON", (path, line) => {
    const json = [
      ...["", "{", '"metadata": {', '"labels": {', '"a.b/c": "x"', "}}, ", '"spec": {"containers": ['],
      ...['{"name": "a"},', '{"name": "b", "ports":', "[{", '"containerPort": 1', "}]}", "]}}"],
    ].join("\n");
    expect(parseManifest(bytesOf(json)).documents[0]?.lineOf(path)).toBe(line);
  });
});
