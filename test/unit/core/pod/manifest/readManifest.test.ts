import { describe, expect, it } from "vitest";
import { podYaml, problemLines, readText } from "../../../../support/manifests.ts";

const namesOf = (text: string) => readText(text).pods.map((pod) => `${pod.metadata.namespace}/${pod.metadata.name}`);

describe("documents of a manifest", () => {
  it.each([
    ["one pod", podYaml("a"), ["default/a-node-1"]],
    ["several documents", `${podYaml("a")}---\n${podYaml("b")}`, ["default/a-node-1", "default/b-node-1"]],
    [
      "a PodList, whose items need no kind",
      "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n  spec: {containers: [{name: m, image: i}]}\n",
      ["default/a-node-1"],
    ],
    [
      "a List",
      `apiVersion: v1\nkind: List\nitems:\n- ${podYaml("a").trimEnd().replaceAll("\n", "\n  ")}\n`,
      ["default/a-node-1"],
    ],
    [
      "JSON",
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n"},"spec":{"containers":[{"name":"m","image":"i"}]}}',
      ["n/a-node-1"],
    ],
    ["comments only", "# nothing\n# here\n", []],
    ["empty documents", `---\n---\n${podYaml("a")}---\n# x\n`, ["default/a-node-1"]],
    ["an empty list", "apiVersion: v1\nkind: PodList\nitems: []\n", []],
  ])("%s", (_title, text, expected) => {
    expect([namesOf(text), problemLines(readText(text))]).toEqual([expected, []]);
  });
});

