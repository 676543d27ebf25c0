/**
 * The test double rejects node requests that the real server rejects, with the same code and text (its long
 * explanations of what a name is are cut off).
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { lastValueFrom } from "rxjs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { nodeTemplate } from "../../src/core/cert/certificateTemplate.ts";
import { CLIENT_USE } from "../../src/core/cert/signingRequest.ts";
import { createCertificates } from "../../src/sinks/certificates.ts";
import { type HttpsApiServer, startHttpsApiServer } from "../support/apiServer/httpsApiServer.ts";
import { realClock } from "../support/realClock.ts";
import { newPod } from "../support/simApi.ts";

const POD = "/api/v1/namespaces/default/pods/p1";
const NODE = "/api/v1/nodes/n1/status";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const EVENTS = "/api/v1/namespaces/default/events";
const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const CSI_NODES = "/apis/storage.k8s.io/v1/csinodes";
const REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";

let server: HttpsApiServer;
beforeAll(async () => {
  server = await startHttpsApiServer();
  server.tokens.set("n1", { kind: "node", nodeName: "n1" });
  server.sim.put("nodes", { metadata: { name: "n1" } });
  server.sim.put("pods", newPod("p1", { nodeName: "n1" }));
});
afterAll(() => server.close());

/** Code and message of what the node n1 is answered. */
async function answer(method: string, path: string, body: unknown): Promise<string> {
  const type = method === "PATCH" ? "application/strategic-merge-patch+json" : "application/json";
  const text = JSON.stringify(body);
  const headers = { authorization: "Bearer n1", "content-type": type, "content-length": Buffer.byteLength(text) };
  const ca = server.authority.certificate;
  const call = request(`${server.url}${path}`, { method, ca, agent: false, headers });
  call.end(text);
  const [got] = (await once(call, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of got as AsyncIterable<Buffer>) chunks.push(chunk);
  const { message = "" } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly message?: string };
  return `${got.statusCode} ${message}`.trim();
}

const invalidPod = 'Pod "p1" is invalid:';
const invalidNode = 'Node "n1" is invalid:';
const condition = (more: object) => ({ conditions: [{ type: "Ready", status: "True", ...more }] });
const ofContainer = (more: object) => ({ containerStatuses: [{ name: "main", image: "i", imageID: "", ...more }] });
const twice = (...addresses: string[]) => ({
  addresses: addresses.map((address) => ({ type: "InternalIP", address })),
});

it.each<[object, string]>([
  [
    { startTime: "yesterday" },
    ' "" is invalid: patch: Invalid value: "map[status:map[startTime:yesterday]]": parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
  ],
  [
    { containerStatuses: "x" },
    ' "" is invalid: patch: Invalid value: "map[status:map[containerStatuses:x]]": cannot restore slice from string',
  ],
  [
    ofContainer({ ready: "yes", restartCount: 0 }),
    ' "" is invalid: patch: Invalid value: "map[status:map[containerStatuses:[map[image:i imageID: name:main ready:yes restartCount:0]]]]": unrecognized type: bool',
  ],
  [
    { podIPs: [{ ip: "x" }] },
    `${invalidPod} status.podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
  ],
  [
    { podIPs: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] },
    `${invalidPod} status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family`,
  ],
  [
    { hostIP: "10.0.0.1", hostIPs: [{ ip: "10.0.0.2" }] },
    `${invalidPod} status.hostIPs[0].ip: Invalid value: "10.0.0.2": must be equal to \`hostIP\``,
  ],
  [
    { observedGeneration: -1 },
    `${invalidPod} status.observedGeneration: Invalid value: -1: must be a non-negative integer`,
  ],
  [
    condition({ observedGeneration: -1 }),
    `${invalidPod} status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer`,
  ],
])("the status of a pod: %j", async (status, message) => {
  expect(await answer("PATCH", `${POD}/status`, { status })).toBe(`422 ${message}`);
});

it("the deletion of a pod in a way there is none of", async () => {
  expect(await answer("DELETE", POD, { propagationPolicy: "Never" })).toBe(
    '422 DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Never": supported values: "Foreground", "Background", "Orphan", "nil"',
  );
});

it.each<[object, string]>([
  [{ metadata: { labels: { a: "b c" } } }, `422 ${invalidNode} metadata.labels: Invalid value: "b c": a `],
  [
    { metadata: { annotations: { "a b": "c" } } },
    `422 ${invalidNode} metadata.annotations: Invalid value: "a b": name part `,
  ],
  [{ status: { capacity: { pods: "1.5" } } }, `422 ${invalidNode} status.capacity.pods: Invalid value: "1`],
  [
    { status: twice("1.1.1.1", "1.1.1.1") },
    `422 ${invalidNode} status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"1.1.1.1"}`,
  ],
  [
    { status: { images: "x" } },
    '422 "" is invalid: patch: Invalid value: "map[status:map[images:x]]": cannot restore slice from string',
  ],
  [
    { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } },
    '403 nodes "n1" is forbidden: node "n1" is not allowed to modify taints',
  ],
])("the status of a node: %j", async (patch, message) => {
  expect((await answer("PATCH", NODE, patch)).replace(/ +/g, " ").slice(0, message.length)).toBe(message);
});

