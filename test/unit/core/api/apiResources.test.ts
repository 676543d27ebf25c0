import { expect, it } from "vitest";
import { API_RESOURCES, apiVersionOf } from "../../../../src/core/api/apiResources.ts";

/** The resources as `kubectl api-resources` of 1.36 lists them: name, API version, namespaced, kind. */
const UPSTREAM = `
certificatesigningrequests certificates.k8s.io/v1 false CertificateSigningRequest
clustertrustbundles certificates.k8s.io/v1beta1 false ClusterTrustBundle
configmaps v1 true ConfigMap
csidrivers storage.k8s.io/v1 false CSIDriver
csinodes storage.k8s.io/v1 false CSINode
events v1 true Event
leases coordination.k8s.io/v1 true Lease
namespaces v1 false Namespace
nodes v1 false Node
persistentvolumeclaims v1 true PersistentVolumeClaim
persistentvolumes v1 false PersistentVolume
podcertificaterequests certificates.k8s.io/v1beta1 true PodCertificateRequest
pods v1 true Pod
resourceclaims resource.k8s.io/v1 true ResourceClaim
resourceslices resource.k8s.io/v1 false ResourceSlice
runtimeclasses node.k8s.io/v1 false RuntimeClass
secrets v1 true Secret
serviceaccounts v1 true ServiceAccount
services v1 true Service
subjectaccessreviews authorization.k8s.io/v1 false SubjectAccessReview
tokenreviews authentication.k8s.io/v1 false TokenReview
volumeattachments storage.k8s.io/v1 false VolumeAttachment
`
  .trim()
  .split("\n");

it("has upstream's version, scope and kind of each resource", () => {
  const rows = Object.entries(API_RESOURCES).map(
    ([name, info]) => `${name} ${apiVersionOf(info)} ${info.namespaced} ${info.kind}`,
  );
  expect(rows).toEqual(UPSTREAM);
});
