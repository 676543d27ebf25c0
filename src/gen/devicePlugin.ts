/** Device plugin API v1beta1: the one import path of its generated code. */
export * from "./proto/devices/device_plugin.ts";
