/** The PodKeys port without cryptography: keys are numbered, and requests name their key. */
import { encodeBase64 } from "../../core/base64.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PodKeys } from "../../ports/podKeys.ts";
import { later } from "../runtime/simCall.ts";

/** Creates the port; all operations answer at once. */
export function createSimPodKeys(clock: Clock): PodKeys {
  let keys = 0;
  return {
    newKey: (keyType) =>
      later(clock, 0, () => {
        keys += 1;
        const name = encodeBase64(new TextEncoder().encode(`${keyType} ${keys}`));
        return { pem: `-----BEGIN PRIVATE KEY-----\n${name}\n-----END PRIVATE KEY-----\n`, request: name };
      }),
  };
}
