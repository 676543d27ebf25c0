import { describe, expect, it } from "vitest";
import { CLIENT_USE, signingRequest } from "../../../src/core/cert/signingRequest.ts";
import { simApi } from "../../support/simApi.ts";

describe("a bootstrap token at the simulated API server", () => {
  it("may ask for a certificate under a digest's name and follow what becomes of it, and nothing else", () => {
    const { server, run, refusal } = simApi();
    const client = server.client({ kind: "bootstrap", tokenId: "abcdef" });
    const name = "node-csr-AB_c-9";
    const made = run(client.create("certificatesigningrequests", signingRequest(CLIENT_USE, "PEM", name)));
    server.signCertificate(name, btoa("issued"));
    const found = run(client.get("certificatesigningrequests", { name }));
    expect([made.spec.username, found.status?.certificate]).toEqual(["system:bootstrap:abcdef", btoa("issued")]);
    expect([
      refusal(client.list("pods")).split(": ")[0],
      refusal(client.update("certificatesigningrequests", found, { subresource: "approval" })).split(": ")[0],
      refusal(client.get("nodes", { name: "n1" })).split(": ")[0],
    ]).toEqual(["PermissionDenied/Forbidden", "PermissionDenied/Forbidden", "PermissionDenied/Forbidden"]);
  });
});
