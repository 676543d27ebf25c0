/** Pod resources API v1 and v1alpha1: the one import path of their generated code. */
export * from "./proto/podresources/v1.ts";
export {
  ListPodResourcesResponse as ListPodResourcesResponseV1Alpha1,
  PodResourcesListerDefinition as PodResourcesListerV1Alpha1Definition,
} from "./proto/podresources/v1alpha1.ts";
