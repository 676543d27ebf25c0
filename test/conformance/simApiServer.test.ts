import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { systemClock } from "../../src/sources/systemClock.ts";
import { apiServerConformance } from "./apiServer.ts";

apiServerConformance("simulated", async () => {
  const server = createSimApiServer({ clock: systemClock, latency: () => 1 });
  server.put("nodes", { metadata: { name: "n1" } });
  server.put("namespaces", { metadata: { name: "conformance" } });
  return {
    port: server.client(),
    nodePort: server.client({ kind: "node", nodeName: "n1" }),
    node: "n1",
    namespace: "conformance",
    forgetHistory: async () => server.compact(),
    close: async () => server.cutWatches(),
  };
});
