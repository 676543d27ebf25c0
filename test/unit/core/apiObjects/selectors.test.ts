import { describe, expect, it } from "vitest";
import type { ApiResourceName } from "../../../../src/core/api/apiResources.ts";
import type { ApiSelection } from "../../../../src/core/api/apiRequests.ts";
import { parseSelection } from "../../../../src/core/apiObjects/selectors.ts";
import type { ApiObject } from "../../../../src/core/apiObjects/storedObject.ts";

const pod: ApiObject = {
  metadata: { name: "web", namespace: "demo", labels: { app: "web", tier: "front", "example.com/x": "" } },
  spec: {
    nodeName: "n1",
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    serviceAccountName: "robot",
    hostNetwork: true,
  },
  status: { phase: "Running", podIP: "10.0.0.2", nominatedNodeName: "n2" },
};
const event: ApiObject = {
  metadata: { name: "web.1", namespace: "demo" },
  involvedObject: {
    kind: "Pod",
    namespace: "demo",
    name: "web",
    uid: "u",
    apiVersion: "v1",
    resourceVersion: "7",
    fieldPath: "spec.containers{a}",
  },
  reason: "Started",
  reportingComponent: "kubelet",
  source: { component: "kubelet" },
  type: "Normal",
};
const matches = (resource: ApiResourceName, object: ApiObject, selection: ApiSelection): boolean =>
  parseSelection(resource, selection).matches(object);

/** The message of the refusal of a selection. */
function refusal(resource: ApiResourceName, selection: ApiSelection): unknown {
  try {
    parseSelection(resource, selection);
  } catch (thrown) {
    return (thrown as Error).message;
  }
  return undefined;
}

describe("a field selector", () => {
  it.each<[ApiResourceName, ApiObject, string, string]>([
    ["pods", pod, "metadata.name", "web"],
    ["pods", pod, "metadata.namespace", "demo"],
    ["pods", pod, "spec.nodeName", "n1"],
    ["pods", pod, "spec.restartPolicy", "Always"],
    ["pods", pod, "spec.schedulerName", "default-scheduler"],
    ["pods", pod, "spec.serviceAccountName", "robot"],
    ["pods", pod, "spec.hostNetwork", "true"],
    ["pods", { spec: {} }, "spec.hostNetwork", "false"],
    ["pods", pod, "status.phase", "Running"],
    ["pods", { status: null }, "status.phase", ""],
    ["pods", pod, "status.podIP", "10.0.0.2"],
    ["pods", pod, "status.nominatedNodeName", "n2"],
    ["nodes", { spec: { unschedulable: true } }, "spec.unschedulable", "true"],
    ["nodes", {}, "spec.unschedulable", "false"],
    ["secrets", { type: "Opaque" }, "type", "Opaque"],
    ["namespaces", { status: { phase: "Active" } }, "status.phase", "Active"],
    ["services", { spec: { clusterIP: "None" } }, "spec.clusterIP", "None"],
    ["services", { spec: { type: "ClusterIP" } }, "spec.type", "ClusterIP"],
    ["certificatesigningrequests", { spec: { signerName: "s/s" } }, "spec.signerName", "s/s"],
    ["clustertrustbundles", { spec: { signerName: "s/s" } }, "spec.signerName", "s/s"],
    ["podcertificaterequests", { spec: { nodeName: "n1" } }, "spec.nodeName", "n1"],
    ["podcertificaterequests", { spec: { signerName: "s/s" } }, "spec.signerName", "s/s"],
    ["events", event, "involvedObject.kind", "Pod"],
    ["events", event, "involvedObject.namespace", "demo"],
    ["events", event, "involvedObject.name", "web"],
    ["events", event, "involvedObject.uid", "u"],
    ["events", event, "involvedObject.apiVersion", "v1"],
    ["events", event, "involvedObject.resourceVersion", "7"],
    ["events", event, "involvedObject.fieldPath", "spec.containers{a}"],
    ["events", event, "reason", "Started"],
    ["events", event, "reportingComponent", "kubelet"],
    ["events", event, "source", "kubelet"],
    ["events", event, "type", "Normal"],
  ])("of %s %j compares %s", (resource, object, field, value) => {
    const outcomes = [`${field}=${value}`, `${field}==${value}`, `${field}!=${value}`, `${field}=${value}x`].map(
      (fieldSelector) => matches(resource, object, { fieldSelector }),
    );
    expect(outcomes).toEqual([true, true, false, false]);
  });

  it("requires all of its terms", () => {
    const both = (name: string, node: string) =>
      matches("pods", pod, { fieldSelector: `metadata.name=${name},,spec.nodeName=${node}` });
    expect([both("web", "n1"), both("x", "n1"), both("web", "x")]).toEqual([true, false, false]);
  });

  it.each<[ApiResourceName, string, string]>([
    ["configmaps", "spec.nodeName=n", "field label not supported: spec.nodeName"],
    ["pods", "spec.unschedulable=true", "field label not supported: spec.unschedulable"],
    ["pods", "spec.nodeName", "invalid selector: 'spec.nodeName'; can't understand 'spec.nodeName'"],
    ["pods", "=n", "invalid selector: '=n'; can't understand '=n'"],
  ])("of %s is refused: %s", (resource, fieldSelector, message) => {
    expect(refusal(resource, { fieldSelector })).toContain(message);
  });

  it("names the value that a field must have", () => {
    const { required } = parseSelection("pods", {
      fieldSelector: "spec.nodeName!=n0,metadata.name==web,spec.nodeName=",
    });
    expect([required("metadata.name"), required("spec.nodeName"), required("metadata.namespace")]).toEqual([
      "web",
      "",
      undefined,
    ]);
    expect(parseSelection("pods", { fieldSelector: "spec.nodeName!=n0" }).required("spec.nodeName")).toBeUndefined();
  });
});

