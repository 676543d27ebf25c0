/** PEM files in the layout of upstream's certificate store: the certificates of a chain, then the key, in one file. */
import type { TlsIdentity } from "../api/clientConfig.ts";
import { civilTime, padded } from "../time/civilTime.ts";
import type { EpochMs } from "../ids.ts";
import { pemBlocks } from "./pemBlocks.ts";

/** Returns the blocks with matching labels, joined; empty when there are none. */
function blocks(text: string, isWanted: (label: string) => boolean): string {
  const found = pemBlocks(text).filter(({ label }) => isWanted(label));
  return found.map((block) => `${block.text}\n`).join("");
}

/** Returns the certificates in a text, each ending with a line break. */
export const authoritiesIn = (text: string): readonly string[] =>
  pemBlocks(text).flatMap((block) => (block.label === "CERTIFICATE" ? [`${block.text}\n`] : []));

/** Returns the certificates and the key in a text; undefined when either is missing. */
export function pairIn(text: string): TlsIdentity | undefined {
  const certificate = blocks(text, (label) => label === "CERTIFICATE");
  const key = blocks(text, (label) => label.endsWith("PRIVATE KEY"));
  return certificate === "" || key === "" ? undefined : { certificate, key };
}

/**
 * Returns the file content for a pair: its certificates, without other blocks that a signer may have added, and its
 * key.
 */
export const pairText = ({ certificate, key }: TlsIdentity): string =>
  `${blocks(certificate, (label) => label === "CERTIFICATE")}${key.trimEnd()}\n`;

/** Returns the path of the link to the current pair. */
export const currentPairPath = (directory: string, prefix: string): string => `${directory}/${prefix}-current.pem`;

/** Returns the path for a pair received at this time. Differs from upstream: in UTC, not in the node's time zone. */
export function datedPairPath(directory: string, prefix: string, at: EpochMs): string {
  const { year, month, day, hour, minute, second } = civilTime(at);
  const parts = [padded(year, 4), ...[month, day, hour, minute, second].map((part) => padded(part, 2))];
  return `${directory}/${prefix}-${parts.join("-")}.pem`;
}
