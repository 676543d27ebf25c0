/** PEM files as upstream's certificate store keeps them: the certificates of a chain, then the key, in one file. */
import type { TlsIdentity } from "../api/clientConfig.ts";
import { civilTime, padded } from "../telemetry/civilTime.ts";
import type { EpochMs } from "../ids.ts";
import { pemBlocks } from "./pemBlocks.ts";

/** The blocks of a kind, joined; empty when there is none. */
function blocks(text: string, isWanted: (label: string) => boolean): string {
  const found = pemBlocks(text).filter(({ label }) => isWanted(label));
  return found.map((block) => `${block.text}\n`).join("");
}

/** The certificates in a text, each with a line break at its end. */
export const authoritiesIn = (text: string): readonly string[] =>
  pemBlocks(text).flatMap((block) => (block.label === "CERTIFICATE" ? [`${block.text}\n`] : []));

/** The pair in a text that has certificate and key; undefined when one of them is missing. */
export function pairIn(text: string): TlsIdentity | undefined {
  const certificate = blocks(text, (label) => label === "CERTIFICATE");
  const key = blocks(text, (label) => label.endsWith("PRIVATE KEY"));
  return certificate === "" || key === "" ? undefined : { certificate, key };
}

/** The text of a pair: its certificates, without what else a signer may have sent along, and its key. */
export const pairText = ({ certificate, key }: TlsIdentity): string =>
  `${blocks(certificate, (label) => label === "CERTIFICATE")}${key.trimEnd()}\n`;

/** The file that always leads to the pair in use. */
export const currentPairPath = (directory: string, prefix: string): string => `${directory}/${prefix}-current.pem`;

/** The file of a pair received at an instant; UTC, where upstream uses the zone of the node. */
export function datedPairPath(directory: string, prefix: string, at: EpochMs): string {
  const { year, month, day, hour, minute, second } = civilTime(at);
  const parts = [padded(year, 4), ...[month, day, hour, minute, second].map((part) => padded(part, 2))];
  return `${directory}/${prefix}-${parts.join("-")}.pem`;
}
