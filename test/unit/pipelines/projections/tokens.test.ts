/** Tokens of service accounts, from the simulated API server, as a node may ask for them. */
import { describe, expect, it } from "vitest";
import { createTokens } from "../../../../src/pipelines/projections/tokens.ts";
import { createPrng } from "../../../../src/sim/prng.ts";
import { newPod, simApi } from "../../../support/simApi.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const ref = { namespace: "default", name: "web" };

describe("tokens of the simulated server", () => {
  it("are issued for a pod of the node, and for no other UID of its name", () => {
    const { server, clock, node, run } = simApi();
    server.put("serviceaccounts", { metadata: { namespace: "default", name: "builder" } });
    server.put("pods", newPod("web", { serviceAccountName: "builder" }));
    server.schedule(ref, "node-1");
    const prng = createPrng("tokens");
    const rng = { next: () => prng.next(), uuid: () => prng.uuid() };
    const tokens = createTokens({ api: node("node-1"), clock, rng, log: recordingTelemetry().log });
    const get = (uid: string) =>
      run(
        tokens.get({
          namespace: "default",
          serviceAccount: "builder",
          audiences: [],
          expirationSeconds: 3607,
          pod: { name: "web", uid },
        }),
      );
    const uid = server.object("pods", ref)?.metadata?.uid ?? "";
    const own = get(uid);
    const other = get("another");
    expect([own.ok && own.value.expiresAt - clock.wallTime() > 3_600_000, other.ok]).toEqual([true, false]);
  });
});
