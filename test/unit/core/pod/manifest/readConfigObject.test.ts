import { describe, expect, it } from "vitest";
import { keyOf } from "../../../../../src/core/configObjects.ts";
import { takeOver } from "../../../../../src/core/pod/manifest/takeOver.ts";
import { podYaml, problemLines, readText } from "../../../../support/manifests.ts";

const head = (kind: string, name = "a") => `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}}\n`;
const objectsOf = (text: string) =>
  readText(text).objects.map(
    (object) => `${keyOf(object)} ${JSON.stringify("data" in object ? object.data : undefined)}`,
  );

describe("ConfigMaps and Secrets of a manifest", () => {
  it.each([
    ["a ConfigMap", `${head("ConfigMap")}data: {k: v}\n`, ['ConfigMap default/a {"k":"v"}']],
    [
      "a Secret, whose stringData goes over its data",
      `${head("Secret")}data: {a: YQ==, b: YQ==}\nstringData: {b: é}\n`,
      ['Secret default/a {"a":"YQ==","b":"w6k="}'],
    ],
    [
      "both beside a pod",
      `${head("ConfigMap")}---\n${podYaml("p")}---\n${head("Secret", "s")}`,
      ["ConfigMap default/a undefined", "Secret default/s undefined"],
    ],
    [
      "items of a List, each of its own kind",
      "apiVersion: v1\nkind: List\nitems:\n- {kind: Secret, metadata: {name: s, namespace: prod}}\n- {kind: ConfigMap, metadata: {name: c}}\n",
      ["Secret prod/s undefined", "ConfigMap default/c undefined"],
    ],
    [
      "a list of one kind, whose items need none",
      "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: c}\n",
      ["ConfigMap default/c undefined"],
    ],
  ])("%s", (_title, text, expected) => {
    expect([objectsOf(text), problemLines(readText(text))]).toEqual([expected, []]);
  });

  it.each([
    [
      "no name",
      "apiVersion: v1\nkind: ConfigMap\n",
      ["1 metadata.name: Required value: name or generateName is required"],
    ],
    [
      "data that is no base64, unshown",
      `${head("Secret")}data:\n  password: "hunter2!"\n`,
      ["5 data[password]: must be base64 text, not a string"],
    ],
    [
      "values of other types, unshown",
      `${head("Secret")}stringData:\n  pin: 1234\n`,
      ["5 stringData[pin]: must be a string (put it in quotes), not a number"],
    ],
    [
      "a value of a ConfigMap, shown",
      `${head("ConfigMap")}data:\n  port: 80\n`,
      ["5 data[port]: must be a string (put it in quotes), not the number 80"],
    ],
    [
      "a key that is none",
      `${head("ConfigMap")}data:\n  a/b: x\n`,
      ["5 data[a/b]: Invalid value: \"a/b\": a key holds letters, digits, '-', '_' and '.'"],
    ],
    [
      "a key twice",
      `${head("ConfigMap")}data: {k: x}\nbinaryData: {k: YQ==}\n`,
      ['5 binaryData[k]: Invalid value: "k": duplicate key in both data and binaryData'],
    ],
    [
      "a TLS Secret without its key",
      `${head("Secret")}type: kubernetes.io/tls\ndata: {tls.crt: YQ==}\n`,
      ["5 data[tls.key]: Required value"],
    ],
    [
      "a login without either",
      `${head("Secret")}type: kubernetes.io/basic-auth\n`,
      ["1 data[username]: Required value", "1 data[password]: Required value"],
    ],
    [
      "a token without account",
      `${head("Secret")}type: kubernetes.io/service-account-token\n`,
      ["3 metadata.annotations[kubernetes.io/service-account.name]: Required value"],
    ],
    [
      "more than a mebibyte",
      `${head("Secret")}stringData: {k: ${"x".repeat(1024 * 1024 + 1)}}\n`,
      ["1 data: Too long: may not be more than 1048576 bytes"],
    ],
  ])("rejects %s", (_title, text, expected) => {
    const reading = readText(text);
    expect([reading.objects, problemLines(reading)]).toEqual([[], expected]);
  });

  it.each([
    ["Secret", "stringData", "data"],
    ["ConfigMap", "data", ""],
  ])("limits the data of a %s to a mebibyte in all", (kind, key, field) => {
    const half = "x".repeat(512 * 1024);
    const problems = (more: string) => problemLines(readText(`${head(kind)}${key}: {k: ${half}, l: ${half}${more}}\n`));
    expect([problems(""), problems(", m: x")]).toEqual([
      [],
      [expect.stringContaining(`${field}: Too long: may not be more than 1048576 bytes`)],
    ]);
  });

  it("limits data and binaryData of a ConfigMap together", () => {
    const problems = (text: string) =>
      problemLines(
        readText(`${head("ConfigMap")}data: {k: ${"é".repeat(512 * 1024 - 1)}}\nbinaryData: {b: ${text}}\n`),
      );
    expect([problems("YWI="), problems("YWJj").length]).toEqual([[], 1]);
  });

  it.each([
    ["kubernetes.io/dockercfg", ".dockercfg"],
    ["kubernetes.io/dockerconfigjson", ".dockerconfigjson"],
    ["kubernetes.io/ssh-auth", "ssh-privatekey"],
    ["kubernetes.io/tls", "tls.crt tls.key"],
    ["Opaque", ""],
  ])("requires of a Secret of the type %s the keys: %s", (type, keys) => {
    const needed = keys.split(" ").filter((key) => key !== "");
    const problems = (data: string) => problemLines(readText(`${head("Secret")}type: ${type}\n${data}`));
    expect(problems("").map((line) => /data\[(.*)\]: Required value$/.exec(line)?.[1])).toEqual(needed);
    expect(problems(`data: {${needed.map((key) => `${key}: YQ==`).join(", ")}}\n`)).toEqual([]);
  });

  it.each(["username", "password"])("accepts a login with a %s alone", (key) => {
    expect(problemLines(readText(`${head("Secret")}type: kubernetes.io/basic-auth\ndata: {${key}: YQ==}\n`))).toEqual(
      [],
    );
  });

  it("accepts a token of a service account", () => {
    const text =
      "apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {kubernetes.io/service-account.name: robot}}\n" +
      "type: kubernetes.io/service-account-token\n";
    expect(problemLines(readText(text))).toEqual([]);
  });

  it("names the objects that failed", () => {
    expect([...readText(`${head("Secret")}data: {k: "?"}\n`).failed]).toEqual(["Secret default/a"]);
  });

  it("accepts no such kinds with an API server", () => {
    expect(problemLines(readText(head("ConfigMap"), { standalone: false }))).toEqual([
      '2 kind: Unsupported value: "ConfigMap": supported values: "Pod", "List"',
    ]);
  });

  it("allows references in environments and volumes without an API server, and nowhere else", () => {
    const text = `${podYaml("p")}    envFrom:\n    - secretRef: {name: s}\n  volumes:\n  - name: v\n    configMap: {name: c}\n  imagePullSecrets: [{name: p}]\n`;
    const volume = "13 spec.volumes[0].configMap: Forbidden: static pods may not reference configmaps";
    const pull = "14 spec.imagePullSecrets[0]: Forbidden: static pods may not reference secrets";
    expect(problemLines(readText(text))).toEqual([pull]);
    expect(problemLines(readText(text, { standalone: false }))).toEqual([
      "10 spec.containers[0].envFrom[0].secretRef: Forbidden: static pods may not reference secrets",
      volume,
      pull,
    ]);
  });
});

