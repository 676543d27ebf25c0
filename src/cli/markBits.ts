/**
 * The bits of packet marks for which the node has chains in iptables. Upstream's 1.36 ignores both fields. Differs from
 * upstream: a field that a file sets asks for the chains of that mark, for clusters with components that still use them.
 */
import type { ConfigProblem } from "../core/config/configProblem.ts";
import type { KubeletConfiguration } from "../core/config/kubeletConfiguration.ts";
import { isJsonObject } from "../core/json.ts";
import type { MarkBits } from "../core/network/utilChains.ts";
import type { ConfigDocument } from "./configDocument.ts";

/** Returns the bits that the files set: the last file with a field counts, and null in it takes the field back. */
export function markBits(config: KubeletConfiguration, documents: readonly Pick<ConfigDocument, "wire">[]): MarkBits {
  const isSet = (field: "iptablesMasqueradeBit" | "iptablesDropBit"): boolean => {
    const last = documents.map(({ wire }) => wire).findLast((wire) => isJsonObject(wire) && field in wire);
    return isJsonObject(last) && (last[field] ?? undefined) !== undefined;
  };
  return {
    ...(isSet("iptablesMasqueradeBit") ? { masquerade: config.iptablesMasqueradeBit } : {}),
    ...(isSet("iptablesDropBit") ? { drop: config.iptablesDropBit } : {}),
  };
}

/** Returns the problem of two marks with the same bit: packets to be masqueraded would be dropped. */
export const markBitProblems = ({ masquerade, drop }: MarkBits): readonly ConfigProblem[] =>
  drop === undefined || drop !== masquerade
    ? []
    : [{ path: ["iptablesDropBit"], reason: `must differ from iptablesMasqueradeBit, got ${drop} for both` }];
