/** Identities of containers and sandboxes for statistics. Pure. */
import { ContainerAttributes, PodSandboxAttributes } from "../../gen/cri.ts";
import type { ContainerSummary } from "../engine/answers.ts";
import { containerMetadata, sandboxMetadata, splitLabels } from "./names.ts";

type Named = Pick<ContainerSummary, "id" | "name" | "labels">;

/** Returns the identity of a container. */
export function containerAttributes({ id, name, labels }: Named): ContainerAttributes {
  const metadata = containerMetadata(name);
  return ContainerAttributes.fromPartial({
    id,
    ...(metadata === undefined ? {} : { metadata }),
    ...splitLabels(labels),
  });
}

/** Returns the identity of a sandbox. */
export function sandboxAttributes({ id, name, labels }: Named): PodSandboxAttributes {
  const metadata = sandboxMetadata(name);
  return PodSandboxAttributes.fromPartial({
    id,
    ...(metadata === undefined ? {} : { metadata }),
    ...splitLabels(labels),
  });
}
