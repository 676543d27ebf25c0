/** The API resources a kubelet reads or writes: their paths and object types. */
import type {
  AuthenticationV1TokenRequest,
  CoreV1Event,
  ResourceV1ResourceClaim,
  V1Binding,
  V1CSIDriver,
  V1CSINode,
  V1CertificateSigningRequest,
  V1ConfigMap,
  V1Eviction,
  V1Lease,
  V1Namespace,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1ResourceSlice,
  V1RuntimeClass,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1SubjectAccessReview,
  V1TokenReview,
  V1VolumeAttachment,
  V1beta1ClusterTrustBundle,
  V1beta1PodCertificateRequest,
} from "@kubernetes/client-node";
import type { Node, Wire } from "../api.ts";

/** Object types by the plural name of their resource. */
export interface ApiObjects {
  readonly certificatesigningrequests: Wire<V1CertificateSigningRequest>;
  readonly clustertrustbundles: Wire<V1beta1ClusterTrustBundle>;
  readonly configmaps: Wire<V1ConfigMap>;
  readonly csidrivers: Wire<V1CSIDriver>;
  readonly csinodes: Wire<V1CSINode>;
  readonly events: Wire<CoreV1Event>;
  readonly leases: Wire<V1Lease>;
  readonly namespaces: Wire<V1Namespace>;
  readonly nodes: Node;
  readonly persistentvolumeclaims: Wire<V1PersistentVolumeClaim>;
  readonly persistentvolumes: Wire<V1PersistentVolume>;
  readonly podcertificaterequests: Wire<V1beta1PodCertificateRequest>;
  readonly pods: Wire<V1Pod>;
  readonly resourceclaims: Wire<ResourceV1ResourceClaim>;
  readonly resourceslices: Wire<V1ResourceSlice>;
  readonly runtimeclasses: Wire<V1RuntimeClass>;
  readonly secrets: Wire<V1Secret>;
  readonly serviceaccounts: Wire<V1ServiceAccount>;
  readonly services: Wire<V1Service>;
  readonly subjectaccessreviews: Wire<V1SubjectAccessReview>;
  readonly tokenreviews: Wire<V1TokenReview>;
  readonly volumeattachments: Wire<V1VolumeAttachment>;
}

/** Plural name of a resource, as in its URL. */
export type ApiResourceName = keyof ApiObjects;

/** Object types, sent and returned, of subresources that have their own type. */
export interface ApiSubresources {
  readonly "pods/binding": Wire<V1Binding>;
  readonly "pods/eviction": Wire<V1Eviction>;
  readonly "serviceaccounts/token": Wire<AuthenticationV1TokenRequest>;
}

/** Path of a resource. */
export interface ApiResourceInfo {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const resource = (group: string, kind: string, namespaced: boolean, version = "v1"): ApiResourceInfo => ({
  group,
  version,
  kind,
  namespaced,
});

/** Every resource of `ApiObjects`. */
export const API_RESOURCES: Readonly<Record<ApiResourceName, ApiResourceInfo>> = {
  certificatesigningrequests: resource("certificates.k8s.io", "CertificateSigningRequest", false),
  clustertrustbundles: resource("certificates.k8s.io", "ClusterTrustBundle", false, "v1beta1"),
  configmaps: resource("", "ConfigMap", true),
  csidrivers: resource("storage.k8s.io", "CSIDriver", false),
  csinodes: resource("storage.k8s.io", "CSINode", false),
  events: resource("", "Event", true),
  leases: resource("coordination.k8s.io", "Lease", true),
  namespaces: resource("", "Namespace", false),
  nodes: resource("", "Node", false),
  persistentvolumeclaims: resource("", "PersistentVolumeClaim", true),
  persistentvolumes: resource("", "PersistentVolume", false),
  podcertificaterequests: resource("certificates.k8s.io", "PodCertificateRequest", true, "v1beta1"),
  pods: resource("", "Pod", true),
  resourceclaims: resource("resource.k8s.io", "ResourceClaim", true),
  resourceslices: resource("resource.k8s.io", "ResourceSlice", false),
  runtimeclasses: resource("node.k8s.io", "RuntimeClass", false),
  secrets: resource("", "Secret", true),
  serviceaccounts: resource("", "ServiceAccount", true),
  services: resource("", "Service", true),
  subjectaccessreviews: resource("authorization.k8s.io", "SubjectAccessReview", false),
  tokenreviews: resource("authentication.k8s.io", "TokenReview", false),
  volumeattachments: resource("storage.k8s.io", "VolumeAttachment", false),
};

/** `v1`, or `group/version` outside the core group: what objects carry as `apiVersion`. */
export const apiVersionOf = ({ group, version }: ApiResourceInfo): string =>
  group === "" ? version : `${group}/${version}`;
