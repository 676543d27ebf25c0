import { describe, expect, it } from "vitest";
import {
  type Credentials,
  credentialsState,
  decidedCredentials,
  podCertificateRequest,
  type PodCertificateRequest,
  usableCredentials,
} from "../../../../src/core/cert/podCertificate.ts";
import { epochMs } from "../../../../src/core/ids.ts";

const MINUTE_MS = 60_000;
const issued: Credentials = {
  kind: "issued",
  key: "KEY",
  chain: "CHAIN",
  beginRefreshAt: epochMs(60 * MINUTE_MS),
  notAfter: epochMs(120 * MINUTE_MS),
};
const refused: Credentials = { kind: "refused", how: "Denied", reason: "R", message: 'a "word"' };

describe("credentials of a pod", () => {
  it.each<[Credentials, number, string]>([
    [{ kind: "none" }, 0, "not_yet_issued"],
    [refused, 0, "denied"],
    [{ ...refused, how: "Failed" }, 0, "failed"],
    [issued, 0, "fresh"],
    [issued, 70 * MINUTE_MS, "fresh"],
    [issued, 70 * MINUTE_MS + 1, "overdue_for_refresh"],
    [issued, 120 * MINUTE_MS, "overdue_for_refresh"],
    [issued, 120 * MINUTE_MS + 1, "expired"],
  ])("%j at %d ms are %s", (credentials, now, state) => {
    expect(credentialsState(credentials, epochMs(now))).toBe(state);
  });

  it("are usable once they are issued, however old", () => {
    expect(usableCredentials(issued)).toEqual({ ok: true, value: issued });
    const why = (credentials: Credentials | undefined) => {
      const usable = usableCredentials(credentials);
      return usable.ok ? "" : usable.error.message;
    };
    expect([why(undefined), why({ kind: "none" }), why(refused)]).toEqual([
      "credential bundle is not issued yet",
      "credential bundle is not issued yet",
      'PodCertificateRequest was permanently denied: reason="R" message="a \\"word\\""',
    ]);
  });
});

describe("outcome of a request", () => {
  const request = (status?: object) => ({ status }) as unknown as PodCertificateRequest;
  const issue = {
    conditions: [{ type: "Issued" }],
    certificateChain: "x\n-----BEGIN A-----\nQUJD\n-----END A-----\n",
    beginRefreshAt: "1970-01-01T00:01:00Z",
    notAfter: "1970-01-01T00:02:00Z",
  };

  it.each<[string, object | undefined, unknown]>([
    ["nothing", undefined, undefined],
    ["nothing either", { conditions: [{ type: "Looked" }] }, undefined],
    ["no", { conditions: [{ type: "Denied" }] }, { kind: "refused", how: "Denied", reason: "", message: "" }],
    [
      "that it cannot",
      { conditions: [{ type: "Failed", reason: "R", message: "M" }] },
      { kind: "refused", how: "Failed", reason: "R", message: "M" },
    ],
    ["something without its times", { ...issue, notAfter: "soon" }, undefined],
    [
      "yes",
      issue,
      {
        kind: "issued",
        key: "KEY",
        chain: "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n",
        beginRefreshAt: 60_500,
        notAfter: 120_000,
      },
    ],
  ])("is %s", (_what, status, decision) => {
    expect(decidedCredentials(request(status), "KEY", 500)).toEqual(decision);
  });
});

describe("the request of a pod certificate", () => {
  it("belongs to the pod and names its identities", () => {
    const projection = { signerName: "example.com/web", keyType: "ED25519", maxExpirationSeconds: 7_200 };
    const pod = { namespace: "demo", name: "web", uid: "uid-1" };
    const wish = { pod, serviceAccount: "runner", volume: "v", index: 0, projection };
    const known = { serviceAccountUid: "sa-1", nodeName: "n1", nodeUid: "node-1" };
    expect(podCertificateRequest(wish, known, "UEtDUzEw")).toEqual({
      metadata: {
        namespace: "demo",
        generateName: "req-",
        ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "web", uid: "uid-1" }],
      },
      spec: {
        signerName: "example.com/web",
        podName: "web",
        podUID: "uid-1",
        serviceAccountName: "runner",
        serviceAccountUID: "sa-1",
        nodeName: "n1",
        nodeUID: "node-1",
        maxExpirationSeconds: 7_200,
        stubPKCS10Request: "UEtDUzEw",
      },
    });
  });
});
