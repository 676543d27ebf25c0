/** Checks which streams a request for exec or attach enables. */
import { status } from "@grpc/grpc-js";
import type { AttachRequest, ExecRequest } from "../gen/cri.ts";
import { invalidArgument, RpcFault } from "../grpcServer/rpcFault.ts";
import type { WantedStreams } from "./commandStreams.ts";

/** Returns the streams. Throws INVALID_ARGUMENT for none, and for a terminal with a standard error of its own. */
export function checkStreams({ stdin, stdout, stderr, tty }: ExecRequest | AttachRequest): WantedStreams {
  if (tty && stderr) throw invalidArgument("tty", "tty and stderr cannot both be true");
  if (!stdin && !stdout && !stderr) {
    throw new RpcFault(status.INVALID_ARGUMENT, "one of stdin, stdout, or stderr must be set");
  }
  return { stdin, stdout, stderr, tty };
}
