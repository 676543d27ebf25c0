/**
 * An HTTP/2 connection to a gRPC server on a unix socket. Owned by its opener; reconnects automatically after pauses
 * of 50 ms to 1 s. Bounds: messages of 16 MiB each way. Upstream: cri-client's dial options.
 */
import { Client, credentials } from "@grpc/grpc-js";
import type { ChannelOptions } from "@grpc/grpc-js";
import { kubeletError } from "../core/errors.ts";

/** Largest message in either direction, in bytes: the limit of upstream's client and of containerd. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Longest path in bytes that sockaddr_un can hold. */
const LONGEST_SOCKET_PATH = 107;

const OPTIONS: ChannelOptions = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 1000,
  // A path is not a valid authority; Go servers reject it.
  "grpc.default_authority": "localhost",
  "grpc.service_config_disable_resolution": 1,
  // Clients of one socket are independent: closing one never touches the other.
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_channelz": 0,
  // A long list arrives without waiting for window updates every 64 KiB.
  "grpc-node.flow_control_window": 4 * 1024 * 1024,
};

/**
 * Absolute path of `unix:///path`, `unix:/path` or `/path`. Throws a KubeletError (InvalidArgument) for anything else
 * and for paths no unix socket can have.
 */
function socketPath(endpoint: string): string {
  const path = endpoint.startsWith("unix:") ? endpoint.slice("unix:".length).replace(/^\/\/(?=\/)/, "") : endpoint;
  if (!path.startsWith("/") || path.startsWith("//")) {
    throw kubeletError("InvalidArgument", `endpoint "${endpoint}": want unix:// and an absolute path`);
  }
  if (Buffer.byteLength(path) > LONGEST_SOCKET_PATH) {
    throw kubeletError(
      "InvalidArgument",
      `endpoint "${endpoint}": a socket path has at most ${LONGEST_SOCKET_PATH} bytes`,
    );
  }
  return path;
}

/**
 * Creates a channel that connects on the first call. `maxReceivedBytes` bounds each message of the server. Throws as
 * `socketPath` does.
 */
export const openChannel = (endpoint: string, maxReceivedBytes = MAX_MESSAGE_BYTES): Client =>
  new Client(`unix:${socketPath(endpoint)}`, credentials.createInsecure(), {
    ...OPTIONS,
    "grpc.max_receive_message_length": maxReceivedBytes,
  });
