/** Requests to a CSI driver about a volume. Upstream: csi_client.go of pkg/volume/csi. */
import type { Pod } from "../api.ts";
import { goJson } from "../container/goJson.ts";
import { toKubeletError } from "../errors.ts";
import {
  type NodeExpandVolumeRequest,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
  type VolumeCapability,
  VolumeCapability_AccessMode_Mode as Mode,
} from "../../gen/csi.ts";
import type { ServiceAccountToken, TokenWish } from "../token/serviceAccountToken.ts";
import { formatInstant } from "../time/civilTime.ts";
import type { CsiDriverFacts } from "./csiDriverFacts.ts";
import { globalMount } from "./csiLayout.ts";
import { contextOption, NO_LABEL } from "../selinux/fileLabel.ts";
import type { CsiLayout, CsiTokenWish } from "./csiVolumeLayout.ts";

type Texts = Readonly<Record<string, string>>;

/** Values that are read for each request. */
export interface CsiInputs {
  /** Metadata of the attachment. */
  readonly publishContext: Texts;
  readonly secrets: Texts;
}

function accessModeOf(mode: string, hasManyWriters: boolean): VolumeCapability["accessMode"] {
  switch (mode) {
    case "ReadWriteOnce":
      return { mode: hasManyWriters ? Mode.SINGLE_NODE_MULTI_WRITER : Mode.SINGLE_NODE_WRITER };
    case "ReadWriteOncePod":
      return { mode: hasManyWriters ? Mode.SINGLE_NODE_SINGLE_WRITER : Mode.SINGLE_NODE_WRITER };
    case "ReadOnlyMany":
      return { mode: Mode.MULTI_NODE_READER_ONLY };
    case "ReadWriteMany":
      return { mode: Mode.MULTI_NODE_MULTI_WRITER };
    default:
      return { mode: Mode.UNKNOWN };
  }
}

function capabilityOf(layout: CsiLayout, { capabilities }: CsiDriverFacts): VolumeCapability {
  const { block, fsType, mountOptions, fsGroup, label } = layout;
  const accessMode = accessModeOf(layout.accessMode, capabilities.has("SINGLE_NODE_MULTI_WRITER"));
  if (block !== undefined) return { block: {}, mount: undefined, accessMode };
  const isDelegated = fsGroup !== undefined && capabilities.has("VOLUME_MOUNT_GROUP");
  const volumeMountGroup = isDelegated ? String(fsGroup) : "";
  const mountFlags = [...mountOptions, ...(label ? [contextOption(label)] : [])];
  return { block: undefined, mount: { fsType, mountFlags, volumeMountGroup }, accessMode };
}

/** Returns the path at which the driver stages the volume. */
export const stagingPath = ({ block, stageDir }: CsiLayout & { readonly stageDir: string }): string =>
  block?.staging ?? globalMount(stageDir);

/** Returns the request that stages a volume for all pods of the node. */
export const stageRequest = (
  layout: CsiLayout & { readonly stageDir: string },
  facts: CsiDriverFacts,
  { publishContext, secrets }: CsiInputs,
): NodeStageVolumeRequest => ({
  volumeId: layout.handle,
  publishContext,
  stagingTargetPath: stagingPath(layout),
  volumeCapability: capabilityOf(layout, facts),
  secrets,
  volumeContext: layout.attributes,
});

/** Returns the request that publishes a volume for a pod. `tokens`: as `tokenText` has them; undefined: none. */
export function publishRequest(
  { layout, isReadOnly, pod }: { readonly layout: CsiLayout; readonly isReadOnly: boolean; readonly pod: Pod },
  facts: CsiDriverFacts,
  { publishContext, secrets }: CsiInputs,
  tokens: string | undefined,
): NodePublishVolumeRequest {
  const issued: Texts = tokens === undefined ? {} : { "csi.storage.k8s.io/serviceAccount.tokens": tokens };
  const { stageDir, hasSecretTokens, wantsPodInfo } = layout;
  // Upstream names the staging path of a block volume to all drivers.
  const isStaged = layout.block !== undefined || facts.capabilities.has("STAGE_UNSTAGE_VOLUME");
  return {
    volumeId: layout.handle,
    publishContext,
    stagingTargetPath: stageDir !== undefined && isStaged ? stagingPath({ ...layout, stageDir }) : "",
    targetPath: layout.target,
    volumeCapability: capabilityOf(layout, facts),
    readonly: isReadOnly,
    secrets: { ...secrets, ...(hasSecretTokens ? issued : {}) },
    volumeContext: {
      ...layout.attributes,
      ...(wantsPodInfo ? podInfo(pod, layout) : {}),
      ...(hasSecretTokens ? {} : issued),
    },
  };
}

/** Returns the request that expands a published volume. */
export const expandRequest = (
  layout: CsiLayout,
  facts: CsiDriverFacts,
  { size, secrets }: { readonly size: bigint; readonly secrets: Texts },
): NodeExpandVolumeRequest => ({
  volumeId: layout.handle,
  volumePath: layout.target,
  capacityRange: { requiredBytes: size, limitBytes: 0n },
  stagingTargetPath: layout.stageDir === undefined ? "" : stagingPath({ ...layout, stageDir: layout.stageDir }),
  // Drivers get neither group nor label here, as upstream.
  volumeCapability: capabilityOf({ ...layout, fsGroup: undefined, label: NO_LABEL }, facts),
  secrets,
});

const podInfo = ({ metadata, spec }: Pod, { mode }: CsiLayout): Texts => ({
  "csi.storage.k8s.io/pod.name": metadata.name,
  "csi.storage.k8s.io/pod.namespace": metadata.namespace,
  "csi.storage.k8s.io/pod.uid": metadata.uid,
  "csi.storage.k8s.io/serviceAccount.name": spec.serviceAccountName ?? "",
  "csi.storage.k8s.io/ephemeral": String(mode === "Ephemeral"),
});

/** The API's lifetime of a token that names none. */
const DEFAULT_TOKEN_SECONDS = 3600;

/** Returns the wish of a token for the pod. */
export const csiTokenWish = ({ metadata, spec }: Pod, { audience, expirationSeconds }: CsiTokenWish): TokenWish => ({
  namespace: metadata.namespace,
  serviceAccount: spec.serviceAccountName ?? "",
  audiences: audience === "" ? [] : [audience],
  expirationSeconds: expirationSeconds ?? DEFAULT_TOKEN_SECONDS,
  pod: { name: metadata.name, uid: metadata.uid },
});

/** Returns the tokens by audience, as drivers read them. */
export const tokenText = (issued: readonly (readonly [audience: string, token: ServiceAccountToken])[]): string =>
  goJson(
    Object.fromEntries(
      [...issued]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([audience, { token, expiresAt }]) => [
          audience,
          { token, expirationTimestamp: formatInstant(expiresAt) },
        ]),
    ),
  );

/** Cancelled, DeadlineExceeded, ResourceExhausted, Aborted, Unavailable: the driver may still work. */
const UNFINISHED: ReadonlySet<unknown> = new Set([1, 4, 8, 10, 14]);

/** Returns whether a failed call has changed nothing, so that its traces can be removed. Upstream: isFinalError. */
export function isFinal(thrown: unknown): boolean {
  const status = grpcStatusOf(thrown);
  return status !== undefined && !UNFINISHED.has(status);
}

/** Returns the gRPC status of a driver's answer. */
export function grpcStatusOf(thrown: unknown): unknown {
  const { cause } = toKubeletError(thrown);
  return typeof cause === "object" && cause !== null && "status" in cause ? cause.status : undefined;
}
