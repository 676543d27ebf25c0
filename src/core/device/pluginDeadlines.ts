/** How long calls to a device plugin may take. Upstream has a limit for PreStartContainer alone. */
import { type KubeletError, kubeletError } from "../errors.ts";
import { GrpcStatus, grpcFailureText } from "../grpcStatus.ts";

export const PLUGIN_OPTIONS_MS = 10_000;
/** GetPreferredAllocation. */
export const PREFERENCE_MS = 10_000;
/** Allocate. */
export const ALLOCATION_MS = 60_000;
export const PRE_START_MS = 30_000;

/** Returns the error of a call without an answer in time, in the words of gRPC's Go library. */
export const pluginTimeout = (): KubeletError =>
  kubeletError(
    "DeadlineExceeded",
    grpcFailureText({ status: GrpcStatus.deadlineExceeded, details: "context deadline exceeded" }),
  );
