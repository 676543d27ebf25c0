/**
 * Dynamic Resource Allocation between kubelet and drivers: the one import path of its generated messages and service
 * definitions. Both versions of the service have the same messages.
 */
export * from "./proto/dra/health/health.ts";
export * from "./proto/dra/v1/dra.ts";
export { DRAPluginDefinition as DRAPluginV1beta1Definition } from "./proto/dra/v1beta1/dra.ts";
