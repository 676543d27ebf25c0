/** Registration of node plugins (`pluginregistration.Registration`): the one import path of its generated code. */
export * from "./proto/plugins/registration.ts";
