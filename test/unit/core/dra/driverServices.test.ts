/** The version of the driver API that is used. */
import { expect, it } from "vitest";
import { draServiceOf } from "../../../../src/core/dra/driverServices.ts";

it.each<[services: readonly string[], expected: string]>([
  [["v1.DRAPlugin", "v1beta1.DRAPlugin"], "v1.DRAPlugin"],
  [["v1beta1.DRAPlugin", "v1.DRAPlugin"], "v1beta1.DRAPlugin"],
  [["v9.DRAPlugin", "v1alpha1.DRAResourceHealth", "v1beta1.DRAPlugin"], "v1beta1.DRAPlugin"],
  [
    [],
    "invalid supported gRPC versions of DRA driver plugin gpu at endpoint /s: empty list of supported gRPC services (aka supported versions)",
  ],
  [
    ["1.0.0", "2"],
    'invalid supported gRPC versions of DRA driver plugin gpu at endpoint /s: none of services supported by the plugin (["1.0.0" "2"]) are supported by the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])',
  ],
])("%j", (services, expected) => {
  const service = draServiceOf({ name: "gpu", endpoint: "/s", services });
  expect(service.ok ? service.value : service.error.message).toBe(expected);
});
