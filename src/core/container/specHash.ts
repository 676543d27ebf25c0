/**
 * Hash of the fields whose change restarts a container: name and image. Equal to upstream's, so that neither kubelet
 * restarts containers that the other started. Upstream: HashContainer in pkg/kubelet/container/helpers.go.
 */
import type { Container } from "../api.ts";
import { fnv32a } from "../fnv32a.ts";
import { perObject } from "../perObject.ts";
import { goJson } from "./goJson.ts";

const utf8 = new TextEncoder();

/** Returns the hash in the form of the `io.kubernetes.container.hash` annotation: hex, no leading zeros. */
export const containerSpecHash = perObject((container: Pick<Container, "name" | "image">): string => {
  const json = utf8.encode(goJson({ image: container.image ?? "", name: container.name }));
  // Upstream hashes the Go dump of the JSON's bytes, not the bytes themselves.
  return fnv32a(`([]uint8)[${json.join(" ")}]`).toString(16);
});
