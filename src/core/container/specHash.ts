/**
 * Hash of the fields whose change restarts a container: name and image. Equal to upstream's, so that neither kubelet
 * restarts containers that the other started. Upstream: HashContainer in pkg/kubelet/container/helpers.go.
 */
import type { Container } from "../api.ts";
import { perObject } from "../perObject.ts";
import { goJson } from "./goJson.ts";

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const utf8 = new TextEncoder();

function fnv32a(text: string): number {
  let hash = FNV_OFFSET;
  for (const byte of utf8.encode(text)) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0;
  return hash;
}

/** Returns the hash in the form of the `io.kubernetes.container.hash` annotation: hex, no leading zeros. */
export const containerSpecHash = perObject((container: Pick<Container, "name" | "image">): string => {
  const json = utf8.encode(goJson({ image: container.image ?? "", name: container.name }));
  // Upstream hashes the Go dump of the JSON's bytes, not the bytes themselves.
  return fnv32a(`([]uint8)[${json.join(" ")}]`).toString(16);
});
