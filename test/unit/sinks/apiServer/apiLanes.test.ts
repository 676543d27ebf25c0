/** Lanes to one server: whatever waits in one of them, the others go on. */
import { firstValueFrom, of, toArray } from "rxjs";
import { describe, expect, it, onTestFinished } from "vitest";
import { createApiLanes } from "../../../../src/sinks/apiServer/apiLanes.ts";
import { startHttpsApiServer } from "../../../support/apiServer/httpsApiServer.ts";
import { realClock } from "../../../support/realClock.ts";
import { newPod } from "../../../support/simApi.ts";

/** A single request of pods and objects, and a single one of events, ever: what comes second waits for as long as the test lasts. */
const ONCE = { qps: 1e-6, burst: 1 };

async function usedUpLanes() {
  const server = await startHttpsApiServer();
  onTestFinished(() => server.close());
  server.tokens.set("node", { kind: "node", nodeName: "n1" });
  server.sim.put("nodes", { metadata: { name: "n1" } });
  server.sim.put("pods", newPod("web", { nodeName: "n1" }));
  const { lanes, close } = createApiLanes({
    endpoint: {
      server: server.url,
      certificateAuthority: server.authority.certificate,
      tlsServerName: undefined,
      insecureSkipTlsVerify: false,
      proxyUrl: undefined,
    },
    identity: undefined,
    authorization: { headers: () => of({ authorization: "Bearer node" }), rejected: () => {} },
    rate: ONCE,
    eventRate: ONCE,
    heartbeatDeadlineMs: 10_000,
    userAgent: "rxlet/test",
    clock: realClock,
    observer: { onRequest: () => {}, onTurn: () => {} },
  });
  onTestFinished(close);
  await firstValueFrom(lanes.podTurn().pipe(toArray()));
  const waiting: string[] = [];
  const wait = (name: string) => ({ complete: () => waiting.push(name), next: () => waiting.push(name) });
  const subscriptions = [
    lanes.podTurn().subscribe(wait("pods")),
    lanes.objects.get("pods", { namespace: "default", name: "web" }).subscribe(wait("objects")),
  ];
  onTestFinished(() => subscriptions.forEach((each) => each.unsubscribe()));
  return { lanes, waiting };
}

describe("the lanes to an API server", () => {
  it("let heartbeats and events pass while everything of pods and objects waits for its rate", async () => {
    const { lanes, waiting } = await usedUpLanes();
    const metadata = { namespace: "default", name: "web.1" };
    const involvedObject = { kind: "Pod", namespace: "default", name: "web" };
    const event = await firstValueFrom(lanes.events.create("events", { metadata, involvedObject }));
    const lease = { metadata: { namespace: "kube-node-lease", name: "n1" }, spec: { holderIdentity: "n1" } };
    const renewed = await firstValueFrom(lanes.heartbeats.create("leases", lease));
    const nodes = await Promise.all([1, 2, 3].map(() => firstValueFrom(lanes.heartbeats.get("nodes", { name: "n1" }))));
    expect([event.metadata.name, renewed.metadata?.name, nodes.map(({ metadata: { name } = {} }) => name)]).toEqual([
      "web.1",
      "n1",
      ["n1", "n1", "n1"],
    ]);
    expect(waiting).toEqual([]);
  });
});
