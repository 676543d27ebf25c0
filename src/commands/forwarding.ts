/** Exec, attach and port-forward streams of the node's servers: their idle timeout, and the memory of received data. */
import type { KubeletConfiguration } from "../core/config/kubeletConfiguration.ts";
import type { Forwarding } from "../server/upgrades.ts";
import { nodeHeap } from "./nodeHeap.ts";

/**
 * Node allocates a buffer for all that it reads from a client. V8 counts these buffers towards the limit of the old generation
 * until a collection of the young one frees them; at that limit it would collect the whole heap, in vain.
 */
const COLLECT_AFTER_BYTES = 4_194_304;

let uncollected = 0;

function onReceived(bytes: number): void {
  uncollected += bytes;
  if (uncollected < COLLECT_AFTER_BYTES) return;
  uncollected = 0;
  nodeHeap.collectYoung();
}

/** Returns the options of the streams of a server. */
export const forwardingOf = ({
  streamingConnectionIdleTimeout: idleTimeoutMs,
}: Pick<KubeletConfiguration, "streamingConnectionIdleTimeout">): Forwarding => ({ idleTimeoutMs, onReceived });
