import { describe, expect, it } from "vitest";
import { problemText } from "../../../../../src/core/pod/manifest/problemText.ts";
import { isDoubtful, takeOver } from "../../../../../src/core/pod/manifest/takeOver.ts";
import { podYaml, readText } from "../../../../support/manifests.ts";

const ORIGIN = "/manifests/pod.yaml";
const problemsAfter = (...texts: readonly string[]) => {
  let known: ReturnType<typeof takeOver> = { pods: [], objects: [], problems: [] };
  for (const text of texts) known = takeOver(known, readText(text), ORIGIN);
  return known.problems;
};
const broken = (name: string): string => podYaml(name, '""');

describe("problems of a manifest that changed", () => {
  it.each([
    ["a first version that is refused", [broken("a")], [`${ORIGIN}:8: spec.containers[0].image: Required value`]],
    [
      "a pod that keeps its last good version",
      [podYaml("a"), broken("a")],
      [`${ORIGIN}:8: spec.containers[0].image: Required value (default/a-node-1 keeps its last good version)`],
    ],
    [
      "one pod of two",
      [`${podYaml("a")}---\n${podYaml("b")}`, `${podYaml("a")}---\n${broken("b")}`],
      [`${ORIGIN}:17: spec.containers[0].image: Required value (default/b-node-1 keeps its last good version)`],
    ],
    [
      "all pods of a text that cannot be read",
      [["a", "b", "c", "d", "e"].map((name) => podYaml(name)).join("---\n"), "{"],
      [
        `${ORIGIN}:1: is not valid JSON: the text ends too early ` +
          "(default/a-node-1, default/b-node-1, default/c-node-1 and 2 more keep their last good versions)",
      ],
    ],
    [
      "a warning, which keeps nothing",
      [podYaml("a"), `${podYaml("a")}    portz: []\n`],
      [`${ORIGIN}:9: spec.containers[0].portz: unknown field, ignored; did you mean "ports"?`],
    ],
  ])("%s", (_title, texts, expected) => {
    expect(problemsAfter(...texts).map((problem) => problemText(problem))).toEqual(expected);
  });

  it("belong to the only pod of a manifest whose text cannot be read", () => {
    const uid = readText(podYaml("a")).pods[0]?.metadata.uid;
    expect(problemsAfter(podYaml("a"), "{")[0]?.pod).toEqual({ name: "a-node-1", namespace: "default", uid });
  });
  it("belong to no pod when there are two candidates", () => {
    expect(problemsAfter(`${podYaml("a")}---\n${podYaml("b")}`, "{")[0]?.pod).toBeUndefined();
  });
});

describe("isDoubtful", () => {
  const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
  it.each<[string, string, string, boolean]>([
    ["the same pods", podYaml("a"), podYaml("a", "app:2"), false],
    ["one pod more", podYaml("a"), `${podYaml("a")}---\n${podYaml("b")}`, false],
    ["one pod less", `${podYaml("a")}---\n${podYaml("b")}`, podYaml("a"), true],
    ["one object less", `${podYaml("a")}---\n${configMap("c")}`, podYaml("a"), true],
    ["the same object", configMap("c"), configMap("c"), false],
    ["a pod that fails by name", "", podYaml("a", '""'), true],
    ["a failure without name", "", "{", true],
    ["an empty file", "", " ", true],
    ["a new object with a warning", "", `${configMap("c")}odd: 1\n`, false],
    ["a new pod with a warning", "", `${podYaml("a")}    portz: []\n`, false],
    ["comments only, which are no problem", "", "# nothing\n", false],
  ])("a manifest with %s", (_, before, after, expected) => {
    expect(isDoubtful(readText(before), readText(after))).toBe(expected);
  });
});

describe("pods of a manifest that changed", () => {
  it("keeps a failed pod's last version by name and namespace", () => {
    const ofNamespace = (namespace: string, image: string) =>
      podYaml("a", image).replace("name: a", `name: a\n  namespace: ${namespace}`);
    const texts = [
      `${ofNamespace("one", "app:1")}---\n${ofNamespace("two", "app:1")}`,
      `${ofNamespace("one", '""')}---\n${ofNamespace("two", "app:2")}`,
    ];
    const known = takeOver({ pods: [], objects: [] }, readText(texts[0] ?? ""), ORIGIN);
    const { pods, problems } = takeOver(known, readText(texts[1] ?? ""), ORIGIN);
    const images = pods.map(({ metadata, spec }) => `${metadata.namespace} ${spec.containers[0]?.image}`);
    expect(images.sort()).toEqual(["one app:1", "two app:2"]);
    expect(problems[0]?.kept).toEqual(["one/a-node-1"]);
  });
});
