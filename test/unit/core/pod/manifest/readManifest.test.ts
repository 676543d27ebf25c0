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
  const pod = (name: string) => podYaml(name).trimEnd().replaceAll("\n", "\n  ");
  const list = (kind: string, ...items: readonly string[]) =>
    `apiVersion: v1\nkind: ${kind}\nitems:\n${items.map((item) => `- ${item}\n`).join("")}`;
  const config = "apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}";
  const runtimeClass = "metadata: {name: r}\n  handler: runc";
  it.each<[string, string, readonly string[], readonly string[]]>([
    ["a List of several kinds", list("List", pod("a"), config), ["a-node-1", "c"], []],
    ["items of a PodList with kind and version", list("PodList", pod("a")), ["a-node-1"], []],
    [
      "items of a PodList with a kind only",
      list("PodList", pod("a").replace("apiVersion: v1\n  ", "")),
      ["a-node-1"],
      [],
    ],
    ["another kind in a PodList", list("PodList", config), [], ["items[0].kind"]],
    ["another version in a PodList", list("PodList", pod("a").replace("v1", "v2")), [], ["items[0].apiVersion"]],
    ["a List without a kind in its item", list("List", "metadata: {name: a}"), [], ["items[0].kind"]],
    ["an item that is no map", list("List", pod("a"), "text"), ["a-node-1"], ["items[1]"]],
    ["items that are no list", "apiVersion: v1\nkind: List\nitems: 7\n", [], ["items"]],
    ["a list of another version", list("List", pod("a")).replace("v1", "v2"), [], ["apiVersion"]],
    [
      "RuntimeClasses, whose version is another group's",
      list("RuntimeClassList", runtimeClass).replace("v1", "node.k8s.io/v1"),
      ["r"],
      [],
    ],
    ["RuntimeClasses of the core group", list("RuntimeClassList", runtimeClass), [], ["apiVersion"]],
    [
      "a RuntimeClass in a List, with its own version",
      list("List", `kind: RuntimeClass\n  ${runtimeClass}`),
      ["r"],
      [],
    ],
  ])("reads of %s what it can", (_, text, names, fields) => {
    const { pods, objects, problems } = readText(text);
    expect([...pods, ...objects].map(({ metadata }) => metadata?.name)).toEqual(names);
    expect(problems.map(({ field }) => field)).toEqual(fields);
  });
  it("knows with an API server only pods", () => {
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n${list("PodList", pod("a"))}`;
    const reading = readText(text, { standalone: false });
    expect([reading.objects, reading.pods.length, problemLines(reading)]).toEqual([
      [],
      1,
      ['2 kind: Unsupported value: "ConfigMap": supported values: "Pod", "List"'],
    ]);
  });
  it.each([
    ["a ConfigMap without namespace", "kind: ConfigMap\nmetadata: {name: c}\ndata: 7\n", "ConfigMap default/c"],
    ["a Secret with namespace", "kind: Secret\nmetadata: {name: s, namespace: prod}\ndata: 7\n", "Secret prod/s"],
    ["a ConfigMap without name", "kind: ConfigMap\nmetadata: {}\ndata: 7\n", undefined],
    ["a ConfigMap whose name is no text", "kind: ConfigMap\nmetadata: {name: 7}\n", undefined],
    ["a ConfigMap whose metadata is no map", "kind: ConfigMap\nmetadata: []\n", undefined],
  ])("names %s that cannot be read", (_, text, key) => {
    const { failed, hasNamelessFailure } = readText(`apiVersion: v1\n${text}`);
    expect([[...failed], hasNamelessFailure]).toEqual([key === undefined ? [] : [key], key === undefined]);
  });
  it("does not use an object whose version is wrong", () => {
    const { objects, failed } = readText("apiVersion: v2\nkind: ConfigMap\nmetadata: {name: c}\n");
    expect([objects, [...failed]]).toEqual([[], ["ConfigMap default/c"]]);
  });
  it("gives no UID to a pod that cannot be decoded", () => {
    const [problem] = readText(podYaml("a", "7")).problems;
    expect([problem?.field, problem?.pod?.name, problem?.pod?.uid]).toEqual([
      "spec.containers[0].image",
      "a-node-1",
      "",
    ]);
  });
  it.each([
    ["kind: Pod\nmetadata: {name: a}\n", ["apiVersion"]],
    ["kind: ''\nmetadata: {name: a}\n", ["kind", "apiVersion"]],
    ["kind: null\napiVersion: ''\nmetadata: {name: a}\n", ["kind", "apiVersion"]],
    ["apiVersion: v1\nmetadata: {name: a}\n", ["kind"]],
  ])("asks for what is missing in %j", (text, fields) => {
    const { problems } = readText(text);
    expect(problems.map(({ field }) => field)).toEqual(expect.arrayContaining(fields));
    expect(problems.filter(({ field }) => field === "kind" || field === "apiVersion")).toHaveLength(fields.length);
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
  it.each([
    [1000, [], false],
    [1001, ["more than 1000 objects in one manifest; the rest is not read"], true],
    [1100, ["more than 1000 objects in one manifest; the rest is not read"], true],
  ])("reads at most 1000 pods of a list of %i", (length, problems, hasNamelessFailure) => {
    const items = Array.from({ length }, (_, index) => ({
      metadata: { name: `p${index}` },
      spec: { containers: [{ name: "m", image: "i" }] },
    }));
    const reading = readText(JSON.stringify({ apiVersion: "v1", kind: "PodList", items }));
    expect([reading.pods.length, problemLines(reading)]).toEqual([1000, problems]);
    expect(reading.hasNamelessFailure).toBe(hasNamelessFailure);
  });
  it.each([
    [99, 99, ""],
    [100, 100, ""],
    [101, 100, " (and 1 more problems in this manifest)"],
    [250, 100, " (and 150 more problems in this manifest)"],
  ])("reports of %i problems %i", (count, reported, more) => {
    const texts = Array.from({ length: count }, (_, index) => `kind: Odd${index}\napiVersion: v1\n`);
    const { problems } = readText(texts.join("---\n"));
    const kinds = '"Pod", "ConfigMap", "Secret", "RuntimeClass", "List"';
    expect(problems.map(({ reason }) => reason)).toEqual(
      Array.from({ length: reported }, (_, index) => {
        const last = index === reported - 1 ? more : "";
        return `Unsupported value: "Odd${index}": supported values: ${kinds}${last}`;
      }),
    );
  });
  it.each([
    [300, 300],
    [301, 303],
  ])("shows %i characters of a field as %i", (length, shown) => {
    const field = "spec.containers[0].env[0].";
    const text = `${podYaml("a")}    env: [{name: A, ${"k".repeat(length - field.length)}: 1}]\n`;
    expect(readText(text).problems[0]?.field).toHaveLength(shown);
  });
  it("derives another UID from changed content, and the same from a changed comment", () => {
    const uidOf = (text: string) => readText(text).pods[0]?.metadata.uid;
    expect(uidOf(`# hello\n${podYaml("a")}`)).toBe(uidOf(podYaml("a")));
    expect(uidOf(podYaml("a", "app:2"))).not.toBe(uidOf(podYaml("a")));
  });
});
