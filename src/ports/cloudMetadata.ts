/** The metadata service of the cloud that the node runs in. Upstream: the Instances interface of k8s.io/cloud-provider. */
import type { CloudInstance } from "../core/cloud/cloudInstance.ts";
import type { Call } from "./call.ts";

export interface CloudMetadata {
  /**
   * Asks the service for the instance of this node. The caller sets the deadline. Errors: Unavailable without an answer
   * or with one that fails, ResourceExhausted for one that is too long, InvalidArgument for one that describes no node.
   */
  instance(): Call<CloudInstance>;
}
