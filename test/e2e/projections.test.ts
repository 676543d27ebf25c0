/** Authorities and certificates in a pod on containerd, with keys of this machine, signed by the test. */
import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { lastValueFrom } from "rxjs";
import { expect, it } from "vitest";
import type { PodCertificateRequest } from "../../src/core/cert/podCertificate.ts";
import { createCertificates } from "../../src/sinks/certificates.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { server as serving } from "./manifests.ts";

const GATES = [
  "AuthorizeNodeWithSelectors",
  "ClusterTrustBundle",
  "ClusterTrustBundleProjection",
  "PodCertificateRequest",
];

describeOnContainerd("projections on containerd", (installation) => {
  const featureGates = Object.fromEntries(GATES.map((gate) => [gate, true]));
  const cluster = clusterNode(installation, { config: { featureGates } });

  it("give a pod the authorities it asks for, and a certificate for a key made on the node", async () => {
    const { sim } = cluster.server;
    const pair = await lastValueFrom(createCertificates(systemClock).selfSigned("pod"));
    sim.put("serviceaccounts", { metadata: { namespace: "default", name: "default" } });
    sim.put("clustertrustbundles", {
      metadata: { name: "roots" },
      spec: { trustBundle: `roots:\n${pair.certificate}` },
    });
    const podCertificate = { signerName: "example.com/s", keyType: "ECDSAP256", credentialBundlePath: "pair.pem" };
    const sources = [{ clusterTrustBundle: { name: "roots", path: "ca.pem" } }, { podCertificate }];
    const volumeMounts = [{ name: "identity", mountPath: "/identity" }];
    cluster.bind("identified", {
      volumes: [{ name: "identity", projected: { sources } }],
      serviceAccountName: "default",
      containers: [serving("main", "cat /identity/ca.pem /identity/pair.pem; echo end", { volumeMounts })],
    });
    const request = await cluster.until("a request", () => sim.objects("podcertificaterequests")[0]);
    const at = "2100-01-01T00:00:00Z";
    const conditions = [{ type: "Issued", status: "True", reason: "Issued", message: "", lastTransitionTime: at }];
    const status = { conditions, certificateChain: pair.certificate, notBefore: at, beginRefreshAt: at, notAfter: at };
    const signed = { ...request, status } as unknown as PodCertificateRequest;
    await lastValueFrom(sim.client().update("podcertificaterequests", signed, { subresource: "status" }));
    const pod = await cluster.untilTold("identified", isReady, "Ready");
    const shown = (await cluster.node.untilOutput(pod, "main", "end")).join("\n");
    const key = createPublicKey(createPrivateKey(shown.slice(shown.indexOf("-----BEGIN PRIVATE KEY-----"))));
    expect(key.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
    const asked = Buffer.from(request.spec.stubPKCS10Request, "base64");
    expect(asked.includes(key.export({ type: "spki", format: "der" }))).toBe(true);
    const chain = shown.slice(shown.indexOf("-----END PRIVATE KEY-----"));
    expect(new X509Certificate(chain).fingerprint256).toBe(new X509Certificate(pair.certificate).fingerprint256);
    expect(shown.split("-----BEGIN CERTIFICATE-----").length - 1).toBe(4);
  });
});
