/** The probers of a node: HTTP, TCP and gRPC from the host network, commands through the runtime. */
import type { Clock } from "../../ports/clock.ts";
import type { RuntimeService } from "../../ports/cri.ts";
import type { Probers } from "../../ports/probers.ts";
import { createExecProbe } from "./exec.ts";
import { grpcProbe } from "./grpc.ts";
import { createNameLookup } from "./nameLookup.ts";
import { httpHook, httpProbe } from "./http.ts";
import { tcpProbe } from "./tcp.ts";

/** Creates the probers. `clock` must run in real time, because the network does. */
export const createProbers = (runtime: Pick<RuntimeService, "execSync">, clock: Clock): Probers => {
  const lookup = createNameLookup();
  return {
    http: (request) => httpProbe(request, clock, lookup),
    tcp: (request) => tcpProbe(request, clock, lookup),
    // gRPC probes use the address of the pod, so there is no name to look up.
    grpc: (request) => grpcProbe(request, clock),
    exec: createExecProbe(runtime),
    httpHook: (target) => httpHook(target, clock, lookup),
  };
};