describe("a label selector", () => {
  it.each([
    ["app=web", true],
    ["app==web", true],
    ["app = web", true],
    ["app=db", false],
    ["app!=web", false],
    ["app!=db", true],
    ["none=", false],
    ["none!=x", true],
    ["example.com/x=", true],
    ["example.com/x", true],
    ["app", true],
    ["none", false],
    ["!app", false],
    ["! none", true],
    ["app in (db, web)", true],
    ["app in (db)", false],
    ["none in (web)", false],
    ["app notin (db, web)", false],
    ["app notin (db)", true],
    ["none notin (web)", true],
    ["app in (db,web),tier=front", true],
    ["app in (db,web),tier=back", false],
    ["tier=front , app in (db)", false],
    ["app=web,,tier", true],
    ["", true],
  ])("%j matches: %j", (labelSelector, expected) => {
    expect(matches("pods", pod, { labelSelector })).toBe(expected);
  });

  it.each(["app in web", "a b", "-x", "app=(", "!"])("%j is refused", (labelSelector) => {
    expect(refusal("pods", { labelSelector })).toContain(`unable to parse requirement: ${labelSelector}`);
  });
});

describe("a selection", () => {
  it.each<[ApiSelection, boolean, boolean]>([
    [{}, true, true],
    [{ namespace: "" }, true, true],
    [{ namespace: "demo" }, true, true],
    [{ namespace: "other" }, false, true],
    [{ fieldSelector: "", labelSelector: "" }, true, true],
    [{ labelSelector: "app" }, true, false],
    [{ fieldSelector: "metadata.name=web" }, true, false],
    [{ namespace: "demo", fieldSelector: "metadata.name=web", labelSelector: "none" }, false, false],
    [{ namespace: "other", fieldSelector: "metadata.name=web", labelSelector: "app" }, false, false],
  ])("%j matches: %j, and has no selector: %j", (selection, isMatch, isUnfiltered) => {
    const parsed = parseSelection("pods", selection);
    expect([parsed.matches(pod), parsed.isUnfiltered]).toEqual([isMatch, isUnfiltered]);
  });
});
