/** Probe outcomes of server responses. Upstream: pkg/probe/http, pkg/probe/grpc. */
import type { ProbeOutcome } from "./probeTypes.ts";

const failure = (output: string): ProbeOutcome => ({ result: "failure", output });

/** Returns the outcome of an HTTP response: 2xx succeeds, 3xx succeeds with a warning. */
export function httpOutcome(status: number, body: string): ProbeOutcome {
  // Omit the body of an error response: it may contain secrets of the application.
  if (status < 200 || status >= 400) return failure(`HTTP probe failed with statuscode: ${status}`);
  if (status < 300) return { result: "success", output: body };
  return { result: "warning", output: `Probe terminated redirects, Response body: ${body}` };
}

/** Returns the outcome of a gRPC health status. */
export const grpcOutcome = (status: string): ProbeOutcome =>
  status === "SERVING"
    ? { result: "success", output: "service healthy" }
    : failure(`service unhealthy (responded with "${status}")`);
