/** Container Storage Interface: the one import path of its generated messages and service definitions. */
export * from "./proto/csi/csi.ts";
