import { describe, expect, it } from "vitest";
import { podsOfTemplates } from "../../../../../src/core/pod/manifest/podsOfTemplates.ts";
import { parseManifest } from "../../../../../src/sources/parseManifest.ts";
import { bytesOf, podYaml, problemLines, readText } from "../../../../support/manifests.ts";

const read = (text: string) => podsOfTemplates(parseManifest(bytesOf(text)), "web.yaml");

const workload = (kind: string, metadata: string, spec: string): string =>
  `apiVersion: apps/v1\nkind: ${kind}\nmetadata: ${metadata}\nspec:\n  ${spec}\n`;
const TEMPLATE = "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: app}]}}";
const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", labels: { app: "web" } },
  spec: { containers: [{ name: "main", image: "app" }] },
};

describe("podsOfTemplates", () => {
  it.each(["Deployment", "DaemonSet", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"])(
    "makes a pod of the template of a %s",
    (kind) => {
      expect(read(workload(kind, "{name: web}", TEMPLATE))).toEqual({ objects: [POD], notes: [], errors: [] });
    },
  );
  it("creates a pod from the template of a CronJob", () => {
    const { objects } = read(workload("CronJob", "{name: web}", `jobTemplate: {spec: {${TEMPLATE}}}`));
    expect(objects).toEqual([POD]);
  });
  it("keeps the namespace", () => {
    const { objects } = read(workload("Deployment", "{name: web, namespace: demo}", TEMPLATE));
    expect(objects).toEqual([{ ...POD, metadata: { ...POD.metadata, namespace: "demo" } }]);
  });
  it("creates pods that are valid in a manifest", () => {
    const [pod] = read(workload("Deployment", "{name: web}", TEMPLATE)).objects;
    const reading = readText(JSON.stringify(pod));
    expect([reading.pods.length, problemLines(reading)]).toEqual([1, []]);
  });
  it("keeps objects that manifests may contain, and names those it omits", () => {
    const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    const service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n";
    const found = read([podYaml("a"), config, service, workload("Job", "{name: web}", TEMPLATE)].join("---\n"));
    expect(found.objects.map((object) => (object as { readonly kind: string }).kind)).toEqual([
      "Pod",
      "ConfigMap",
      "Pod",
    ]);
    expect(found.notes).toEqual(['web.yaml:15: kind: "Service" is left out']);
  });
  it("reads the items of a List", () => {
    const items = [JSON.parse(JSON.stringify({ ...POD, kind: "Service" })), { ...POD, kind: "Pod" }];
    const found = read(JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    expect([found.objects, found.notes]).toEqual([[POD], ['web.yaml:1: items[0].kind: "Service" is left out']]);
  });
  it.each([
    [
      "no template",
      workload("Deployment", "{name: web}", "replicas: 2"),
      ["web.yaml:4: spec.template.spec: Required value"],
    ],
    [
      "no template of jobs",
      workload("CronJob", "{name: web}", TEMPLATE),
      ["web.yaml:4: spec.jobTemplate.spec.template.spec: Required value"],
    ],
    ["no workload", "apiVersion: v1\nkind: Service\n", ["web.yaml: has no workload with a pod template"]],
    ["nothing", "# nothing\n", ["web.yaml: has no workload with a pod template"]],
    ["an empty file", "", ["web.yaml: is empty: it defines no pod"]],
    ["no map", "hello\n", ["web.yaml: has no workload with a pod template"]],
    ["no YAML", "{", ["web.yaml:1: is not valid JSON: the text ends too early"]],
    [
      "a duplicate key",
      "kind: Job\nkind: Job\n",
      ['web.yaml:2: is not valid YAML: duplicate key "kind"', "web.yaml:1: spec.template.spec: Required value"],
    ],
  ])("rejects %s", (_title, text, errors) => {
    expect(read(text).errors).toEqual(errors);
  });
});
