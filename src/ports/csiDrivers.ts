/** CSI drivers, as plugins that have registered with this kubelet. */
import type { IdentityDefinition, NodeDefinition } from "../gen/csi.ts";
import type { ServicePort } from "./cri.ts";

/**
 * The services of a driver. Every call has a deadline: 10 s for questions about the driver, 2 min for work on volumes.
 * Errors name the driver's answer; `Unimplemented` is a service or call that the driver does not have.
 */
export type CsiClient = ServicePort<IdentityDefinition["methods"]> & ServicePort<NodeDefinition["methods"]>;

/** Name and socket of a driver. */
export interface CsiAddress {
  readonly name: string;
  /** Path of its socket. */
  readonly endpoint: string;
  /** The call is about a volume of an in-tree kind that the driver replaces; default: it is not. */
  readonly isMigrated?: boolean;
}

export interface CsiDriverPort {
  /** Returns the client of a driver; it connects with each call. */
  at(driver: CsiAddress): CsiClient;
}
