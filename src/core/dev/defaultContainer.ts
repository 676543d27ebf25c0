/** Chooses the container of a command that names none. Upstream: podcmd.FindOrDefaultContainerByName of kubectl. */
import type { Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { allRegularFirst } from "../pod/containers.ts";
import { err, ok, type Result } from "../result.ts";

const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

/** A container, and a notice that explains the choice. */
export interface ChosenContainer {
  readonly name: string;
  readonly tty: boolean;
  readonly notice: string | undefined;
}

/**
 * Returns the container of this name; without a name, the container in the annotation, else the first. Errors:
 * NotFound.
 */
export function chosenContainer({ metadata, spec }: Pod, wanted: string | undefined): Result<ChosenContainer> {
  const init = spec.initContainers ?? [];
  const ephemeral = spec.ephemeralContainers ?? [];
  const all = allRegularFirst(spec);
  const listed = [
    ...spec.containers.map(({ name }) => name),
    ...ephemeral.map(({ name }) => `${name} (ephem)`),
    ...init.map(({ name }) => `${name} (init)`),
  ].join(", ");
  const annotated = metadata.annotations?.[DEFAULT_CONTAINER];
  const marked = annotated !== undefined && all.some(({ name }) => name === annotated) ? annotated : undefined;
  const name = wanted ?? marked ?? spec.containers[0]?.name ?? "";
  const found = all.find((each) => each.name === name);
  if (found === undefined) {
    return err(kubeletError("NotFound", `container ${name} not found in pod ${metadata.name}; it has ${listed}`));
  }
  const isObvious = wanted !== undefined || marked !== undefined || all.length === 1;
  const notice = isObvious ? undefined : `Defaulted container "${name}" out of: ${listed}`;
  return ok({ name, tty: found.tty === true, notice });
}