it.each<[string, object, string]>([
  [
    LEASES,
    { spec: { renewTime: "2026-01-01T00:00:00Z" } },
    '400 Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  ],
  [
    LEASES,
    { spec: { leaseTransitions: -1 } },
    '422 Lease.coordination.k8s.io "n1" is invalid: spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    EVENTS,
    { involvedObject: { namespace: "default" }, count: "x" },
    '400 Event in version "v1" cannot be handled as a Event: json: cannot unmarshal string into Go struct field Event.count of type int32',
  ],
  [
    CSI_NODES,
    { spec: { drivers: [{ name: "a", nodeID: "" }] } },
    '422 CSINode.storage.k8s.io "n1" is invalid: spec.drivers[0].nodeID: Required value',
  ],
  [
    CSI_NODES,
    { spec: { drivers: ["a", "a"].map((name) => ({ name, nodeID: "x" })) } },
    '422 CSINode.storage.k8s.io "n1" is invalid: spec.drivers[1].name: Duplicate value: "a"',
  ],
])("what is made: %s %j", async (path, object, message) => {
  expect(await answer("POST", path, { metadata: { name: "n1" }, ...object })).toBe(message);
});

it.each<[string, object, string]>([
  [TOKEN_REVIEWS, {}, "400 token is required for TokenReview in authentication"],
  [
    REVIEWS,
    { user: "x" },
    "422 spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
  ],
  [
    REVIEWS,
    { resourceAttributes: { verb: "get" } },
    '422 spec.user: Invalid value: "": at least one of user or group must be specified',
  ],
  [
    REVIEWS,
    { groups: "y" },
    '400 SubjectAccessReview in version "v1" cannot be handled as a SubjectAccessReview: json: cannot unmarshal string into Go struct field SubjectAccessReviewSpec.spec.groups of type []string',
  ],
])("a review: %s %j", async (path, spec, message) => {
  const reported = await answer("POST", path, { spec });
  expect(reported.replace(/^422 .* is invalid: /, "422 ")).toBe(message);
});

it("requests for certificates that are none, or of somebody else", async () => {
  const certificates = createCertificates(realClock);
  const key = await lastValueFrom(certificates.newKey());
  const requestOf = async (nodeName: string): Promise<string> =>
    (await lastValueFrom(certificates.request(key, nodeTemplate(nodeName), CLIENT_USE))).pem;
  const own = await requestOf("n1");
  const broken = Buffer.from(own.replace(/-----[^-]+-----|\s/g, ""), "base64");
  broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${broken.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
  const spec = {
    signerName: "kubernetes.io/kube-apiserver-client-kubelet",
    usages: ["digital signature", "client auth"],
  };
  const reported = async (text: string, more: object = {}): Promise<string> => {
    const request = text === "***" ? text : Buffer.from(text).toString("base64");
    const said = await answer("POST", REQUESTS, { metadata: { name: "c" }, spec: { ...spec, request, ...more } });
    return said
      .replace(/certificatesigningrequests?\.certificates\.k8s\.io "c" is /i, "")
      .replace(/"LS0t[^"]*"/, '"..."');
  };
  expect([
    await reported("***"),
    await reported("hello"),
    await reported(await requestOf("n2")),
    await reported(pem),
    await reported(own, { signerName: "nope" }),
    await reported(own, { signerName: "kubernetes.io/legacy-unknown" }),
    await reported(own, { usages: ["client auth", "client auth"] }),
    (await reported(own, { usages: ["flying"] })).split(": supported")[0],
    await reported(own, { expirationSeconds: 10 }),
    await reported(own),
  ]).toEqual([
    '400 CertificateSigningRequest in version "v1" cannot be handled as a CertificateSigningRequest: illegal base64 data at input byte 0',
    "403 forbidden: unable to parse csr: PEM block type must be CERTIFICATE REQUEST",
    "403 forbidden: can only create a node CSR with CN=system:node:n1",
    expect.stringMatching(/^422 invalid: spec\.request: Invalid value: "\.\.\.": /),
    `422 invalid: spec.signerName: Invalid value: "nope": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
    '422 invalid: spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    '422 invalid: spec.usages[1]: Duplicate value: "client auth"',
    '422 invalid: spec.usages[0]: Unsupported value: "flying"',
    "422 invalid: spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 600 seconds (10 minutes)",
    "201",
  ]);
});
