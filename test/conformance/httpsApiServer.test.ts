/** The real client against the simulated API server behind HTTPS, by certificate, over both protocols. */
import { ADMIN } from "../../src/sim/apiServer/identity.ts";
import { startHttpsApiServer } from "../support/apiServer/httpsApiServer.ts";
import { openTestLane } from "../support/apiServer/testLane.ts";
import { apiServerConformance } from "./apiServer.ts";

for (const protocol of ["HTTP/2", "HTTP/1.1"]) {
  apiServerConformance(`client over ${protocol}`, async () => {
    const server = await startHttpsApiServer(protocol === "HTTP/1.1" ? { protocol: "http/1.1" } : {});
    server.sim.put("nodes", { metadata: { name: "n1" } });
    server.sim.put("namespaces", { metadata: { name: "conformance" } });
    const admin = openTestLane(server, { identity: await server.clientCertificate(ADMIN) });
    const node = openTestLane(server, {
      identity: await server.clientCertificate({ kind: "node", nodeName: "n1" }),
    });
    return {
      port: admin.port,
      nodePort: node.port,
      node: "n1",
      namespace: "conformance",
      forgetHistory: async () => server.sim.compact(),
      close: async () => {
        admin.close();
        node.close();
        await server.close();
      },
    };
  });
}
