/** All flags of the kubelet, by name. */
import { CONFIG_FLAGS } from "./configFlags.ts";
import type { FlagSpec } from "./flagSpec.ts";
import { OWN_FLAGS } from "./ownFlags.ts";

/** Every flag of the daemon. */
export const KUBELET_FLAGS: readonly FlagSpec[] = [...OWN_FLAGS, ...CONFIG_FLAGS];

/** `node-labels` as a property name: `nodeLabels`. */
export const propertyOfFlag = (name: string): string =>
  name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
