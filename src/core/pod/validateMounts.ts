/** Validates volume mounts and block devices of a container. */
import type { Container, PodSpec } from "../api.ts";
import {
  type FieldProblem,
  type FieldProblems,
  forbidden,
  invalid,
  invalidEach,
  NO_VOLUME,
  notFound,
  required,
  unsupported,
} from "./fieldProblem.ts";
import { noBacksteps, relativePath } from "./validateFormats.ts";
import { findNamed } from "../findNamed.ts";

type Mount = NonNullable<Container["volumeMounts"]>[number];
type Volume = NonNullable<PodSpec["volumes"]>[number];
type Mounting = Pick<Container, "volumeMounts" | "volumeDevices" | "securityContext">;

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const RECURSIVE_READ_ONLY = ["Disabled", "Enabled", "IfPossible"];

/** Validates `volumeMounts` against the pod's volumes. */
export function* validateMounts(container: Mounting, volumes: readonly Volume[], path: string): FieldProblems {
  const paths = new Set<string>();
  const devices = container.volumeDevices ?? [];
  const devicePaths = new Set(devices.map(({ devicePath }) => devicePath));
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const at = `${path}[${index}]`;
    const { name = "", mountPath = "" } = mount;
    const volume = findNamed(volumes, name);
    if (name === "") yield required(`${at}.name`);
    else if (volume === undefined) yield notFound(`${at}.name`, name, NO_VOLUME);
    if (mountPath === "") yield required(`${at}.mountPath`);
    else if (paths.has(mountPath)) yield invalid(`${at}.mountPath`, mountPath, "must be unique");
    paths.add(mountPath);
    if (name !== "" && findNamed(devices, name) !== undefined) {
      yield invalid(`${at}.name`, name, "must not already exist in volumeDevices");
    }
    if (mountPath !== "" && devicePaths.has(mountPath)) {
      yield invalid(`${at}.mountPath`, mountPath, "must not already exist as a path in volumeDevices");
    }
    yield* validateSubPath(mount, at);
    yield* validatePropagation(mount, container, at);
  }
}

function* validateSubPath(mount: Mount, at: string): FieldProblems {
  const { subPath = "", subPathExpr = "" } = mount;
  yield* invalidEach(`${at}.subPath`, subPath, relativePath(subPath));
  yield* invalidEach(`${at}.subPathExpr`, subPathExpr, relativePath(subPathExpr));
  if (subPath !== "" && subPathExpr !== "") {
    yield invalid(`${at}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive");
  }
}

function* validatePropagation(mount: Mount, container: Mounting, at: string): FieldProblems {
  const { mountPropagation: propagation, recursiveReadOnly } = mount;
  if (propagation !== undefined && !PROPAGATIONS.includes(propagation)) {
    yield unsupported(`${at}.mountPropagation`, propagation, PROPAGATIONS);
  }
  if (propagation === "Bidirectional" && container.securityContext?.privileged !== true) {
    yield forbidden(
      `${at}.mountPropagation`,
      "Bidirectional mount propagation is available only to privileged containers",
    );
  }
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled") return;
  const field = `${at}.recursiveReadOnly`;
  if (!RECURSIVE_READ_ONLY.includes(recursiveReadOnly)) {
    yield unsupported(field, recursiveReadOnly, RECURSIVE_READ_ONLY);
    return;
  }
  if (mount.readOnly !== true) yield forbidden(field, "may only be specified when readOnly is true");
  if (propagation !== undefined && propagation !== "None") {
    yield forbidden(field, "may only be specified when mountPropagation is None or not specified");
  }
}

const unique = (seen: Set<string>, field: string, value: string): readonly FieldProblem[] => {
  const problems = seen.has(value) ? [invalid(field, value, "must be unique")] : [];
  if (value !== "") seen.add(value);
  return problems;
};

/** Validates `volumeDevices` against the pod's volumes. */
export function* validateDevices(container: Mounting, volumes: readonly Volume[], path: string): FieldProblems {
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, device] of (container.volumeDevices ?? []).entries()) {
    const at = `${path}[${index}]`;
    const { name = "", devicePath = "" } = device;
    const volume = findNamed(volumes, name);
    if (name === "") yield required(`${at}.name`);
    else if (volume === undefined) yield notFound(`${at}.name`, name, NO_VOLUME);
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      yield invalid(
        `${at}.name`,
        name,
        "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
      );
    }
    yield* unique(names, `${at}.name`, name);
    if (devicePath === "") yield required(`${at}.devicePath`);
    yield* unique(paths, `${at}.devicePath`, devicePath);
    yield* invalidEach(`${at}.devicePath`, devicePath, noBacksteps(devicePath));
  }
}
