import { expect, it } from "vitest";
import { type PatchSchema, patchSchemaOf } from "../../../../src/core/api/patchSchema.ts";

/** The fields that merge in their own way, one a line. */
function merges(schema: PatchSchema, path: string): readonly string[] {
  const { mergeKey, isSet = false, retainKeys = false, fields = {} } = schema;
  const how = [
    ...(mergeKey === undefined ? [] : [mergeKey]),
    ...(isSet ? ["set"] : []),
    ...(retainKeys ? ["retain"] : []),
  ];
  const below = Object.entries(fields).flatMap(([name, field]) => merges(field, `${path}.${name}`));
  return [...(how.length === 0 ? [] : [`${path.slice(1)} ${how.join(" ")}`]), ...below];
}

const METADATA = ["metadata.ownerReferences uid", "metadata.finalizers set"];
const containers = (field: string) => [
  `spec.${field} name`,
  `spec.${field}.ports containerPort`,
  `spec.${field}.env name`,
  `spec.${field}.volumeMounts mountPath`,
  `spec.${field}.volumeDevices devicePath`,
];

it.each([
  [
    "Pod",
    [
      "spec.volumes name retain",
      ...containers("initContainers"),
      ...containers("containers"),
      ...containers("ephemeralContainers"),
      "spec.imagePullSecrets name",
      "spec.hostAliases ip",
      "spec.topologySpreadConstraints topologyKey",
      "spec.schedulingGates name",
      "spec.resourceClaims name retain",
      "status.conditions type",
      "status.hostIPs ip",
      "status.podIPs ip",
      "status.resourceClaimStatuses name retain",
    ],
  ],
  ["Node", ["spec.podCIDRs set", "status.conditions type", "status.addresses type"]],
  ["Service", ["spec.ports port", "status.conditions type"]],
  ["ServiceAccount", ["secrets name"]],
  ["Namespace", ["status.conditions type"]],
  ["PersistentVolumeClaim", ["status.conditions type"]],
  ["CSINode", ["spec.drivers name"]],
  ["Lease", []],
])("%s merges lists as upstream's types say", (kind, expected) => {
  expect(merges(patchSchemaOf(kind), "")).toEqual([...METADATA, ...expected]);
});
