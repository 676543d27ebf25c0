/**
 * SHA-256, for names and hashes in upstream's layout. The only import of a Node module in core: `hash` is a pure function
 * (docs/decisions/0008-digests-by-node.md).
 */
import { hash } from "node:crypto";

/** Returns the digest of a text in UTF-8, as 64 hexadecimal digits. */
export const sha256 = (text: string): string => hash("sha256", text, "hex");