describe("problems of a manifest", () => {
  it.each([
    [
      "another kind",
      "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
      ['2 kind: Unsupported value: "Service": supported values: "Pod", "ConfigMap", "Secret", "RuntimeClass", "List"'],
    ],
    [
      "another API version",
      "apiVersion: v2\nkind: Pod\n",
      [
        '1 apiVersion: Unsupported value: "v2": supported values: "v1"',
        "1 metadata.name: Required value: name is needed for the pod",
        "1 spec.containers: Required value",
      ],
    ],
    [
      "neither",
      "metadata: {name: a}\n",
      ["1 kind: Required value: one of Pod, ConfigMap, Secret, RuntimeClass, List", "1 apiVersion: Required value"],
    ],
    [
      "a misspelt kind",
      podYaml("a").replace("kind: Pod", "kind: Pdo"),
      [
        '2 kind: Unsupported value: "Pdo": supported values: "Pod", "ConfigMap", "Secret", "RuntimeClass", "List"; did you mean "Pod"?',
      ],
    ],
    [
      "a workload, whatever its API version",
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n",
      [
        '2 kind: Invalid value: "Deployment": rxlet runs pods only; "rxlet template FILE" prints the pod of its template',
      ],
    ],
    [
      "everything wrong with a pod at once, whatever is wrong with it, in order of lines",
      [
        "apiVersion: V1",
        "kind: Pod",
        "metadata: {}",
        "spec:",
        "  terminationGracePeriodSeconds: -5",
        "  restartPolcy: Never",
        "  containers:",
        "  - just text",
        "  - name: main",
        "    ports: [{containerPort: -80}]",
        "    resources: {requests: {cpu: -1, memory: 12XB}}",
        "    volumeMounts: [{name: data, mountPath: /data}]",
      ].join("\n"),
      [
        '1 apiVersion: Unsupported value: "V1": supported values: "v1"',
        "3 metadata.name: Required value: name is needed for the pod",
        "5 spec.terminationGracePeriodSeconds: Invalid value: -5: must be greater than or equal to 0",
        'warning 6 spec.restartPolcy: unknown field, ignored; did you mean "restartPolicy"?',
        '8 spec.containers[0]: must be a map, not the string "just text"',
        "9 spec.containers[1].image: Required value",
        "10 spec.containers[1].ports[0].containerPort: Invalid value: -80: must be between 1 and 65535, inclusive",
        '11 spec.containers[1].resources.requests[memory]: must be a quantity such as 100m, 1.5 or 64Mi, not the string "12XB"',
        '11 spec.containers[1].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        '12 spec.containers[1].volumeMounts[0].name: Not found: "data": spec.volumes has no volume of this name',
      ],
    ],
    [
      "a duplicate key beside other problems",
      podYaml("a").replace("    image: app:1\n", "").replace("kind: Pod\n", "kind: Pod\nkind: Pod\n"),
      ['3: is not valid YAML: duplicate key "kind"', "8 spec.containers[0].image: Required value"],
    ],
    [
      "every duplicate key",
      `${podYaml("a")}    image: other\n    name: other\n`,
      ['9: is not valid YAML: duplicate key "image"', '10: is not valid YAML: duplicate key "name"'],
    ],
    ["a scalar", "hello\n", ["1: must be a map with apiVersion and kind, such as a Pod"]],
    ["a list", "- a\n", ["1: must be a map with apiVersion and kind, such as a Pod"]],
    [
      "no name",
      "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, image: b}]}\n",
      ["1 metadata.name: Required value: name is needed for the pod"],
    ],
    [
      "broken YAML",
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a\nspec:\n",
      ["4: is not valid YAML: Flow map in block collection must be sufficiently indented and end with a }"],
    ],
    ["a key twice", `${podYaml("a")}    image: other\n`, ['9: is not valid YAML: duplicate key "image"']],
    [
      "an item that is no pod",
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n",
      ['5 items[0].kind: Unsupported value: "Service": supported values: "Pod", "ConfigMap", "Secret", "RuntimeClass"'],
    ],
    ["items that are no list", "apiVersion: v1\nkind: PodList\nitems: {}\n", ["3 items: must be a list"]],
    [
      "an item of a list by its own line",
      "apiVersion: v1\nkind: PodList\nitems:\n- metadata:\n    name: a\n  spec:\n    containers:\n    - name: B\n      image: c\n",
      [
        "8 items[0].spec.containers[0].name: Invalid value: \"B\": a lowercase RFC 1123 label holds lower case letters, digits and '-', and starts and ends with a letter or digit",
      ],
    ],
    [
      "a wrong type",
      `${podYaml("a")}    env:\n    - name: PORT\n      value: 80\n`,
      ["11 spec.containers[0].env[0].value: must be a string (put it in quotes), not the number 80"],
    ],
    [
      "a missing field by the line of its parent",
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: a\n",
      ["7 spec.containers[0].image: Required value"],
    ],
    [
      "a reference to the API",
      `${podYaml("a")}  serviceAccountName: sa\n`,
      ["9 spec.serviceAccountName: Forbidden: static pods may not reference serviceaccounts"],
    ],
    [
      "a mirror pod, as copied from the API server",
      'kind: Pod\napiVersion: v1\nmetadata:\n  name: a\n  annotations:\n    kubernetes.io/config.mirror: "1"\nspec:\n  containers:\n  - name: a\n    image: a:1\n',
      ["6 metadata.annotations[kubernetes.io/config.mirror]: Forbidden: a static pod must not be a mirror pod"],
    ],
    [
      "JSON by its lines",
      '{\n"apiVersion": "v1",\n"kind": "Pod",\n"metadata": {"name": "a"},\n"spec": {\n"containers": []}}',
      ["6 spec.containers: Required value"],
    ],
  ])("%s", (_title, text, expected) => {
    expect([namesOf(text), problemLines(readText(text))]).toEqual([[], expected]);
  });
  it("accepts references to the API when the gate is off, except claims and trust bundles", () => {
    const text = `${podYaml("a")}  serviceAccountName: sa\n  resourceClaims:\n  - name: c\n    resourceClaimName: x\n`;
    expect(problemLines(readText(text, { preventApiReferences: false }))).toEqual([
      "11 spec.resourceClaims[0]: Forbidden: static pods may not reference resourceclaims",
    ]);
  });
  it("runs a pod with unknown fields and warns", () => {
    const reading = readText(`${podYaml("a")}    imagePullPolcy: Never\n`);
    expect([reading.pods.length, problemLines(reading)]).toEqual([
      1,
      ['warning 9 spec.containers[0].imagePullPolcy: unknown field, ignored; did you mean "imagePullPolicy"?'],
    ]);
  });
  it("warns about an empty file, and keeps no pods", () => {
    const reading = readText(" \n\n");
    expect([problemLines(reading), reading.hasNamelessFailure]).toEqual([
      ["warning is empty: it defines no pod"],
      false,
    ]);
  });
  it("names the pod of a manifest with a duplicate key", () => {
    const reading = readText(`${podYaml("a")}    image: other\n`);
    expect([[...reading.failed], reading.hasNamelessFailure, reading.problems[0]?.pod?.name]).toEqual([
      ["a-node-1_default"],
      false,
      "a-node-1",
    ]);
  });
  it("cuts long keys in fields and reasons", () => {
    const [problem] = readText(`${podYaml("a")}    env: [{name: A, ${"k".repeat(5_000)}: 1}]\n`).problems;
    expect([problem?.field?.length, problem?.line]).toEqual([303, 9]);
    const [twice] = readText(`${"k".repeat(5_000)}: 1\n${"k".repeat(5_000)}: 1\n`).problems;
    expect(twice?.reason.length).toBeLessThan(120);
  });
  it("names the pods that failed, and reports when a name is unknown", () => {
    const named = readText(`${podYaml("a")}---\n${podYaml("b", '""')}`);
    expect([[...named.failed], named.hasNamelessFailure, named.pods.length]).toEqual([["b-node-1_default"], false, 1]);
    const nameless = readText(`${podYaml("a")}---\nkind: Pod\n`);
    expect([[...nameless.failed], nameless.hasNamelessFailure, nameless.pods.length]).toEqual([[], true, 1]);
  });
  it("names the pod of a problem", () => {
    const [problem] = readText(podYaml("a", '" "')).problems;
    expect(problem).toEqual({
      severity: "error",
      origin: "/manifests/pod.yaml",
      line: 8,
      field: "spec.containers[0].image",
      reason: 'Invalid value: " ": must not have leading or trailing whitespace',
      pod: { name: "a-node-1", namespace: "default", uid: expect.stringMatching(/^\d{32}$/) as unknown },
    });
  });
  it("reads at most 1000 pods of one list", () => {
    const items = Array.from({ length: 1100 }, (_, index) => ({
      metadata: { name: `p${index}` },
      spec: { containers: [{ name: "m", image: "i" }] },
    }));
    const reading = readText(JSON.stringify({ apiVersion: "v1", kind: "PodList", items }));
    expect([reading.pods.length, problemLines(reading)]).toEqual([
      1000,
      ["more than 1000 objects in one manifest; the rest is not read"],
    ]);
  });
  it("derives another UID from changed content, and the same from a changed comment", () => {
    const uidOf = (text: string) => readText(text).pods[0]?.metadata.uid;
    expect(uidOf(`# hello\n${podYaml("a")}`)).toBe(uidOf(podYaml("a")));
    expect(uidOf(podYaml("a", "app:2"))).not.toBe(uidOf(podYaml("a")));
  });
});
