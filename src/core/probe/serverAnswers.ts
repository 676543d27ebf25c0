/** What the answer of a server says to a probe. Upstream: pkg/probe/http, pkg/probe/grpc. */
import type { ProbeOutcome } from "./probeTypes.ts";

const failure = (output: string): ProbeOutcome => ({ result: "failure", output });

/** An HTTP response: 2xx and 3xx are well, the latter with a warning. */
export function httpOutcome(status: number, body: string): ProbeOutcome {
  // The body of a refusal may hold secrets of the application: it is not told.
  if (status < 200 || status >= 400) return failure(`HTTP probe failed with statuscode: ${status}`);
  if (status < 300) return { result: "success", output: body };
  return { result: "warning", output: `Probe terminated redirects, Response body: ${body}` };
}

/** A status of the gRPC health protocol, by name. */
export const grpcOutcome = (status: string): ProbeOutcome =>
  status === "SERVING"
    ? { result: "success", output: "service healthy" }
    : failure(`service unhealthy (responded with "${status}")`);
