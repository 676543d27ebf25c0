import { describe, expect, it } from "vitest";
import { takeOver } from "../../../../../src/core/pod/manifest/takeOver.ts";
import { podYaml, problemLines, readText } from "../../../../support/manifests.ts";

const head = "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata}\n";
const kata = { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name: "kata" }, handler: "kata-fc" };

describe("a RuntimeClass of a manifest", () => {
  it.each<[string, string, readonly object[]]>([
    ["alone", `${head}handler: kata-fc\n`, [kata]],
    [
      "with overhead, beside a pod",
      `${podYaml("p")}---\n${head}handler: kata-fc\noverhead: {podFixed: {memory: 120Mi, cpu: 0.25}}\n`,
      [{ ...kata, overhead: { podFixed: { memory: "120Mi", cpu: "250m" } } }],
    ],
    [
      "as item of a List",
      `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, handler: kata-fc}\n`,
      [kata],
    ],
    [
      "as item of a list of its kind",
      "apiVersion: node.k8s.io/v1\nkind: RuntimeClassList\nitems:\n- {metadata: {name: kata}, handler: kata-fc}\n",
      [{ kind: "RuntimeClass", metadata: { name: "kata" }, handler: "kata-fc" }],
    ],
  ])("%s", (_title, text, expected) => {
    expect([readText(text).objects, problemLines(readText(text))]).toEqual([expected, []]);
  });

  it.each([
    [
      "another API version",
      "apiVersion: v1\nkind: RuntimeClass\nmetadata: {name: kata}\nhandler: kata\n",
      ['1 apiVersion: Unsupported value: "v1": supported values: "node.k8s.io/v1"'],
    ],
    [
      "a namespace",
      "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata, namespace: prod}\nhandler: kata\n",
      ["3 metadata.namespace: Forbidden: not allowed on this type"],
    ],
    [
      "a handler that is no name",
      `${head}handler: Kata\n`,
      [
        "4 handler: Invalid value: \"Kata\": a lowercase RFC 1123 label holds lower case letters, digits and '-', and starts and ends with a letter or digit",
      ],
    ],
    [
      "an overhead below nothing",
      `${head}handler: kata\noverhead:\n  podFixed:\n    memory: -1\n`,
      ['7 overhead.podFixed[memory]: Invalid value: "-1": must be greater than or equal to 0'],
    ],
  ])("rejects %s", (_title, text, problems) => {
    expect([readText(text).objects, problemLines(readText(text))]).toEqual([[], problems]);
  });

  it("has an immutable handler; its overhead may change", () => {
    const nothing = { pods: [], objects: [] };
    const first = takeOver(nothing, readText(`${head}handler: kata-fc\n`), "/m/a.yaml");
    const other = takeOver(first, readText(`${head}handler: runsc\n`), "/m/a.yaml");
    expect([other.objects, problemLines(other)]).toEqual([
      [kata],
      ['handler: RuntimeClass kata: Invalid value: "runsc": field is immutable'],
    ]);
    const heavier = readText(`${head}handler: kata-fc\noverhead: {podFixed: {cpu: 1}}\n`);
    expect(takeOver(first, heavier, "/m/a.yaml")).toEqual({
      pods: [],
      lines: new Map([["RuntimeClass kata", [3]]]),
      objects: [{ ...kata, overhead: { podFixed: { cpu: "1" } } }],
      problems: [],
    });
  });

  it("is an unknown kind with an API server", () => {
    expect(problemLines(readText(`${head}handler: kata\n`, { standalone: false }))[0]).toContain("Unsupported value");
  });
});
