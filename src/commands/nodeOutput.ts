/** Outputs of a running node to its caller. */
import type { Kubelet } from "../kubelet.ts";
import type { ListeningAddress } from "../server/serve.ts";

/** Outputs of a running node to its caller. */
export type NodeOutput =
  /** The kubelet runs; queries and drain work from now on. */
  | { readonly kind: "started"; readonly kubelet: Kubelet }
  | { readonly kind: "listening"; readonly server: ListeningServer; readonly at: ListeningAddress }
  /** The server is configured and stays off; the log says why. */
  | { readonly kind: "off"; readonly server: ListeningServer };

/** The servers of a node. */
export type ListeningServer = "healthz" | "readOnly" | "https";