describe("objects of a manifest that changed", () => {
  const NOTHING = { pods: [], objects: [] };
  const first = (text: string) => takeOver(NOTHING, readText(text), "/m/a.yaml");
  const dataAfter = (before: string, after: string) => {
    const taken = takeOver(first(before), readText(after), "/m/a.yaml");
    return [taken.objects.map((object) => ("data" in object ? object.data : undefined)), problemLines(taken)];
  };
  const fixed = `${head("ConfigMap")}immutable: true\n`;
  const refusal = (field: string) =>
    `${field}: ConfigMap default/a: Forbidden: field is immutable when \`immutable\` is set`;
  it.each([
    [
      "the new content counts",
      `${head("ConfigMap")}data: {k: a}\n`,
      `${head("ConfigMap")}data: {k: b}\n`,
      [{ k: "b" }],
      [],
    ],
    ["immutable content stays", `${fixed}data: {k: a}\n`, `${fixed}data: {k: b}\n`, [{ k: "a" }], [refusal("data")]],
    [
      "immutable stays immutable, binary data as well",
      `${fixed}data: {k: a}\n`,
      `${head("ConfigMap")}data: {k: a}\nbinaryData: {b: YQ==}\n`,
      [{ k: "a" }],
      [refusal("immutable"), refusal("binaryData")],
    ],
    [
      "a broken one keeps its last good content",
      `${head("ConfigMap")}data: {k: a}\n`,
      `${head("ConfigMap")}data: {k: 1}\n`,
      [{ k: "a" }],
      ["4 data[k]: must be a string (put it in quotes), not the number 1"],
    ],
    ["one that is gone is gone", `${fixed}data: {k: a}\n`, "# nothing", [], []],
  ])("%s", (_title, before, after, data, problems) => {
    expect(dataAfter(before, after)).toEqual([data, problems]);
  });

  it("keeps the same object for the same content", () => {
    const before = first(`${head("ConfigMap")}data: {k: a}\n`);
    expect(takeOver(before, readText(`# x\n${head("ConfigMap")}data: {k: a}\n`), "/m/a.yaml").objects[0]).toBe(
      before.objects[0],
    );
  });
});
