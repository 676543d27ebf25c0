import { expect, it } from "vitest";
import {
  CLIENT_USE,
  digestedRequestName,
  signingRequest,
  signingVerdict,
} from "../../../../src/core/cert/signingRequest.ts";

const condition = (type: string, more: object = {}) => ({ type, status: "True", ...more });
const WHY = { reason: "R", message: "no" };

it.each([
  ["denied", { conditions: [condition("Denied", WHY)] }, "is denied, reason: R, message: no"],
  ["failed", { conditions: [condition("Failed", WHY)] }, "failed, reason: R, message: no"],
  ["denied without a reason", { conditions: [condition("Denied")] }, "is denied, reason: , message: "],
  [
    "approved, then failed",
    { conditions: [condition("Approved"), condition("Failed", WHY)], certificate: btoa("x") },
    "failed, reason: R, message: no",
  ],
])("a request that is %s is refused", (_, status, words) => {
  const request = { metadata: { name: "csr-1", uid: "u" }, spec: signingRequest(CLIENT_USE, "", "").spec, status };
  const message = `certificate signing request ${words}`;
  expect(signingVerdict(request, "u")).toEqual({ kind: "refused", message });
  expect(signingVerdict(request, "other")).toEqual({ kind: "refused", message: 'csr "csr-1" changed UIDs' });
});

it("an issued certificate is decoded", () => {
  const status = { conditions: [condition("Approved")], certificate: btoa("CHAIN\n") };
  const request = { metadata: { uid: "u" }, spec: signingRequest(CLIENT_USE, "", "").spec, status };
  expect(signingVerdict(request, "u")).toEqual({ kind: "issued", certificate: "CHAIN\n" });
});

it("the name of a request is its digest in URL-safe base64 without padding", () => {
  expect(digestedRequestName(new Uint8Array([251, 255, 254, 1]))).toBe("node-csr--__-AQ");
});
